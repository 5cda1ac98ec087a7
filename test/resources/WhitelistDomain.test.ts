import { host } from "../../src/dynamic/host";
import type { LogLine } from "../../src/dynamic/engineLog";
import { Session } from "../../src/dynamic/session";
import { whitelist } from "../../src/lifecycles/Whitelist";
import { whitelistDomain } from "../../src/lifecycles/WhitelistDomain";
import { childCases } from "./childCases";
import {
  CANARY,
  expectNoSecrets,
  harness,
  planAfterRefresh,
  PROJECT,
  PROVIDER,
  thrownBy,
  UNKNOWN,
  withIntegration,
  type Harness,
  type Json,
} from "./harness";

const DOMAIN = "https://app.example.com";
const INPUTS = { projectId: PROJECT, domain: DOMAIN };
const PATH = `/projects/${PROJECT}/auth/domains`;

const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
  const given = await harness(whitelistDomain, ...more);
  await withIntegration(given);
  return given;
};

const kept = async (given: Harness): Promise<unknown[]> =>
  // The state of the emulator is checked by its own tests.
  ((await given.state())["domains"] as Json[]).map(({ domain }) => domain);

/** Written as the service would never write it, behind the back of the API. */
const addByHand = (given: Harness, domain: string) => given.edit({ kind: "domain", create: { domain } });

describe("a redirect domain as a child of its integration", () => {
  childCases({
    lifecycle: whitelistDomain,
    inputs: INPUTS,
    replacedBy: { domain: "https://other.example.com", authProvider: "other" },
    unknowns: { domain: UNKNOWN },
  });
});

describe("creating a redirect domain", () => {
  test("adds its origin, with complete outs", async () => {
    const given = await started();
    const { id, outs } = await given.create({ ...INPUTS, domain: "HTTPS://App.Example.com:443/" });
    expect(id).toBe(`${PROJECT}/${DOMAIN}`);
    expect(outs).toMatchObject({ ...INPUTS, authProvider: PROVIDER, __args: ["domain", "projectId"] });
    expect(outs["authProviderProjectId"]).toEqual(expect.any(String));
    expect(await given.mutations()).toMatchObject([
      { method: "POST", path: PATH, body: { domain: DOMAIN, auth_provider: PROVIDER } },
    ]);
    expect(await kept(given)).toEqual([DOMAIN]);
  });

  test("another spelling of the same origin is no change", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const spelt = { ...INPUTS, domain: "https://APP.example.com:443/" };
    const { inputs } = await given.provider.check(state.outs, { ...spelt });
    expect(await given.diff(state, { ...inputs })).toMatchObject({ changes: false });
  });

  test("a path, a query and credentials are refused with the rule in words and without the value", async () => {
    const given = await started();
    const problems = await given.check({
      ...INPUTS,
      domain: `https://u:${CANARY}@app.example.com/${CANARY}?${CANARY}`,
    });
    expect(problems).toEqual([
      "domain: must be an origin such as https://app.example.com, without user name or password, path, query",
    ]);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given);
  });

  test("one that stands already, in whatever spelling, is a conflict that names it and how to go on", async () => {
    const given = await started();
    await addByHand(given, "https://App.Example.com/");
    const error = await thrownBy(given.create(INPUTS));
    expect(error.message).toMatch(
      /https:\/\/app\.example\.com is on the whitelist already.*interrupted pulumi up.*"adopt: true".*delete it first.*give it an alias/,
    );
    expect(await given.mutations()).toEqual([]);
  });

  test("with adopt it is taken over, and nothing is sent", async () => {
    const given = await started();
    await addByHand(given, "https://App.Example.com/");
    const state = await given.create({ ...INPUTS, adopt: true });
    expect(await given.mutations()).toEqual([]);
    expect(await planAfterRefresh(given, state, { ...INPUTS, adopt: true })).toMatchObject({ changes: false });
  });

  test("a request of unknown fate that took effect is found again", async () => {
    const given = await started();
    await given.fault({ method: "POST", path: PATH, effect: "done", drop: "reset" });
    await given.create(INPUTS);
    expect(await kept(given)).toEqual([DOMAIN]);
    expect((await given.requests("POST")).length).toBe(1);
  });

  test("naming the auth provider that is the default anyway replaces nothing", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    expect((await given.diff(state, { ...INPUTS, authProvider: PROVIDER })).replaces).toEqual([]);
    const { outs } = await given.update(state, { ...INPUTS, authProvider: PROVIDER });
    expect(outs).toMatchObject({ authProvider: PROVIDER, __args: ["authProvider", "domain", "projectId"] });
  });
});

describe("reading a redirect domain", () => {
  test("one that is taken off the list by hand is gone", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: DOMAIN, delete: true });
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });

  test("the spelling of the service is no drift", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: DOMAIN, set: { domain: "HTTPS://APP.EXAMPLE.COM:443/" } });
    given.restart();
    expect(await planAfterRefresh(given, state, INPUTS)).toMatchObject({ changes: false });
  });

  test("an id with another spelling of the origin names the same domain, to look it up and to delete it", async () => {
    const given = await started();
    const { outs } = await given.create(INPUTS);
    const spelt = { id: `${PROJECT}/HTTPS://App.example.com:443/`, outs: {} };
    expect((await given.read(spelt))?.outs).toMatchObject({ projectId: PROJECT, domain: DOMAIN });
    await given.delete({ ...spelt, outs });
    expect(await kept(given)).toEqual([]);
  });

  test("the domain of another auth provider is another domain", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const domains = [{ domain: DOMAIN, auth_provider: "other" }];
    await given.fault({ method: "GET", path: PATH, status: 200, body: { domains }, times: 0 });
    given.restart();
    expect(await given.read(state)).toBeUndefined();
  });
});

describe("deleting redirect domains", () => {
  test("goes by the spelling that the service stores", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "domain", id: DOMAIN, set: { domain: "https://App.Example.com/" } });
    await given.delete(state);
    expect(await kept(given)).toEqual([]);
  });

  test("deletes one that the list does not show yet", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.fault({ method: "GET", path: PATH, status: 200, body: { domains: [] }, times: 1 });
    await given.delete(state);
    expect(await kept(given)).toEqual([]);
  });

  test("many travel in few calls, and leave the others alone", async () => {
    const given = await started();
    const domains = Array.from({ length: 20 }, (_, index) => `https://app${index}.example.com`);
    const states = [];
    for (const domain of domains) states.push(await given.create({ ...INPUTS, domain }));
    await addByHand(given, "https://theirs.example.com");
    await given.forgetRequests();
    await Promise.all(states.map((state) => given.delete(state)));
    expect(await kept(given)).toEqual(["https://theirs.example.com"]);
    expect((await given.requests("DELETE")).length).toBeLessThanOrEqual(2);
  });

  test("leaves the same domain of another integration alone", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given);
    await addByHand(given, DOMAIN);
    given.restart();
    await given.delete(state);
    expect(await kept(given)).toEqual([DOMAIN]);
  });
});

describe("both forms for one project", () => {
  const declared = (...programs: [kind: "Whitelist" | "WhitelistDomain", projectId: string][]) => {
    const log: LogLine[] = [];
    const session = new Session((line) => log.push(line));
    const one = host(whitelistDomain, session);
    const all = host(whitelist, session);
    return Promise.all(
      programs.map(([kind, projectId], index) => {
        const __urn = `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:${kind}::thing${index}`;
        return kind === "Whitelist"
          ? all.check({ projectId }, { projectId, domains: [DOMAIN], __urn })
          : one.check({ projectId }, { projectId, domain: DOMAIN, __urn });
      }),
    ).then(() => log);
  };

  test.each([
    ["the Whitelist first", ["Whitelist", "WhitelistDomain", "WhitelistDomain"], "thing1"],
    ["the Whitelist last", ["WhitelistDomain", "WhitelistDomain", "Whitelist"], "thing2"],
    ["the Whitelist between", ["WhitelistDomain", "Whitelist", "WhitelistDomain"], "thing1"],
  ] as const)("are warned of once, on the line of the one that comes later: %s", async (_how, kinds, line) => {
    const warnings = await declared(...kinds.map((kind) => [kind, PROJECT] as [typeof kind, string]));
    expect(warnings).toMatchObject([
      {
        severity: "warning",
        urn: expect.stringMatching(new RegExp(`::${line}$`)),
        message: expect.stringMatching(/both a Whitelist and a WhitelistDomain/),
      },
    ]);
  });

  test("are fine for two projects, or while a project is not known yet", async () => {
    expect(await declared(["Whitelist", "prj-a"], ["WhitelistDomain", "prj-b"])).toEqual([]);
    expect(await declared(["Whitelist", UNKNOWN], ["WhitelistDomain", UNKNOWN])).toEqual([]);
  });

  test("are as bad as two whitelists, which are warned of too", async () => {
    expect(await declared(["Whitelist", PROJECT], ["Whitelist", PROJECT])).toMatchObject([
      {
        severity: "warning",
        urn: expect.stringMatching(/::thing1$/),
        message: expect.stringMatching(/two Whitelists/),
      },
    ]);
  });
});
