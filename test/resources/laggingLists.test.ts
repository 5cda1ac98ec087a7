import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { whitelist } from "../../src/resources/whitelist/whitelistLifecycle";
import { whitelistDomain } from "../../src/resources/whitelist/whitelistDomainLifecycle";
import { computes, DEMO_PRIMARY } from "../support/computeCases";
import { harness, PROJECT, PROVIDER, thrownBy, withIntegration, type Json } from "../support/harness";
import { listed } from "../support/whitelists";

/** One answer of a list that lacks everything, then the truth: lists lag (docs/design/api.md, Delays). */
const lagging = (route: string, body: object) => ({
  method: "GET",
  path: `/projects/{project_id}/auth/${route}`,
  status: 200,
  body,
});

const LAGGING_COMPUTES = {
  method: "GET",
  path: "/projects/{project_id}/endpoints",
  status: 200,
  body: { endpoints: [] },
};
/** Where the demo project has its primary. */
const ON_MAIN = { projectId: PROJECT, branchId: "br-main" };

const [A, B, FOREIGN] = ["https://a.example.com", "https://b.example.com", "https://foreign.example.com"] as const;

test("an integration that one list lacks is not gone before a later list says so", async () => {
  const h = await harness(authIntegration);
  const state = await h.create({ projectId: PROJECT });
  h.restart();
  await h.fault(lagging("integrations", { data: [] }));
  expect((await h.read(state))?.id).toBe(state.id);
  h.restart();
  await h.fault({ ...lagging("integrations", { data: [] }), times: 2 });
  expect(await h.read(state)).toBeUndefined();
});

test.each([
  ["OAuth provider", oauthProvider, { providerId: "gitlab" }, "oauth_providers", { providers: [] }],
  ["redirect domain", whitelistDomain, { domain: "https://a.example.com" }, "domains", { domains: [] }],
] as const)("nor is an %s, or one whose integration a list lacks", async (_what, lifecycle, args, route, empty) => {
  // The two lifecycles differ in their arguments only, which stay raw properties here.
  const h = await harness(lifecycle as typeof oauthProvider);
  await h.post("/projects/auth/create", { project_id: PROJECT, auth_provider: PROVIDER, branch_id: "br-main" });
  const state = await h.create({ projectId: PROJECT, ...args });
  for (const fault of [lagging(route, empty), lagging("integrations", { data: [] })]) {
    h.restart();
    await h.fault(fault);
    expect((await h.read(state))?.id).toBe(state.id);
  }
  h.restart();
  await h.fault({ ...lagging(route, empty), times: 2 });
  expect(await h.read(state)).toBeUndefined();
});

describe("what exists, and only a conflict shows", () => {
  // Within the first look after the conflict, and only in a later list.
  describe.each([1, 2])("while %d answers of a list lack it", (times) => {
    const hidden = (route: string, body: object) => ({ ...lagging(route, body), times });

    test("an integration is named with both ways out, and dropping a schema is not suggested", async () => {
      const h = await harness(authIntegration);
      await withIntegration(h);
      await h.fault(hidden("integrations", { data: [] }));
      const error = await thrownBy(h.create({ projectId: PROJECT, branchId: "br-main" }));
      expect(error.message).toMatch(/an auth integration exists on br-main.*"adopt: true".*or delete it first/);
      expect(error.message).not.toMatch(/schema/);
      expect(error).not.toHaveProperty("id");
    });

    test("an integration is taken over with adopt, on its branch and with a new key set", async () => {
      const h = await harness(authIntegration);
      await h.edit({ kind: "integration", create: { branch_id: "br-dev" } });
      await h.fault(hidden("integrations", { data: [] }));
      const { outs } = await h.create({ projectId: PROJECT, adopt: true });
      // A slow response makes the client ask for another one: the last one counts.
      const made = ((await h.state())["key_sets"] as Json[]).at(-1);
      expect(outs).toMatchObject({ branchId: "br-dev", pubClientKey: made?.["pub_client_key"] });
      expect(outs).not.toHaveProperty("roleName");
    });

    test("an OAuth provider is taken over with adopt and brought to what is declared, and else named", async () => {
      const h = await harness(oauthProvider);
      await withIntegration(h);
      const inputs = { projectId: PROJECT, providerId: "google", clientId: "own-id", clientSecret: "canary-Zq8" };
      await h.fault(hidden("oauth_providers", { providers: [] }));
      const error = await thrownBy(h.create(inputs));
      expect(error.message).toMatch(/the OAuth provider google exists already, with the shared keys.*"adopt: true"/);
      await h.clearFaults();
      await h.fault(hidden("oauth_providers", { providers: [] }));
      expect((await h.create({ ...inputs, adopt: true })).outs).toMatchObject({ type: "standard" });
      const { providers } = await h.get(`/projects/${PROJECT}/auth/oauth_providers`);
      expect(providers).toContainEqual(expect.objectContaining({ id: "google", type: "standard" }));
    });

    test("a redirect domain is taken over with adopt, and else named", async () => {
      const h = await harness(whitelistDomain);
      await withIntegration(h);
      await h.edit({ kind: "domain", create: { domain: A } });
      await h.fault(hidden("domains", { domains: [] }));
      const error = await thrownBy(h.create({ projectId: PROJECT, domain: A }));
      expect(error.message).toMatch(/https:\/\/a\.example\.com is on the whitelist already.*"adopt: true"/);
      await h.clearFaults();
      await h.fault(hidden("domains", { domains: [] }));
      expect((await h.create({ projectId: PROJECT, domain: A, adopt: true })).id).toBe(`${PROJECT}/${A}`);
      expect(await listed(h)).toEqual([A]);
    });

    test("a redirect domain of a whitelist counts as present, and undeclared ones are removed nevertheless", async () => {
      const h = await harness(whitelist);
      await withIntegration(h);
      for (const domain of [A, FOREIGN]) await h.edit({ kind: "domain", create: { domain } });
      await h.fault(hidden("domains", { domains: [] }));
      await h.create({ projectId: PROJECT, domains: [A, B] });
      expect(await listed(h)).toEqual([A, B]);
    });

    test("a primary compute is taken over with adopt, and else named", async () => {
      const h = await computes();
      await h.fault({ ...LAGGING_COMPUTES, times });
      const error = await thrownBy(h.create(ON_MAIN));
      expect(error.message).toContain(`the branch already has a primary compute: ${DEMO_PRIMARY} on br-main`);
      expect(error.message).toContain('set "adopt: true"');
      expect(error).not.toHaveProperty("id");
      await h.clearFaults();
      await h.fault({ ...LAGGING_COMPUTES, times });
      expect((await h.create({ ...ON_MAIN, adopt: true })).id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
      expect((await h.mutations()).map(({ method }) => method)).toEqual(["POST", "POST"]);
    });
  });
});

test("a compute that is adopted by its id and only a later list shows is taken over", async () => {
  const h = await computes();
  await h.fault({ ...LAGGING_COMPUTES, times: 1 });
  expect((await h.create({ ...ON_MAIN, adopt: DEMO_PRIMARY })).id).toBe(`${PROJECT}/${DEMO_PRIMARY}`);
  expect(await h.mutations()).toEqual([]);
});

test.each([{}, { adopt: true }])(
  "a compute that no list shows and that is refused nevertheless (%j) is reported with what to do",
  async (more) => {
    const h = await computes();
    await h.fault({ ...LAGGING_COMPUTES, times: 0 });
    const error = await thrownBy(h.create({ ...ON_MAIN, ...more }));
    expect(error.message).toMatch(/409.*the service does not list.*br-main.*run pulumi up again.*delete it first/);
    expect(error).not.toHaveProperty("id");
  },
);

test("a schema is not to be dropped for a list that lags for long: first comes another up", async () => {
  const h = await harness(authIntegration);
  await withIntegration(h);
  await h.fault({ ...lagging("integrations", { data: [] }), times: 0 });
  const error = await thrownBy(h.create({ projectId: PROJECT, branchId: "br-main" }));
  expect(error.message).toMatch(/409.*Lists can be out of date: run pulumi up again in a while.*is the same.*schema/);
  expect(error).not.toHaveProperty("id");
});

test.each([
  ["a redirect domain", whitelistDomain, { domain: A, adopt: true }],
  ["a whitelist", whitelist, { domains: [A] }],
])(
  "%s that no list shows and that is refused nevertheless is named, with what to do",
  async (_what, lifecycle, args) => {
    // The two lifecycles differ in their arguments only, which stay raw properties here.
    const h = await harness(lifecycle as typeof whitelist);
    await withIntegration(h);
    await h.edit({ kind: "domain", create: { domain: A } });
    await h.fault({ ...lagging("domains", { domains: [] }), times: 0 });
    const error = await thrownBy(h.create({ projectId: PROJECT, ...args }));
    expect(error.message).toMatch(
      /409.*the service does not list https:\/\/a\.example\.com.*run pulumi up again.*delete it first/,
    );
    expect(error).not.toHaveProperty("id");
  },
);

test("a whitelist that one list lacks has lost nothing, so a destroy after the refresh leaves nothing behind", async () => {
  const h = await harness(whitelist);
  await withIntegration(h);
  const state = await h.create({ projectId: PROJECT, domains: [A, B] });
  h.restart();
  await h.fault(lagging("domains", { domains: [{ domain: A, auth_provider: PROVIDER }] }));
  const found = await h.read(state);
  expect(found?.inputs).toMatchObject({ domains: [A, B] });
  await h.delete({ id: PROJECT, outs: found?.outs ?? {} });
  expect(await listed(h)).toEqual([]);
});

test("an OAuth provider that no list shows and that is refused nevertheless is named, with what to do", async () => {
  const h = await harness(oauthProvider);
  await withIntegration(h);
  await h.fault({ ...lagging("oauth_providers", { providers: [] }), times: 0 });
  const error = await thrownBy(h.create({ projectId: PROJECT, providerId: "google", adopt: true }));
  expect(error.message).toMatch(
    /409.*the service does not list the OAuth provider google.*run pulumi up again.*delete it first/,
  );
  expect(error).not.toHaveProperty("id");
});

test("an OAuth provider that one list lacks is updated anyway", async () => {
  const h = await harness(oauthProvider);
  await withIntegration(h);
  const inputs = { projectId: PROJECT, providerId: "gitlab", clientId: "own-id", clientSecret: "canary-Zq8" };
  const state = await h.create(inputs);
  await h.fault(lagging("oauth_providers", { providers: [] }));
  expect((await h.update(state, { ...inputs, clientId: "other" })).outs).toMatchObject({ clientId: "other" });
});

test("an integration that a list still shows under its name, but that is an earlier one, lends its identity to nobody", async () => {
  const h = await harness(authIntegration);
  const state = await h.create({ projectId: PROJECT });
  const earlier = { auth_provider: PROVIDER, auth_provider_project_id: "earlier", branch_id: "br-main" };
  h.restart();
  await h.fault(lagging("integrations", { data: [earlier] }));
  expect((await h.read(state))?.outs).toEqual(state.outs);
});
