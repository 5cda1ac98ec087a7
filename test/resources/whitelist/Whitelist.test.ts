import fc from "fast-check";
import { Unknown } from "../../../src/client";
import { Transport } from "../../../src/client/http/transport";
import { ruleOf, sameArgument } from "../../../src/runtime/arguments";
import { whitelist } from "../../../src/resources/whitelist/whitelistLifecycle";
import {
  CANARY,
  expectNoSecrets,
  harness,
  keptBy,
  notes,
  offline,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  thrownBy,
  UNKNOWN,
  withIntegration,
  type Harness,
  type Json,
  type State,
} from "../../support/harness";
import { addByHand, listed, PATH } from "../../support/whitelists";

const [A, B, C] = ["https://a.example.com", "https://b.example.com", "https://c.example.com"] as const;
const FOREIGN = "https://foreign.example.com";
const INPUTS = { projectId: PROJECT, domains: [B, A] };

const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
  const given = await harness(whitelist, ...more);
  await withIntegration(given);
  return given;
};

describe("a plan says which domains come and go", () => {
  const saidOf = async (before: readonly string[], after: readonly unknown[]) => {
    const given = await started();
    const state = await given.create({ projectId: PROJECT, domains: before });
    const news = { projectId: PROJECT, domains: after };
    await given.check(news, { projectId: PROJECT, domains: before });
    given.log.splice(0);
    await given.diff(state, news);
    return given.log.map(({ message }) => message);
  };

  test("an added one by its place, since its value may be a secret; a removed one as it stands on the list", async () => {
    expect(await saidOf([B, A], [`https://${CANARY}.example.com`.toLowerCase(), B, C])).toEqual([
      `Whitelist prj-demo ("thing"): adds domains[0], domains[2]; removes ${A}`,
    ]);
    expect(await saidOf([B, A], [C, A, B])).toEqual(['Whitelist prj-demo ("thing"): adds domains[0]; removes none']);
  });

  test("nothing of another order, nor of what is not known yet", async () => {
    expect(await saidOf([B, A], [A, B])).toEqual([]);
    expect(await saidOf([B, A], [A, UNKNOWN])).toEqual([]);
  });

  test("of many the first ten", async () => {
    const many = Array.from({ length: 14 }, (_, index) => `https://d${index}.example.com`);
    const [said] = await saidOf(many, [many[0]]);
    expect(said).toMatch(
      /: adds none; removes (https:\/\/d\d+\.example\.com, ){9}https:\/\/d10\.example\.com and 3 more$/,
    );
  });
});

describe("what is declared", () => {
  test("is normalised, and its order and spelling are no change", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const { inputs } = await given.provider.check({}, { ...INPUTS, domains: ["HTTPS://A.example.com/", `${B}:443`] });
    expect(inputs).toMatchObject({ domains: [A, B] });
    expect(await given.diff(state, { ...inputs })).toMatchObject({ changes: false });
  });

  test("names each origin once: a duplicate is refused by its index, in whatever spelling, without its value", async () => {
    const given = await started();
    const secret = `https://${CANARY.toLowerCase()}.example.com`;
    const problems = await given.check({ ...INPUTS, domains: [A, secret, `${secret}/`, A.toUpperCase()] });
    expect(problems).toEqual([
      "domains[2]: is the same origin as domains[1]",
      "domains[3]: is the same origin as domains[0]",
    ]);
    expect(problems.join()).not.toContain(secret);
  });

  test("is refused where it is no origin, each by its index, beside what is not known yet", async () => {
    const given = await started();
    const problems = await given.check({ ...INPUTS, domains: [UNKNOWN, `${A}/path`, "a.example.com", 7] });
    expect(problems).toEqual([
      "domains[1]: must be an origin such as https://app.example.com, without path",
      "domains[2]: must begin with http:// or https://, such as https://app.example.com",
      expect.stringMatching(/^domains\[3\]: must be a string, or an object with origin and expiresOn, not a number\./),
    ]);
    expect(await given.check({ ...INPUTS, domains: A })).toEqual([
      "domains: must be a list of origins, not a string. The configuration holds strings: read it with config.requireObject",
    ]);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given);
  });

  test("is compared as a set, whatever the list", async () => {
    const origin = fc.domain().map((domain) => `https://${domain}`);
    const isSame = (left: string[], right: string[]): boolean =>
      sameArgument(ruleOf(whitelist.args, "domains") ?? {}, left, right);
    await fc.assert(
      fc.property(fc.uniqueArray(origin, { maxLength: 8 }), fc.infiniteStream(fc.nat()), origin, (all, keys, one) => {
        const shuffled = all
          .map((value) => ({ value, key: keys.next().value }))
          .sort((left, right) => left.key - right.key)
          .map(({ value }) => value);
        expect(isSame(all, shuffled)).toBe(true);
        if (!all.includes(one)) expect(isSame(all, [...shuffled, one])).toBe(false);
        expect(isSame(all, shuffled.slice(1))).toBe(all.length === 0);
      }),
    );
  });
});

describe("creating a whitelist", () => {
  test("adds what is missing, with complete outs, and a second plan is empty", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    expect(state.id).toBe(PROJECT);
    expect(state.outs).toMatchObject({ ...INPUTS, authProvider: PROVIDER, __args: ["domains", "projectId"] });
    expect((await given.mutations()).map(({ method, body }) => [method, body])).toEqual([
      ["POST", { domain: B, auth_provider: PROVIDER }],
      ["POST", { domain: A, auth_provider: PROVIDER }],
    ]);
    expect(notes(given)).toEqual([]);
    expect(await given.diff(state, INPUTS)).toMatchObject({ changes: false });
  });

  test("leaves what stands as it is spelled, removes the rest in one call after adding, and says what it removed", async () => {
    const given = await started();
    await addByHand(given, "https://A.example.com/");
    await addByHand(given, FOREIGN);
    await addByHand(given, "https://Other.example.com/");
    const state = await given.create(INPUTS);
    expect(await listed(given)).toEqual(["https://A.example.com/", B]);
    expect((await given.mutations()).map(({ method }) => method)).toEqual(["POST", "DELETE"]);
    expect(notes(given)).toEqual([
      `Whitelist ${PROJECT}: removed domains that the program does not list: ${FOREIGN}, https://other.example.com`,
    ]);
    given.restart();
    expect(await planAfterRefresh(given, state, INPUTS)).toMatchObject({ changes: false });
  });

  test("is announced in the plan: what is not declared goes", async () => {
    const given = await started();
    expect((await offline(() => given.plan(INPUTS))).warnings).toEqual([
      expect.stringMatching(
        /takes over the whole list of redirect domains of project prj-demo: .*not declared are removed/,
      ),
    ]);
    const later = await started();
    await later.check(INPUTS, INPUTS);
    expect(later.log).toEqual([]);
  });

  test("that stops half way stays in the state, and the next update finishes it", async () => {
    const given = await started();
    await addByHand(given, FOREIGN);
    await given.fault({ method: "POST", path: PATH, after: 1, status: 422 });
    const error = await thrownBy(given.create(INPUTS));
    expect(error["id"]).toBe(PROJECT);
    expect(error["reasons"]).toEqual([expect.stringMatching(/^Whitelist prj-demo exists, but .*422.*pulumi up again/)]);
    expect(await listed(given)).toEqual([FOREIGN, B]);
    // The properties of a partial error are the outs.
    const state = { id: PROJECT, outs: error["properties"] as Json };
    expect(state.outs).toMatchObject({ domains: [B], __provider: "pointer", __unfinished: expect.any(String) });
    expect(await given.diff(state, INPUTS)).toMatchObject({ changes: true });
    const finished = await given.update(state, INPUTS);
    expect(await listed(given)).toEqual([B, A]);
    expect(finished.outs).not.toHaveProperty("__unfinished");
    expect(await given.diff(finished, INPUTS)).toMatchObject({ changes: false });
  });

  test("that stops half way shows what is missing after a refresh", async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, after: 1, status: 422 });
    const error = await thrownBy(given.create(INPUTS));
    const { found, changes } = await planAfterRefresh(
      given,
      { id: PROJECT, outs: error["properties"] as Json },
      INPUTS,
    );
    expect(found.inputs).toMatchObject({ domains: [B] });
    expect(changes).toBeUndefined();
  });

  test("that fails with its first request leaves nothing in the state", async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, status: 422 });
    expect(await thrownBy(given.create(INPUTS))).not.toHaveProperty("id");
  });

  test("an empty whitelist is one", async () => {
    const given = await started();
    await addByHand(given, FOREIGN);
    const state = await given.create({ ...INPUTS, domains: [] });
    expect(await listed(given)).toEqual([]);
    expect((await given.read(state))?.outs).toMatchObject({ domains: [] });
  });
});

describe("a domain that somebody added or removed by hand", () => {
  test("is drift that shows it by name in props and inputs, and an update removes it", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await addByHand(given, "https://Foreign.example.com:443/");
    given.restart();
    const { found, changes, replaces } = await planAfterRefresh(given, state, INPUTS);
    expect(found.outs).toMatchObject({ domains: [B, A, FOREIGN] });
    expect(found.inputs).toMatchObject({ domains: [B, A, FOREIGN] });
    expect({ changes, replaces }).toEqual({ changes: undefined, replaces: [] });
    await given.forgetRequests();
    const { outs } = await given.update({ id: found.id, outs: found.outs }, INPUTS);
    expect(await listed(given)).toEqual([B, A]);
    expect(await given.mutations()).toMatchObject([{ method: "DELETE" }]);
    expect(await planAfterRefresh(given, { id: found.id, outs }, INPUTS)).toMatchObject({ changes: false });
    // The plan had shown it.
    expect(notes(given)).toEqual([]);
  });

  test("is drift when it is missing, and an update adds it again", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: A, delete: true });
    given.restart();
    const { found, changes } = await planAfterRefresh(given, state, INPUTS);
    expect(found.inputs).toMatchObject({ domains: [B] });
    expect(changes).toBeUndefined();
    await given.update({ id: found.id, outs: found.outs }, INPUTS);
    expect(await listed(given)).toEqual([B, A]);
  });

  test("is drift, not a whitelist that is gone, when all of them are missing", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: A, delete: true });
    await given.edit({ kind: "domain", id: B, delete: true });
    given.restart();
    expect((await given.read(state))?.inputs).toMatchObject({ domains: [] });
  });

  test("belongs to its auth provider: the entries of another one are left alone", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const domains = [A, B, FOREIGN].map((domain) => ({
      domain,
      auth_provider: domain === FOREIGN ? "other" : PROVIDER,
    }));
    await given.fault({ method: "GET", path: PATH, status: 200, body: { domains }, times: 0 });
    given.restart();
    expect(await planAfterRefresh(given, state, INPUTS)).toMatchObject({ changes: false });
  });
});

describe("changing a whitelist", () => {
  test("adds first and removes then, and sends only what differs", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.forgetRequests();
    const { outs } = await given.update(state, { ...INPUTS, domains: [C, A] });
    expect(outs).toMatchObject({ domains: [C, A] });
    expect((await given.mutations()).map(({ method, body }) => [method, body["domain"] ?? body["domains"]])).toEqual([
      ["POST", C],
      ["DELETE", [{ domain: B }]],
    ]);
  });

  test("leaves what came meanwhile, since the plan did not show it, and says so; after a refresh it goes", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await addByHand(given, FOREIGN);
    const changed = await given.update(state, { ...INPUTS, domains: [A] });
    expect(await listed(given)).toEqual([A, FOREIGN]);
    expect(notes(given)).toEqual([
      expect.stringMatching(
        new RegExp(
          `domains were added outside this program after the last refresh and were not removed: ${FOREIGN}\\. .*pulumi up --refresh removes them$`,
        ),
      ),
    ]);
    given.restart();
    const { found, changes } = await planAfterRefresh(given, changed, { ...INPUTS, domains: [A] });
    expect(changes).toBeUndefined();
    await given.update({ id: found.id, outs: found.outs }, { ...INPUTS, domains: [A] });
    expect(await listed(given)).toEqual([A]);
  });

  test("that is unfinished continues as it was announced, and the plan announces it again", async () => {
    const given = await started();
    await addByHand(given, FOREIGN);
    await given.fault({ method: "POST", path: PATH, after: 1, status: 422 });
    const { id, properties } = await keptBy(given.create(INPUTS));
    given.log.splice(0);
    await given.check(INPUTS, INPUTS);
    await given.diff({ id, outs: properties }, INPUTS);
    expect(given.log).toMatchObject([
      {
        severity: "warning",
        message: expect.stringMatching(
          /^creating the Whitelist .* did not finish: this update takes over the whole list .*not declared are removed/,
        ),
      },
      { severity: "warning", message: expect.stringMatching(/: adds domains\[1\]; removes none$/) },
    ]);
    await given.update({ id, outs: properties }, INPUTS);
    expect(await listed(given)).toEqual([B, A]);
    expect(notes(given)).toEqual([expect.stringMatching(new RegExp(`removed .*: ${FOREIGN}$`))]);
  });

  test("that stops half way keeps what is in the state, so that the next plan shows the rest", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const news = { ...INPUTS, domains: [A, C] };
    await given.fault({ method: "DELETE", path: PATH, status: 422 });
    const error = await thrownBy(given.update(state, news));
    expect(error["reasons"]).toEqual([
      expect.stringMatching(/^The update of Whitelist prj-demo did not finish: .*422/),
    ]);
    const kept = { id: PROJECT, outs: error["properties"] as Json };
    expect(kept.outs).toMatchObject({ domains: [B, A, C] });
    await given.update(kept, news);
    expect(await listed(given)).toEqual([A, C]);
  });
});

/** The warnings of a preview about a whitelist in the state. */
async function warnedOf(given: Harness, state: State, news: Json): Promise<string[]> {
  given.restart();
  const { warnings } = await given.plan(news, INPUTS);
  given.log.splice(0);
  await given.diff(state, news);
  return [...warnings, ...given.log.map(({ message }) => message)];
}

describe("an update that did not finish", () => {
  /** An addition without an effect, and a domain that a partner adds afterwards. */
  const failedUpdate = async (before: Json, news: Json, method: string) => {
    const given = await started();
    const state = await given.create(before);
    await given.fault({ method, path: PATH, status: 500, times: 0 });
    const { id, properties } = await keptBy(given.update(state, { ...news, __timeouts: { update: 1 } }));
    await given.clearFaults();
    await addByHand(given, FOREIGN);
    return { given, kept: { id, outs: properties } };
  };

  test.each([
    ["an addition", "POST", INPUTS, { ...INPUTS, domains: [B, A, C] }, /: adds domains\[2\]; removes none$/],
    ["a removal", "DELETE", INPUTS, { ...INPUTS, domains: [B] }, new RegExp(`: adds none; removes ${A}$`)],
  ])("continues %s, and removes nothing else: a partner's domain stays", async (_what, method, before, news, plan) => {
    const { given, kept } = await failedUpdate(before, news, method);
    expect(kept.outs).toMatchObject({ domains: before.domains, __unfinished: "update", __sent: ["domains"] });
    for (const outs of [kept.outs, Object.fromEntries(Object.entries(kept.outs).filter(([key]) => key !== "__sent"))]) {
      const state = { ...kept, outs };
      const said = await warnedOf(given, state, news);
      expect(said).toContainEqual(expect.stringMatching(plan));
      expect(said).toContainEqual(
        'the previous update of Whitelist prj-demo ("thing") did not finish. This update resumes it: domains that others have added since stay',
      );
      expect(said.join("\n")).not.toMatch(/takes over|not declared/);
      const finished = await given.update(state, news);
      expect((await listed(given)).toSorted()).toEqual([...news.domains, FOREIGN].toSorted());
      expect(finished.outs).not.toHaveProperty("__unfinished");
      expect(notes(given)).toEqual([expect.stringMatching(new RegExp(`were not removed: ${FOREIGN}\\.`))]);
    }
  });

  test("of a program that has gone back removes only what the state has", async () => {
    const { given, kept } = await failedUpdate(INPUTS, { ...INPUTS, domains: [B, A, C] }, "POST");
    await given.update(kept, INPUTS);
    expect((await listed(given)).toSorted()).toEqual([A, B, FOREIGN].toSorted());
  });
});

describe("a creation that did not finish", () => {
  const failedCreation = async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, after: 1, status: 422 });
    const { id, properties } = await keptBy(given.create(INPUTS));
    return { given, kept: { id, outs: properties } };
  };

  test("takes over the list, and its plan names what it removes", async () => {
    const { given, kept } = await failedCreation();
    await addByHand(given, FOREIGN);
    const said = await warnedOf(given, kept, INPUTS);
    expect(said).toContainEqual(
      expect.stringMatching(/^creating the Whitelist .* did not finish: this update .*takes over/),
    );
    expect(said).toContain(
      `pulumi up removes domains of project prj-demo that this Whitelist does not declare: ${FOREIGN}`,
    );
    await given.update(kept, INPUTS);
    expect((await listed(given)).toSorted()).toEqual([A, B]);
  });

  test("is still one after another failure, unless the program was edited in between", async () => {
    const { given, kept } = await failedCreation();
    await given.fault({ method: "POST", path: PATH, status: 500, times: 0 });
    given.restart();
    await given.check(INPUTS, INPUTS);
    const again = await keptBy(given.update(kept, { ...INPUTS, __timeouts: { update: 1 } }));
    expect(again.properties).toMatchObject({ __unfinished: "create" });
    const edited = await keptBy(given.update(kept, { ...INPUTS, domains: [B, C], __timeouts: { update: 1 } }));
    expect(edited.properties).toMatchObject({ __unfinished: "update" });
  });
});

describe("deleting a whitelist", () => {
  test("removes its domains in the spelling of the service, in one call, and no others", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: A, set: { domain: "https://A.example.com/" } });
    await addByHand(given, FOREIGN);
    await given.forgetRequests();
    await given.delete(state);
    expect(await listed(given)).toEqual([FOREIGN]);
    expect((await given.mutations()).length).toBe(1);
  });

  test("leaves the whitelist of another integration alone", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given);
    await addByHand(given, A);
    given.restart();
    await given.delete(state);
    expect(await listed(given)).toEqual([A]);
  });
});

test("a wildcard in place of a port can be declared: one that is on the list stays there, and a new one is warned of", async () => {
  const given = await started();
  const [ports, local] = ["https://*.example.com:*", "http://localhost:*"];
  await addByHand(given, "https://*.Example.com:*");
  const inputs = { projectId: PROJECT, domains: [ports, local] };
  const { failures, warnings } = await given.plan(inputs);
  expect(failures).toEqual([]);
  expect(warnings).toEqual(
    [0, 1].map((at) => expect.stringMatching(new RegExp(`^"domains\\[${at}\\]" of .* has a wildcard: users may be`))),
  );
  const state = await given.create(inputs);
  expect(await listed(given)).toEqual(["https://*.Example.com:*", local]);
  expect(notes(given)).toEqual([]);
  given.restart();
  expect(await planAfterRefresh(given, state, inputs)).toMatchObject({ changes: false });
  await given.delete(state);
  expect(await listed(given)).toEqual([]);
});

test("addresses of apps and wildcards are domains of the list as others are: none is lost, and a new one is warned of", async () => {
  const given = await started({ appDomains: true });
  const [app, wild] = ["exp://192.168.1.2:8081", "https://*.example.com"];
  await addByHand(given, "EXP://192.168.1.2:8081");
  const inputs = { projectId: PROJECT, domains: [A, app, wild] };
  const state = await given.create(inputs);
  expect((await listed(given)).toSorted()).toEqual([A, wild, "EXP://192.168.1.2:8081"].toSorted());
  expect(await planAfterRefresh(given, state, inputs)).toMatchObject({ changes: false });
  // One origin twice, in two spellings.
  const twice = { ...inputs, domains: [app, "EXP://192.168.1.2:8081"] };
  expect(await given.check(twice)).toEqual([expect.stringMatching(/domains\[1\].*is the same origin as domains\[0\]/)]);
  // The domains of the state are not new.
  const more = { ...inputs, domains: [A, "myapp://x", app, wild] };
  await given.check(more, inputs);
  given.log.splice(0);
  await given.diff(state, more);
  expect(given.log.map(({ message }) => message)).toEqual([
    'Whitelist prj-demo ("thing"): adds domains[1]; removes none',
    expect.stringMatching(/^"domains\[1\]" of the Whitelist \("thing"\) is the address of an app/),
  ]);
  await given.delete(state);
  expect(await listed(given)).toEqual([]);
});

describe("what ignoreChanges leaves to the list", () => {
  const update = async (domains: readonly string[], unfinished: object, ...paths: string[]) => {
    const given = await started();
    const { id, outs } = await given.create(INPUTS);
    // Somebody replaces the second domain.
    await given.edit({ kind: "domain", id: A, delete: true });
    await addByHand(given, FOREIGN);
    given.restart();
    const news = { ...INPUTS, domains, __ignoreChanges: paths };
    const state = { id, outs: { ...outs, ...unfinished } };
    const { warnings } = await given.plan(news, INPUTS);
    await given.diff(state, news);
    const said = given.log.filter(({ message }) => message.startsWith("pulumi up adds")).map(({ message }) => message);
    const next = await given.update(state, news);
    return { list: [...(await listed(given))].sort(), said, warnings, next, given };
  };

  test("is a domain at an ignored place that somebody has removed: it does not come back", async () => {
    const { list, said, next, given } = await update([C, A], {}, "domains[1]");
    expect(list).toEqual([C, FOREIGN].sort());
    expect(said).toEqual([]);
    expect(await given.diff(next, { ...INPUTS, domains: [C, A] })).toMatchObject({ changes: false });
  });

  test("is nothing else: without it the domain comes back, and the plan says so", async () => {
    const { list, said } = await update([C, A], {});
    expect(list).toEqual([A, C, FOREIGN].sort());
    expect(said).toEqual([`pulumi up adds to Whitelist prj-demo ("thing") again what is missing there: ${A}`]);
  });

  test.each([["domains"], ["*"]])(
    "is the whole list, also for an update that goes on with another: %s",
    async (path) => {
      const { list, next } = await update([B, A], { __unfinished: "update" }, path);
      expect(list).toEqual([B, FOREIGN].sort());
      expect(next.outs).not.toHaveProperty("__unfinished");
    },
  );

  test("is nothing for a creation that goes on: what it declares comes first", async () => {
    const { list } = await update([B, A], { __unfinished: "create" }, "domains");
    expect(list).toEqual([A, B].sort());
  });
});

describe("what other processes do is not known any more once the domains are removed", () => {
  afterEach(() => jest.restoreAllMocks());

  function deafAfterDeletion(given: Harness): void {
    const { ownership } = given.session.memory;
    const send = Transport.prototype.send;
    jest.spyOn(Transport.prototype, "send").mockImplementation(async function (this: Transport, attempt) {
      const response = await send.call(this, attempt);
      if (attempt.method === "DELETE")
        jest
          .spyOn(ownership, "mayDelete")
          .mockReturnValue(Unknown.because({ question: "whether", why: "nothing is heard", waysOut: "Wait" }));
      return response;
    });
  }

  test("a creation that has cleared the list is done", async () => {
    const given = await started();
    await addByHand(given, A);
    await addByHand(given, FOREIGN);
    deafAfterDeletion(given);
    const { outs } = await given.create({ projectId: PROJECT, domains: [A] });
    expect(outs).toMatchObject({ domains: [A] });
    expect(await listed(given)).toEqual([A]);
    expect(notes(given).at(-1)).toBe(
      `Whitelist ${PROJECT}: removed domains that the program does not list: ${FOREIGN}`,
    );
  });

  test("a deletion is done", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    given.restart();
    deafAfterDeletion(given);
    await given.delete(state);
    expect(await listed(given)).toEqual([]);
  });
});
