import { createHash } from "node:crypto";
import { DEMO_PRIMARY, endpointId, warningsOf } from "../support/computeCases";
import { CANARY, expectNoSecrets, PROJECT, thrownBy, type Harness, type Json, type State } from "../support/harness";
import { empty, json, lost, otherShape, type Reply } from "../support/rules/hostile";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { OAUTH_STANDARD } from "../kinds/OAuthProvider";
import {
  computesOf,
  EMAIL,
  ENDPOINT,
  mailOf,
  OAUTH_PROVIDER,
  providerOf,
  recordsOf,
  START,
} from "../support/rules/routes";
import { computeScene, emailScene, oauthScene } from "../support/rules/scenes";
import { up, wordsOf, type Outcome } from "../support/rules/steps";

/** What continues after a failed change (docs/design/rules.md, 1). */

const keptBy = (outcome: Outcome): State => {
  if (outcome.ended === "well" || outcome.kept === undefined) throw new Error("nothing was kept");
  return outcome.kept;
};

/** The bodies of the PATCH requests since the last call. */
const patches = async (given: Harness): Promise<unknown[]> =>
  (await given.requests("PATCH")).map(({ body }) => body["endpoint"]);

const byHand = (given: Harness, state: State, set: Json): Promise<void> =>
  given.edit({ kind: "endpoint", id: endpointId(state), set });
/** A stored secret as the emulator shows it. */
const shown = (secret: string): string => `sha256:${createHash("sha256").update(secret).digest("hex")}`;
const RESIZED = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 };

describe("a failed resize whose followers were cancelled", () => {
  test("is not done while none of its operations has ended well: the compute is active with its old size", async () => {
    const { given } = await computeScene({ variants: { restartToApply: true } });
    const first = await given.create(COMPUTE);
    const program = { ...COMPUTE, size: 4 };
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    const broken = await up(given, first, program);
    expect(wordsOf(broken.outcome)).toMatch(/apply_config failed: no capacity left/);
    const before = await recordsOf(given, "operations");
    expect(before.slice(-3).map(({ status }) => status)).toEqual(["failed", "cancelled", "cancelled"]);
    const again = await up(given, broken.state, program);
    expect(again.outcome).toMatchObject({ ended: "well" });
    // The service begins none for values that it stores already, so it was restarted.
    const since = (await recordsOf(given, "operations")).slice(before.length);
    expect(since.map(({ action, status }) => [action, status])).toEqual([
      ["suspend_compute", "finished"],
      ["start_compute", "finished"],
    ]);
    expect(again.state?.outs).not.toHaveProperty("__unfinished");
  });
});

describe("continuing a failed change", () => {
  const before = { ...COMPUTE, name: "ours" };
  const program = { ...before, scaleToZero: false };
  /** A change of the suspend timeout whose operation failed. */
  const failedChange = async () => {
    const { given, network } = await computeScene();
    const first = await given.create(before);
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "try later" } });
    const { outcome } = await up(given, first, program);
    expect(wordsOf(outcome)).toMatch(/apply_config failed/);
    await given.forgetRequests();
    return { given, network, kept: keptBy(outcome) };
  };

  test.each([
    ["was resized", RESIZED],
    ["was moved", { branch_id: "br-test" }],
    ["was renamed", { name: "theirs" }],
  ])("sends only what that change had sent: a compute that %s by hand meanwhile stays so", async (_how, set) => {
    const { given, kept } = await failedChange();
    await byHand(given, kept, set);
    // With ignoreChanges the engine hands over the old inputs, which are those of the program.
    const { outcome, state } = await up(given, kept, program);
    expect(outcome).toMatchObject({ ended: "well" });
    expect(await computesOf(given)).toMatchObject([{ ...set, suspend_timeout_seconds: -1 }]);
    for (const body of await patches(given)) expect(Object.keys(body as Json)).toEqual(["suspend_timeout_seconds"]);
    expect(state?.outs).not.toHaveProperty("__unfinished");
    expect(state?.outs).not.toHaveProperty("__sent");
  });

  test("sends it again where the service has put the old value back, also after a refresh that found another drift", async () => {
    const { given, kept } = await failedChange();
    await byHand(given, kept, { ...RESIZED, suspend_timeout_seconds: 300 });
    given.restart();
    const { inputs: _inputs, ...refreshed } = (await given.read(kept)) ?? { ...kept, inputs: {} };
    expect(refreshed.outs).toMatchObject({ __unfinished: "update", __sent: ["scaleToZero"], size: 4 });
    // The refresh has put the size that it found into the inputs, and ignoreChanges keeps it there.
    const { outcome } = await up(given, refreshed, { ...program, size: 4 });
    expect(outcome).toMatchObject({ ended: "well" });
    expect(await patches(given)).toEqual([{ suspend_timeout_seconds: -1 }]);
  });

  test("is announced with the names of what is sent", async () => {
    const { given, kept } = await failedChange();
    const said = await warningsOf(given, kept, program, program);
    expect(said).toEqual([
      `the previous update of compute ${endpointId(kept)} ("thing") did not finish. This update resumes it: "scaleToZero" is sent again if the service shows another value; ` +
        "if an operation failed, the compute restarts and drops open connections",
    ]);
  });

  test("of unknown fate, too, sends what it had sent: also the old value, where the program has gone back to it", async () => {
    const { given, network } = await computeScene();
    const first = await given.create({ ...COMPUTE, name: "one" });
    network.on({ method: "PATCH", path: ENDPOINT, answer: { status: 200, text: '{"code":"internal"}' } });
    const { outcome } = await up(given, first, { ...COMPUTE, name: "two" });
    network.calm();
    await given.forgetRequests();
    expect(outcome.ended).toBe("well");
    expect(await computesOf(given)).toMatchObject([{ name: "two" }]);
    await byHand(given, first, RESIZED);
    const unfinished = { ...first, outs: { ...first.outs, __unfinished: "update", __sent: ["name"] } };
    const back = await up(given, unfinished, { ...COMPUTE, name: "one" });
    expect(back.outcome).toMatchObject({ ended: "well" });
    expect(await computesOf(given)).toMatchObject([{ name: "one", ...RESIZED }]);
  });

  test("keeps what it had sent where it fails once more, before anything is sent", async () => {
    const { given, network, kept } = await failedChange();
    await byHand(given, kept, { current_state: "init" });
    network.on({
      method: "POST",
      path: START,
      answer: { status: 404, text: '{"code":"x","message":"no route"}' },
    });
    const again = await up(given, kept, { ...program, __timeouts: { update: 2 } });
    expect(again.outcome.ended).toBe("badly");
    expect(again.state?.outs).toMatchObject({ __unfinished: "update", __sent: ["scaleToZero"] });
  });

  describe("of a state that does not say what was sent", () => {
    const oldState = async () => {
      const { given, kept } = await failedChange();
      // As version 0.1.0 left it.
      const { __sent, ...outs } = kept.outs;
      expect(__sent).toEqual(["scaleToZero"]);
      return { given, old: { ...kept, outs } };
    };

    test("sends what the plan shows", async () => {
      const { given, old } = await oldState();
      const { outcome, state } = await up(given, old, program);
      expect(outcome).toMatchObject({ ended: "well" });
      expect(await computesOf(given)).toMatchObject([{ suspend_timeout_seconds: -1 }]);
      expect(state?.outs).not.toHaveProperty("__unfinished");
    });

    test("does not undo what may be somebody's: it names it, in the plan too, and a refresh shows both values", async () => {
      const { given, old } = await oldState();
      await byHand(given, old, RESIZED);
      const refusal =
        `it is not known whether the previous update of compute ${endpointId(old)} had sent "size", or somebody has changed it since: ` +
        "the state does not say what that update sent. Run pulumi up --refresh: its plan shows both values";
      const warned = await warningsOf(given, old, program, program);
      expect(warned[0]).toContain(
        "the state does not say what the failed update sent, so this one fails if the service differs from the program in anything that the plan does not show; if",
      );
      given.restart();
      await given.plan(program, program);
      given.log.splice(0);
      await given.diff(old, program);
      expect(given.log.map(({ message }) => message)).toContain(`pulumi up will fail here: ${refusal}`);
      await given.forgetRequests();
      const { outcome, state } = await up(given, old, program);
      expect(wordsOf(outcome)).toContain(refusal);
      expect(await given.mutations()).toEqual([]);
      expect(await computesOf(given)).toMatchObject([RESIZED]);
      expect(state).toEqual(old);
      const refreshed = (await given.read(old)) ?? old;
      const { outcome: after } = await up(given, { id: old.id, outs: refreshed.outs }, program);
      expect(after).toMatchObject({ ended: "well" });
      expect(await computesOf(given)).toMatchObject([{ autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 }]);
    });

    test("goes on if ignoreChanges leaves what differs to the service, or the service had added it", async () => {
      const { given, old } = await oldState();
      await byHand(given, old, { ...RESIZED, settings: { pg_settings: { max_worker_processes: "8" } } });
      const inputs = { ...program, settings: { pgSettings: {} } };
      const { __args: names } = old.outs;
      const outs = {
        ...old.outs,
        settings: inputs.settings,
        __args: [...(names as string[]), "settings"],
        __added: ["settings.pgSettings.max_worker_processes"],
      };
      const next = async (ignored: readonly string[]): Promise<State> => {
        given.restart();
        const news = { ...inputs, __ignoreChanges: ignored };
        expect(await given.check(news, inputs)).toEqual([]);
        await given.diff({ ...old, outs }, news);
        return given.update({ ...old, outs }, news);
      };
      expect((await thrownBy(next([]))).message).toMatch(
        /whether the previous update of compute \S+ had sent "size", or/,
      );
      const state = await next(["size"]);
      expect(await computesOf(given)).toMatchObject([{ ...RESIZED, suspend_timeout_seconds: -1 }]);
      expect(state.outs).not.toHaveProperty("__unfinished");
    });
  });

  test("of an adoption that was interrupted before it had changed anything brings the compute to all that is declared", async () => {
    const { given } = await computeScene();
    const id = DEMO_PRIMARY;
    await given.edit({ kind: "endpoint", id, set: { current_state: "init" } });
    await given.fault({ operation: { action: "start_compute", status: "failed", times: 1 } });
    await given.fault({ method: "PATCH", path: "/projects/{project_id}/endpoints/{endpoint_id}", status: 400 });
    const adopted = { ...COMPUTE, branchId: "br-main", adopt: true, size: 4, name: "reports" };
    const { outcome } = await up(given, undefined, adopted);
    expect(keptBy(outcome).id).toBe(`${PROJECT}/${id}`);
    const again = await up(given, keptBy(outcome), adopted);
    expect(again.outcome).toMatchObject({ ended: "well" });
    expect(await recordsOf(given, "endpoints")).toMatchObject([{ id, name: "reports", ...RESIZED }]);
  });
});

describe("continuing a failed change of credentials", () => {
  const before = { ...OAUTH_STANDARD, clientId: "old-id" };
  const program = { ...OAUTH_STANDARD, clientId: "new-id" };
  const bodies = async (given: Harness): Promise<unknown[]> => (await given.requests("PATCH")).map(({ body }) => body);
  /** A change of the client id that was not carried out. */
  const failedChange = async () => {
    const { given, network } = await oauthScene();
    const first = await given.create(before);
    network.on({
      method: "PATCH",
      path: OAUTH_PROVIDER,
      executed: false,
      answer: { status: 200, text: '{"code":"internal"}' },
    });
    const { outcome } = await up(given, first, program);
    network.calm();
    await given.edit({ kind: "oauth_provider", id: "microsoft", set: { client_secret: "set by hand" } });
    await given.forgetRequests();
    return { given, kept: keptBy(outcome) };
  };

  test("is announced with the names of what is sent", async () => {
    const { given, kept } = await failedChange();
    const said = async (state: State): Promise<string[]> => {
      given.log.splice(0);
      await given.check(program, program);
      await given.diff(state, program);
      return given.log.map(({ message }) => message);
    };
    const begin = `the previous update of OAuthProvider ${kept.id} ("thing") did not finish. This update resumes it: `;
    expect(await said(kept)).toEqual([`${begin}"clientId" is sent again`]);
    const { __sent: _sent, ...outs } = kept.outs;
    expect(await said({ ...kept, outs })).toEqual([
      `${begin}"clientId" and "clientSecret" are sent again, because the state does not say which of them it had sent`,
    ]);
  });

  test("sends the credential alone that it had sent: a secret that was set by hand meanwhile stays", async () => {
    const { given, kept } = await failedChange();
    expect(kept.outs).toMatchObject({ __unfinished: "update", __sent: ["clientId"] });
    const { outcome, state } = await up(given, kept, program);
    expect(outcome).toMatchObject({ ended: "well" });
    expect(await bodies(given)).toEqual([{ client_id: "new-id" }]);
    expect(await providerOf(given)).toMatchObject({ client_id: "new-id", client_secret: shown("set by hand") });
    expect(state?.outs).not.toHaveProperty("__unfinished");
  });

  test("sends both where the state does not say which one it had sent", async () => {
    const { given, kept } = await failedChange();
    const { __sent, ...outs } = kept.outs;
    expect(__sent).toEqual(["clientId"]);
    expect((await up(given, { ...kept, outs }, program)).outcome).toMatchObject({ ended: "well" });
    expect(await bodies(given)).toEqual([{ client_id: "new-id", client_secret: shown(OAUTH_STANDARD.clientSecret) }]);
  });
});

describe("a change of a secret of unknown fate", () => {
  const SECRET = { ...OAUTH_STANDARD, clientSecret: `${CANARY}-new` };

  test("stays unfinished after a refresh: the program may go back to the old secret", async () => {
    const { given, network } = await oauthScene();
    const first = await given.create(OAUTH_STANDARD);
    network.on({ method: "PATCH", path: OAUTH_PROVIDER, answer: otherShape });
    const broken = await up(given, first, SECRET);
    expect(wordsOf(broken.outcome)).not.toBe("");
    expect((await providerOf(given))?.["client_secret"]).toBe(shown(SECRET.clientSecret));
    network.calm();
    given.restart();
    const refreshed = await given.read(broken.state as State);
    const back = await up(given, refreshed, OAUTH_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await providerOf(given))?.["client_secret"]).toBe(shown(OAUTH_STANDARD.clientSecret));
  });

  test("which is of a mail server stays unfinished after a refresh as well", async () => {
    const { given, network } = await emailScene();
    const first = await given.create(EMAIL_STANDARD);
    network.on({ method: "PATCH", path: EMAIL, answer: otherShape });
    const broken = await up(given, first, { ...EMAIL_STANDARD, password: `${CANARY}-new` });
    expect(wordsOf(broken.outcome)).not.toBe("");
    // The service replaces it as a whole.
    expect(broken.state?.outs["__sent"]).toEqual(
      Object.keys(EMAIL_STANDARD)
        .filter((name) => name !== "projectId" && !name.startsWith("__"))
        .toSorted(),
    );
    network.calm();
    given.restart();
    await given.check(EMAIL_STANDARD, EMAIL_STANDARD);
    given.log.splice(0);
    await given.diff(broken.state as State, EMAIL_STANDARD);
    expect(given.log.map(({ message }) => message)).toContain(
      `the previous update of EmailServer ${PROJECT} ("thing") did not finish. This update resumes it: all of its arguments are sent again`,
    );
    const refreshed = await given.read(broken.state as State);
    const back = await up(given, refreshed, EMAIL_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await mailOf(given))["password"]).toBe(shown(EMAIL_STANDARD.password));
  });

  test("of a mail server, accepted without a body and with an effect that could not be read, is unfinished", async () => {
    const { given, network } = await emailScene();
    const first = await given.create(EMAIL_STANDARD);
    const unreadable = json({ code: "", message: "no" }, 403);
    const fromNowOn = (): Reply => {
      network.on({ method: "GET", path: EMAIL, executed: false, answer: unreadable });
      return empty();
    };
    network.on({ method: "PATCH", path: EMAIL, answer: fromNowOn });
    const broken = await up(given, first, { ...EMAIL_STANDARD, password: `${CANARY}-new` });
    expect(wordsOf(broken.outcome)).toMatch(/reading the result failed/);
    expect(broken.state?.outs).toMatchObject({ password: EMAIL_STANDARD.password, __unfinished: "update" });
    network.calm();
    const back = await up(given, broken.state, EMAIL_STANDARD);
    expect(back.state?.outs).not.toHaveProperty("__unfinished");
    expect((await mailOf(given))["password"]).toBe(shown(EMAIL_STANDARD.password));
    expectNoSecrets(given);
  });

  test("that took effect at the first attempt, and is refused at the second one, is unfinished", async () => {
    const { given, network } = await oauthScene();
    const first = await given.create(OAUTH_STANDARD);
    network.on({ method: "PATCH", path: OAUTH_PROVIDER, nth: 1, answer: lost });
    network.on({
      method: "PATCH",
      path: OAUTH_PROVIDER,
      executed: false,
      answer: json({ code: "", message: "no" }, 400),
    });
    const broken = await up(given, first, SECRET);
    expect(wordsOf(broken.outcome)).toMatch(/400/);
    expect((await providerOf(given))?.["client_secret"]).toBe(shown(SECRET.clientSecret));
    network.calm();
    const back = await up(given, broken.state, OAUTH_STANDARD);
    expect(back.outcome.ended).toBe("well");
    expect((await providerOf(given))?.["client_secret"]).toBe(shown(OAUTH_STANDARD.clientSecret));
  });
});
