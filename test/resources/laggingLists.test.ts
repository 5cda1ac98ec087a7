import { authIntegration } from "../../src/lifecycles/AuthIntegration";
import { oauthProvider } from "../../src/lifecycles/OAuthProvider";
import { whitelistDomain } from "../../src/lifecycles/WhitelistDomain";
import { harness, PROJECT, PROVIDER } from "./harness";

/** One answer of a list that lacks everything, then the truth: lists lag (service-notes.md, "Behaviour"). */
const lagging = (route: string, body: object) => ({
  method: "GET",
  path: `/projects/{project_id}/auth/${route}`,
  status: 200,
  body,
});

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
