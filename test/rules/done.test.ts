import type { Properties } from "../../src/contract/hiddenKeys";
import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { ENDPOINTS as DEMO_ENDPOINTS, endpointId } from "../support/computeCases";
import { expectNoSecrets, PROJECT, type Harness, type Json, type State } from "../support/harness";
import {
  altered,
  empty,
  emptyPage,
  errorInside,
  json,
  otherShape,
  page,
  scene,
  type Reply,
  type Rule,
  type Scene,
} from "../support/rules/hostile";
import { INTEGRATED } from "../kinds/AuthIntegration";
import { COMPUTE } from "../kinds/ComputeEndpoint";
import { EMAIL_STANDARD } from "../kinds/EmailServer";
import { OAUTH_SHARED, OAUTH_STANDARD } from "../kinds/OAuthProvider";
import {
  computesOf,
  CREATE_INTEGRATION,
  EMAIL,
  ENDPOINT,
  ENDPOINTS,
  INTEGRATIONS,
  mailOf,
  OAUTH,
  OAUTH_PROVIDER,
  providerOf,
  recordsOf,
} from "../support/rules/routes";
import { computeScene, emailScene, oauthScene } from "../support/rules/scenes";
import { EACH_CASE } from "../kinds";
import type { Mutation } from "../kinds/KindCase";
import { sceneOf } from "../kinds/started";
import { outcomeOf, step, up, wordsOf, type Outcome } from "../support/rules/steps";

type Way = readonly [name: string, kind: "empty" | "odd", answer: Reply];

const WAYS: readonly Way[] = [
  ["no body", "empty", empty()],
  ["no body of the type text/html", "empty", emptyPage()],
  ["an error in a body with 200", "odd", errorInside],
  ["a body of another shape", "odd", otherShape],
  ["a web page", "odd", page(200)],
];

/** The state before the change, and the process that makes the change. */
async function prepared({ from, prepare }: Mutation, { given }: Scene): Promise<State | undefined> {
  const state = prepare === undefined ? from && (await given.create(from)) : await prepare(given);
  given.restart();
  await given.forgetRequests();
  return state;
}

const changedBy = ({ from = {}, to = {} }: Mutation): string[] =>
  Object.keys(to).filter((name) => JSON.stringify(Reflect.get(to, name)) !== JSON.stringify(Reflect.get(from, name)));

/** A change that did not happen is not in the state, and the next plan retries it. */
function expectNotRecorded(mutation: Mutation, outcome: Outcome): void {
  const words = wordsOf(outcome);
  expect(words).not.toBe("");
  if (outcome.ended === "well" || outcome.kept === undefined) return;
  expect(mutation.from ?? mutation.prepare ?? mutation.configures).toBeDefined();
  expect(outcome.kept.outs).toHaveProperty("__unfinished");
  for (const name of mutation.from === undefined ? [] : changedBy(mutation)) {
    expect(outcome.kept.outs[name]).not.toEqual(Reflect.get(mutation.to ?? {}, name));
  }
}

function expectRecorded({ to }: Mutation, outcome: Outcome): void {
  expect(outcome).toMatchObject({ ended: "well" });
  if (outcome.ended === "badly" || to === undefined) return;
  expect(outcome.state?.outs).toMatchObject(to);
  expect(outcome.state?.outs).not.toHaveProperty("__unfinished");
}

const MUTATIONS = EACH_CASE.flatMap((kindCase) =>
  kindCase.mutations.map((mutation) => [mutation.title, kindCase, mutation] as const),
);

describe.each(MUTATIONS)("%s", (_title, kindCase, mutation) => {
  const { method, path, to, happened } = mutation;
  const changing = async (rule: Omit<Rule, "method" | "path">) => {
    const opened = await sceneOf(kindCase);
    const state = await prepared(mutation, opened);
    opened.network.on({ method, path, ...rule });
    const outcome = await outcomeOf(() => step(opened.given, state, to));
    expectNoSecrets(opened.given);
    return { ...opened, outcome, before: state };
  };

  test("answered with its own body is done", async () => {
    const { given, outcome } = await changing({});
    expectRecorded(mutation, outcome);
    expect(await happened(given)).toBe(true);
  });

  test.each(WAYS)("that took effect and is answered with %s", async (_name, kind, answer) => {
    const { given, network, outcome, before } = await changing({ answer });
    expect(await happened(given)).toBe(true);
    const tellsNothing = mutation.onlyAnswered ?? (kind === "odd" ? mutation.unlisted : undefined) ?? false;
    if (tellsNothing) {
      expect(wordsOf(outcome)).not.toBe("");
      return;
    }
    if (kind === "odd" && mutation.secret === true) {
      // Sending it once more, with a good answer, is as good.
      const sentAgain = method === "POST" && network.arrived.some((request) => request.method === "PATCH");
      if (outcome.ended === "badly") expectNotRecorded(mutation, outcome);
      else expect(sentAgain).toBe(true);
      network.calm();
      if (before === undefined || outcome.ended === "well") return;
      const again = await up(given, outcome.kept ?? before, to);
      expectRecorded(mutation, again.outcome);
      return;
    }
    expectRecorded(mutation, outcome);
  });

  test.each(WAYS)("that took no effect and is answered with %s", async (_name, kind, answer) => {
    const { given, network, outcome, before } = await changing({ executed: false, answer });
    expect(await happened(given)).toBe(false);
    // The documented answer, and nothing that says otherwise.
    if (kind === "empty" && mutation.unlisted === true) return;
    expectNotRecorded(mutation, outcome);
    if (kind === "empty" && mutation.argument !== undefined) expect(wordsOf(outcome)).toMatch(mutation.argument);
    network.calm();
    const kept = outcome.ended === "badly" ? outcome.kept : undefined;
    const again = await up(given, kept ?? before, to);
    expectRecorded(mutation, again.outcome);
    expect(await happened(given)).toBe(true);
  });
});

/** The response of a compute route with another size. */
const anotherSize = altered((body) => ({
  ...body,
  // The routes of a compute answer its record under this key.
  endpoint: { ...(body["endpoint"] as Json), autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 },
}));
const sentAnotherSize = ({ endpoint }: Json): Json => ({
  endpoint: { ...(endpoint as Json), autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 },
});
const sizesOf = async (given: Harness): Promise<unknown[]> =>
  (await computesOf(given)).map((found) => found["autoscaling_limit_max_cu"]);

/** What the state may keep of a change that the service did not make as requested. */
function expectAskedAgain(outcome: Outcome, name: string, shown: unknown): void {
  expect(wordsOf(outcome)).toContain(name);
  if (outcome.ended === "well" || outcome.kept === undefined) return;
  expect(outcome.kept.outs).toMatchObject({ [name]: shown, __unfinished: expect.anything() });
}

/** Only for the first requests. */
function oftenest(times: number): () => boolean {
  let count = 0;
  return () => (count += 1) <= times;
}

describe("an answer of the right shape with another value than was sent", () => {
  test("to a creation of a compute is looked at again, and done where the list shows what was sent", async () => {
    const { given, network } = await computeScene();
    network.on({ method: "POST", path: ENDPOINTS, answer: anotherSize });
    const { outs } = await given.create(COMPUTE);
    expect(outs["size"]).toBe(2);
    expect(await sizesOf(given)).toEqual([2]);
  });

  test("to a creation of a compute that has the other value is a failure which names the argument, and asks again", async () => {
    const { given, network } = await computeScene();
    network.on({ method: "POST", path: ENDPOINTS, rewrite: sentAnotherSize });
    const outcome = await outcomeOf(() => given.create(COMPUTE));
    expectAskedAgain(outcome, "size", 8);
    const [made] = await computesOf(given);
    expect(outcome).toMatchObject({ kept: { id: `${PROJECT}/${String(made?.["id"])}` } });
    network.calm();
    const { outcome: again, state } = await up(given, outcome.ended === "badly" ? outcome.kept : undefined, COMPUTE);
    expect(again.ended).toBe("well");
    expect(state?.outs["size"]).toBe(2);
    expect(await sizesOf(given)).toEqual([2]);
  });

  const resized = { ...COMPUTE, size: 4 };

  test("to a resize is looked at again, and done where the list shows what was sent", async () => {
    const { given, network } = await computeScene();
    const state = await given.create(COMPUTE);
    network.on({ method: "PATCH", path: ENDPOINT, answer: anotherSize });
    expect((await given.update(state, resized)).outs["size"]).toBe(4);
    expect(await sizesOf(given)).toEqual([4]);
  });

  test.each<readonly [string, Rule, number]>([
    ["was made with another value", { rewrite: sentAnotherSize }, 8],
    // The same as the record: the right form, and unchanged.
    ["was not made", { rewrite: (body) => ({ ...body, endpoint: { passwordless_access: true } }) }, 2],
  ])("to a resize that %s is a failure which names the argument, and asks again", async (_how, rule, shown) => {
    const { given, network } = await computeScene();
    const state = await given.create(COMPUTE);
    network.on({ method: "PATCH", path: ENDPOINT, ...rule });
    const outcome = await outcomeOf(() => given.update(state, resized));
    expectAskedAgain(outcome, "size", shown);
    expect(await sizesOf(given)).toEqual([shown]);
    network.calm();
    const again = await up(given, outcome.ended === "badly" ? (outcome.kept ?? state) : state, resized);
    expect(again.outcome.ended).toBe("well");
    expect(await sizesOf(given)).toEqual([4]);
  });

  test.each<readonly [string, Properties | undefined, string, string]>([
    ["an OAuth provider that is added", undefined, "POST", OAUTH],
    ["an OAuth provider that is given credentials", OAUTH_SHARED, "PATCH", OAUTH_PROVIDER],
  ])("to %s leaves its credentials unrecorded", async (_which, from, method, path) => {
    const { given, network } = await oauthScene();
    const state = from && (await given.create(from));
    network.on({ method, path, rewrite: (body) => ({ ...body, client_id: "another-id" }) });
    const outcome = await outcomeOf(() => step(given, state, OAUTH_STANDARD));
    expect(wordsOf(outcome)).toMatch(/clientId|client_id/);
    if (outcome.ended === "badly" && outcome.kept !== undefined) {
      expect(outcome.kept.outs).toHaveProperty("__unfinished");
      expect(outcome.kept.outs["clientId"]).not.toBe("own-id");
    }
    expectNoSecrets(given);
    if (state === undefined) return;
    network.calm();
    const again = await up(given, outcome.ended === "badly" ? (outcome.kept ?? state) : state, OAUTH_STANDARD);
    expect(again.outcome.ended).toBe("well");
    expect((await providerOf(given))?.["client_id"]).toBe("own-id");
  });

  test.each<readonly [string, Properties | undefined, string, string]>([
    ["an OAuth provider that is given credentials", OAUTH_SHARED, "PATCH", OAUTH_PROVIDER],
    [
      "an OAuth provider that gets other credentials",
      { ...OAUTH_STANDARD, clientId: "old-id" },
      "PATCH",
      OAUTH_PROVIDER,
    ],
  ])("to %s is looked at again, and done where the list shows what was sent", async (_which, from, method, path) => {
    const { given, network } = await oauthScene();
    const state = from && (await given.create(from));
    const before = from?.["clientId"] === undefined ? { type: "shared" } : { type: "standard", client_id: "old-id" };
    // The answer and the first lists are of before the change.
    const old = { ...(await providerOf(given)), id: OAUTH_STANDARD.providerId, ...before };
    const listed = altered(({ providers }) => ({
      providers: (providers as Properties[]).map((one) => ({ ...one, client_id: "own-id" })),
    }));
    network.on({
      ...{ method, path, answer: json(old) },
      after: () => {
        network.on({ method: "GET", path: OAUTH, when: oftenest(2), answer: json({ providers: [old] }) });
        // Not every service lists client ids. Only one that does can correct a response with another one.
        if ("client_id" in before) network.on({ method: "GET", path: OAUTH, answer: listed });
      },
    });
    const done = await step(given, state, OAUTH_STANDARD);
    expect(done?.outs).toMatchObject({ clientId: "own-id", type: "standard" });
    expect(done?.outs).not.toHaveProperty("__unfinished");
  });

  test("to an OAuth provider that is added, of another provider, is a failure that records nothing", async () => {
    const { given, network } = await oauthScene();
    const other = json({ id: "gitlab", type: "standard", client_id: "own-id" });
    network.on({ method: "POST", path: OAUTH, executed: false, answer: other });
    const outcome = await outcomeOf(() => given.create(OAUTH_STANDARD));
    expect(wordsOf(outcome)).toMatch(/shows another/);
    expect(outcome).toMatchObject({ kept: undefined });
    network.calm();
    expect((await up(given, undefined, OAUTH_STANDARD)).outcome.ended).toBe("well");
  });

  test("to a mail server is looked at again, and done where the service shows what was sent", async () => {
    const { given, network } = await emailScene();
    const state = await given.create(EMAIL_STANDARD);
    const old = json(await mailOf(given));
    network.on({
      ...{ method: "PATCH", path: EMAIL, answer: old },
      after: () => network.on({ method: "GET", path: EMAIL, when: oftenest(2), answer: old }),
    });
    const moved = { ...EMAIL_STANDARD, host: "smtp.other.example.com" };
    const { outs } = await given.update(state, moved);
    expect(outs).toMatchObject({ host: "smtp.other.example.com" });
    expect(outs).not.toHaveProperty("__unfinished");
  });

  test("to the list that a creation of an integration reads is looked at again, and done where that shows what was sent", async () => {
    const { given, network } = await scene(authIntegration);
    network.on({
      ...{ method: "POST", path: CREATE_INTEGRATION },
      after: () =>
        network.on({
          ...{ method: "GET", path: INTEGRATIONS, when: oftenest(2) },
          answer: altered(({ data }) => ({ data: (data as Properties[]).map((one) => ({ ...one, db_name: "soon" })) })),
        }),
    });
    expect((await given.create(INTEGRATED)).outs).toMatchObject({ databaseName: INTEGRATED["databaseName"] });
  });

  test.each<readonly [string, string]>([
    ["an OAuth provider", "another type"],
    ["an OAuth provider", "another client id"],
    ["an OAuth provider", "another provider"],
    ["a mail server", "another host"],
  ])("to a change of the secret alone of %s is a failure, whatever the list shows: %s", async (what, shown) => {
    const isMail = what === "a mail server";
    const { given, network } = await (isMail ? emailScene() : oauthScene());
    const [from, name] = isMail ? [EMAIL_STANDARD, "password"] : [OAUTH_STANDARD, "clientSecret"];
    const state = await given.create(from);
    const others: Record<string, Json> = {
      "another type": { type: "shared" },
      "another client id": { type: "standard", client_id: "another-id" },
      "another provider": { id: "gitlab", type: "standard", client_id: "own-id" },
    };
    network.on({
      ...{ method: "PATCH", path: isMail ? EMAIL : OAUTH_PROVIDER, executed: false },
      answer: json(
        isMail ? { ...(await mailOf(given)), host: "another.example.com" } : { id: "microsoft", ...others[shown] },
      ),
    });
    const outcome = await outcomeOf(() => given.update(state, { ...from, [name]: "canary-of-another-secret" }));
    expect(wordsOf(outcome)).toMatch(/shows another/);
    expect(outcome).toMatchObject({
      kept: { outs: { [name]: Reflect.get(from, name), __unfinished: expect.anything() } },
    });
  });

  test("to a mail server is a failure which names the argument, and asks again", async () => {
    const { given, network } = await emailScene();
    const state = await given.create(EMAIL_STANDARD);
    const moved = { ...EMAIL_STANDARD, host: "smtp.other.example.com" };
    network.on({ method: "PATCH", path: EMAIL, rewrite: (body) => ({ ...body, host: "smtp.third.example.com" }) });
    const outcome = await outcomeOf(() => given.update(state, moved));
    expectAskedAgain(outcome, "host", "smtp.third.example.com");
    network.calm();
    const again = await up(given, outcome.ended === "badly" ? (outcome.kept ?? state) : state, moved);
    expect(again.outcome.ended).toBe("well");
    expect((await mailOf(given))["host"]).toBe("smtp.other.example.com");
  });
});

/** The compute's operations after the first `count` that succeeded. */
const endedWellSince = async (given: Harness, count: number): Promise<unknown[]> =>
  (await recordsOf(given, "operations"))
    .slice(count)
    .filter(({ status, action }) => status === "finished" && action !== "check_availability");

describe("operations", () => {
  test("a resize whose operation failed is not green before an operation has ended well", async () => {
    const { given } = await computeScene();
    const first = await given.create(COMPUTE);
    const program = { ...COMPUTE, size: 4 };
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    const { outcome, state } = await up(given, first, program);
    expect(wordsOf(outcome)).toMatch(/apply_config/);
    const count = (await recordsOf(given, "operations")).length;
    const again = await up(given, state, program);
    const mended = await endedWellSince(given, count);
    expect(again.outcome.ended).toBe("well");
    expect(mended).not.toEqual([]);
    expect(again.state?.outs).not.toHaveProperty("__unfinished");
  });

  test.each([
    ["an active", true],
    ["an idle", false],
  ])(
    "of long ago that failed do not fail the change of %s compute that is answered without a body",
    async (_a, runs) => {
      const { given, network } = await computeScene();
      const state = await given.create(COMPUTE);
      const at = `${DEMO_ENDPOINTS}/${endpointId(state)}`;
      await given.fault({ operation: { action: "apply_config", status: "failed" } });
      await given.edit({ kind: "operation", create: { endpoint_id: endpointId(state), action: "apply_config" } });
      await settledOperations(given);
      if (!runs) await given.edit({ kind: "endpoint", id: endpointId(state), set: { current_state: "idle" } });
      given.restart();
      network.on({ method: "PATCH", path: ENDPOINT, answer: empty() });
      const { outs } = await given.update(state, { ...COMPUTE, name: "reports" });
      expect(outs["name"]).toBe("reports");
      expect((await given.get(at))["endpoint"]).toMatchObject({ name: "reports" });
    },
  );

  /** With time to spare: an earlier end is not a time-out, whose message would name it. */
  const long = { ...COMPUTE, __timeouts: { update: 12 } };

  test.each([
    ["it is started", {}, "well", "active"],
    ["where it cannot be started the update fails at once", { seedOnly: true }, "badly", "init"],
  ])(
    "where none is under way a compute that is left init is not waited for: %s",
    async (_what, options, end, shown) => {
      const { given, network } = await computeScene(options);
      const made = await given.create(COMPUTE);
      await given.edit({ kind: "endpoint", id: endpointId(made), set: { current_state: "init" } });
      const unfinished = { ...made, outs: { ...made.outs, __unfinished: "create" } };
      const { outcome } = await up(given, unfinished, long);
      expect(outcome.ended).toBe(end);
      expect(await computesOf(given)).toMatchObject([{ current_state: shown }]);
      const starts = network.arrived.filter(({ method, path }) => method === "POST" && path.endsWith("/start"));
      expect(starts).toHaveLength(1);
      if (outcome.ended === "badly") {
        expect(outcome.words).toMatch(/init/);
        expect(outcome.words).not.toMatch(/customTimeouts/);
      }
    },
  );

  test("a change that leaves a compute init, with no operation, ends long before its time is over", async () => {
    const { given } = await computeScene();
    const made = await given.create(COMPUTE);
    await given.edit({ kind: "endpoint", id: endpointId(made), set: { current_state: "init" } });
    given.restart();
    await given.forgetRequests();
    const { outcome } = await up(given, made, { ...long, name: "reports" });
    expect(outcome).toMatchObject({ ended: "well", state: { outs: { name: "reports" } } });
    expect((await given.mutations()).map(({ method, path }) => `${method} ${path.split("/").at(-1)}`)).toEqual([
      `PATCH ${endpointId(made)}`,
      "POST start",
    ]);
    expect(await computesOf(given)).toMatchObject([{ name: "reports", current_state: "active" }]);
  });
});

async function settledOperations(given: Harness): Promise<void> {
  for (;;) {
    const unfinished = (await recordsOf(given, "operations")).filter(({ status }) =>
      ["scheduling", "running"].includes(String(status)),
    );
    if (unfinished.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("a change of settings", () => {
  /** Undocumented fields that a service may show. */
  const SHOWN = {
    pg_settings: { work_mem: "8MB" },
    preload_libraries: { use_defaults: true, enabled_libraries: ["timescaledb"], installed: ["a"] },
    shared_buffers_hint: "128MB",
  };
  const withSettings = (settings: Properties): Properties => ({ ...COMPUTE, settings });

  test.each<readonly [string, Properties, Json]>([
    ["pgSettings", { pgSettings: { work_mem: "16MB" } }, { pg_settings: { work_mem: "16MB" } }],
    [
      "useDefaults",
      { preloadLibraries: { useDefaults: false } },
      { preload_libraries: { use_defaults: false, enabled_libraries: ["timescaledb"] } },
    ],
    [
      "enabledLibraries",
      { preloadLibraries: { enabledLibraries: ["pg_cron"] } },
      { preload_libraries: { use_defaults: true, enabled_libraries: ["pg_cron"] } },
    ],
  ])("of %s sends documented fields only, and leaves the other parts as they are", async (_name, settings, changed) => {
    const { given, network } = await computeScene();
    const state = await given.create(COMPUTE);
    await given.edit({ kind: "endpoint", id: endpointId(state), set: { settings: SHOWN } });
    await up(given, state, withSettings(settings));
    const [patch] = network.arrived.filter(({ method }) => method === "PATCH");
    const { settings: sent } = patch?.body["endpoint"] as { settings: Json };
    expect(sent).toMatchObject(changed);
    expect(["pg_settings", "preload_libraries"]).toEqual(expect.arrayContaining(Object.keys(sent)));
    const libraries = Object.keys((sent["preload_libraries"] as Json | undefined) ?? {});
    expect(["use_defaults", "enabled_libraries"]).toEqual(expect.arrayContaining(libraries));
  });
});

describe("a resize that is answered without a body, and whose operation fails,", () => {
  test.each([
    ["no body", empty()],
    ["another shape", otherShape],
  ])("is not green in the second up, where nothing was done (%s)", async (_how, answer) => {
    const { given, network } = await computeScene({ activationMs: 400 });
    const first = await given.create(COMPUTE);
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, answer });
    const broken = await up(given, first, { ...COMPUTE, size: 4 });
    expect(wordsOf(broken.outcome)).toMatch(/apply_config/);
    network.calm();
    const before = await recordsOf(given, "operations");
    const again = await up(given, broken.state, { ...COMPUTE, size: 4 });
    const since = (await recordsOf(given, "operations")).filter(({ id }) => !before.some((one) => one["id"] === id));
    expect(again.outcome.ended).toBe("well");
    expect(since.filter(({ status }) => status === "finished")).not.toEqual([]);
  });

  test("before the answer has come, is no success", async () => {
    const { given, network } = await computeScene();
    const first = await given.create(COMPUTE);
    await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
    const ended = async (): Promise<void> => {
      while (!(await recordsOf(given, "operations")).some(({ status }) => status === "failed"));
    };
    network.on({ method: "PATCH", path: ENDPOINT, nth: 1, after: ended, answer: empty() });
    const { outcome } = await up(given, first, { ...COMPUTE, size: 4 });
    expect(wordsOf(outcome)).toMatch(/apply_config/);
  });
});

test("one 404 of something in front of the list of operations does not make a failed resize green", async () => {
  const { given, network } = await computeScene({ activationMs: 300 });
  const first = await given.create(COMPUTE);
  await given.fault({ operation: { action: "apply_config", status: "failed", error: "no capacity left" } });
  given.restart();
  network.on({
    method: "GET",
    path: "/projects/{project_id}/operations",
    nth: 1,
    executed: false,
    answer: { status: 404, text: "default backend - 404" },
  });
  const outcome = await outcomeOf(() => step(given, first, { ...COMPUTE, size: 4 }));
  expect(wordsOf(outcome)).toMatch(/apply_config/);
});

test("an integration that its creation left open is not done while the service shows another database", async () => {
  const { given, network } = await scene(authIntegration);
  network.on({
    method: "POST",
    path: CREATE_INTEGRATION,
    rewrite: (body) => ({ ...body, database_name: "other" }),
    after: () => network.on({ method: "GET", path: INTEGRATIONS, answer: json({ data: [] }) }),
  });
  const made = await outcomeOf(() => given.create(INTEGRATED));
  expect(wordsOf(made)).toMatch(/the service does not list it yet/);
  network.calm();
  const again = await up(given, made.ended === "badly" ? made.kept : undefined, INTEGRATED);
  expect(wordsOf(again.outcome)).toMatch(/databaseName|replaced/);
});
