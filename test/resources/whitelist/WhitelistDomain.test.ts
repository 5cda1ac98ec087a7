import { dynamicProvider } from "../../../src/protocols/dynamic/provider";
import { Session } from "../../../src/runtime/session";
import { whitelist } from "../../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../../src/resources/whitelist/whitelistDomainLifecycle";
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
} from "../../support/harness";
import { addByHand, listed, PATH } from "../../support/whitelists";

const DOMAIN = "https://app.example.com";
const INPUTS = { projectId: PROJECT, domain: DOMAIN };

const started = async (...more: [options?: object, client?: object]): Promise<Harness> => {
  const given = await harness(whitelistDomain, ...more);
  await withIntegration(given);
  return given;
};

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
    expect(await listed(given)).toEqual([DOMAIN]);
  });

  test("another spelling of the same origin is no change", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    const spelt = { ...INPUTS, domain: "https://APP.example.com:443/" };
    const { inputs } = await given.provider.check(state.outs, { ...spelt });
    expect(await given.diff(state, { ...inputs })).toMatchObject({ changes: false });
  });

  test("an entry with more than its origin is another one: it is neither taken for it nor deleted with it", async () => {
    const given = await started();
    await addByHand(given, `${DOMAIN}/callback`);
    const state = await given.create(INPUTS);
    expect(await listed(given)).toEqual([`${DOMAIN}/callback`, DOMAIN]);
    await given.delete(state);
    expect(await listed(given)).toEqual([`${DOMAIN}/callback`]);
  });

  test("a host that ends in a dot is another one for browsers, and warned of", async () => {
    const given = await started();
    await addByHand(given, DOMAIN);
    const { failures, warnings } = await given.plan({ ...INPUTS, domain: `${DOMAIN}.` });
    expect([failures, warnings]).toEqual([[], [expect.stringMatching(/^the host of "domain" of .* ends in a dot: /)]]);
    const state = await given.create({ ...INPUTS, domain: `${DOMAIN}.` });
    await given.delete(state);
    expect(await listed(given)).toEqual([DOMAIN]);
  });

  test("a path, a query and credentials are refused with the rule and without the value", async () => {
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

  test("one that exists already, in whatever spelling, is a conflict that names it and how to go on", async () => {
    const given = await started();
    await addByHand(given, "https://App.Example.com/");
    const error = await thrownBy(given.create(INPUTS));
    expect(error.message).toMatch(
      /https:\/\/app\.example\.com is on the whitelist already.*interrupted pulumi up.*"adopt: true".*delete it first.*add an alias/,
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
    expect(await listed(given)).toEqual([DOMAIN]);
    expect((await given.requests("POST")).length).toBe(1);
  });

  test.each([
    [{}, ""],
    [{ adopt: true }, '; with "adopt" it takes over an object that exists by then'],
  ])("the plan of another domain (%j) says that this one leaves the whitelist", async (more, end) => {
    const given = await started();
    const state = await given.create(INPUTS);
    const news = { ...INPUTS, ...more, domain: "https://other.example.com" };
    await given.check(news, INPUTS);
    await given.diff(state, news);
    expect(given.log.map(({ message }) => message)).toEqual([
      `WhitelistDomain ${state.id} ("thing") is replaced, because "domain" changes: the declared domain is added, and then the old one is removed from the whitelist${end}`,
    ]);
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
    expect(await listed(given)).toEqual([]);
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
    expect(await listed(given)).toEqual([]);
  });

  test("deletes one that the list does not show yet", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.fault({ method: "GET", path: PATH, status: 200, body: { domains: [] }, times: 1 });
    await given.delete(state);
    expect(await listed(given)).toEqual([]);
  });

  test("each is a request of its own, and leaves the others alone", async () => {
    const given = await started();
    const domains = Array.from({ length: 20 }, (_, index) => `https://app${index}.example.com`);
    const states = [];
    for (const domain of domains) states.push(await given.create({ ...INPUTS, domain }));
    await addByHand(given, "https://theirs.example.com");
    await given.forgetRequests();
    await Promise.all(states.map((state) => given.delete(state)));
    expect(await listed(given)).toEqual(["https://theirs.example.com"]);
    // One that a busy machine has not answered in time is sent again.
    const bodies = (await given.requests("DELETE")).map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies)).toEqual(
      new Set(domains.map((domain) => JSON.stringify({ auth_provider: "supported_provider", domains: [{ domain }] }))),
    );
  });

  test("leaves the same domain of another integration alone", async () => {
    const given = await started();
    const state = await given.create(INPUTS);
    await given.edit({ kind: "integration", delete: true });
    await withIntegration(given);
    await addByHand(given, DOMAIN);
    given.restart();
    await given.delete(state);
    expect(await listed(given)).toEqual([DOMAIN]);
  });
});

describe("both forms for one project", () => {
  const declared = async (...programs: [kind: "Whitelist" | "WhitelistDomain", projectId: string][]) => {
    const session = new Session(() => undefined);
    const one = dynamicProvider(whitelistDomain, session);
    const all = dynamicProvider(whitelist, session);
    const settings: Record<string, string> = { "svc:apiKey": "key", "svc:baseUrl": "http://127.0.0.1:9/api/v2" };
    for (const provider of [one, all])
      await provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
    const failures: string[][] = [];
    for (const [index, [kind, projectId]] of programs.entries()) {
      const __urn = `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:${kind}::thing${index}`;
      const checked =
        kind === "Whitelist"
          ? await all.check({ projectId }, { projectId, domains: [DOMAIN], __urn })
          : await one.check({ projectId }, { projectId, domain: `https://app${index}.example.com`, __urn });
      failures.push((checked.failures ?? []).map(({ reason }) => reason));
    }
    return failures;
  };

  test.each([
    ["the Whitelist first", ["Whitelist", "WhitelistDomain", "WhitelistDomain"], [0, 1, 1]],
    ["the Whitelist last", ["WhitelistDomain", "WhitelistDomain", "Whitelist"], [0, 0, 1]],
    ["the Whitelist between", ["WhitelistDomain", "Whitelist", "WhitelistDomain"], [0, 1, 1]],
    ["two Whitelists", ["Whitelist", "Whitelist"], [0, 1]],
  ] as const)("are an error of the plan, which names both: %s", async (_how, kinds, counts) => {
    const failures = await declared(...kinds.map((kind) => [kind, PROJECT] as [typeof kind, string]));
    expect(failures.map(({ length }) => length)).toEqual(counts);
    for (const reason of failures.flat())
      expect(reason).toMatch(/"thing\d" of this program declares .*Declare it once/);
  });

  test("are fine for two projects, or while a project is not known yet", async () => {
    expect((await declared(["Whitelist", "prj-a"], ["WhitelistDomain", "prj-b"])).flat()).toEqual([]);
    expect((await declared(["Whitelist", UNKNOWN], ["WhitelistDomain", UNKNOWN])).flat()).toEqual([]);
  });
});

describe("the address of an app", () => {
  const APP = "myapp://CallBack";
  const inputs = { projectId: PROJECT, domain: APP };

  test("is added, found, no difference in another spelling of its scheme, and deleted as the list shows it", async () => {
    const given = await started({ appDomains: true });
    const state = await given.create({ ...inputs, domain: "MyApp://CallBack" });
    expect([state.id, await listed(given)]).toEqual([`${PROJECT}/${APP}`, [APP]]);
    expect(await planAfterRefresh(given, state, inputs)).toMatchObject({ changes: false });
    // As another service may store it.
    await given.edit({ kind: "domain", id: APP, delete: true });
    await addByHand(given, "MYAPP://CallBack");
    given.restart();
    expect(await planAfterRefresh(given, state, inputs)).toMatchObject({ changes: false });
    await given.delete(state);
    expect(await listed(given)).toEqual([]);
  });

  test("that the service refuses fails with the service's reason", async () => {
    const given = await started();
    expect((await thrownBy(given.create(inputs))).message).toMatch(/must be an http or https origin/);
    expect(await listed(given)).toEqual([]);
  });

  test("the plan of a creation warns of it, and of a wildcard, without the value", async () => {
    const given = await started({ appDomains: true });
    const app = await given.plan(inputs);
    expect(app.warnings).toEqual([
      expect.stringMatching(/^"domain" of the WhitelistDomain \("thing"\) is the address of an app/),
    ]);
    const wild = await given.plan({ ...inputs, domain: "https://*.vercel.app" });
    expect(wild.warnings).toEqual([
      expect.stringMatching(/^"domain" of the WhitelistDomain \("thing"\) has a wildcard/),
    ]);
    expect((await given.plan({ ...inputs, domain: "https://app.example.com" })).warnings).toEqual([]);
    expect(JSON.stringify([app, wild])).not.toMatch(/callback|vercel/i);
  });
});
