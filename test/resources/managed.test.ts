import { authIntegration } from "../../src/resources/authIntegration/authIntegrationLifecycle";
import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import { oauthProvider } from "../../src/resources/oauthProvider/oauthProviderLifecycle";
import { harness, PROJECT, PROVIDER, urnOf, type Harness } from "../support/harness";

/** What is managed from now on, no longer, or never was. */

const COMPUTE = { projectId: PROJECT, branchId: "br-dev" };

const endpointOf = async (h: Harness, id: string) => {
  const { endpoints } = (await h.get(`/projects/${PROJECT}/endpoints`)) as { endpoints: { id: string }[] };
  return endpoints.find((endpoint) => id.endsWith(endpoint.id));
};

test("an argument that is managed again is set to its value if the service shows another than the stored one", async () => {
  const h = await harness(computeEndpoint);
  const state = await h.create({ ...COMPUTE });
  const stored = { min: state.outs["autoscalingLimitMinCu"], max: state.outs["autoscalingLimitMaxCu"] };
  const moved = { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 };
  await h.edit({ kind: "endpoint", project_id: PROJECT, id: state.id.split("/")[1], set: moved });
  h.restart();
  const { outs } = await h.update(state, { ...COMPUTE, size: stored });
  expect(await endpointOf(h, state.id)).toMatchObject({
    autoscaling_limit_min_cu: stored.min,
    autoscaling_limit_max_cu: stored.max,
  });
  expect(outs).toMatchObject({ size: stored, autoscalingLimitMaxCu: stored.max });
});

test("a part of the settings that is taken out stays at the service, sends nothing, and the plan says so", async () => {
  const h = await harness(computeEndpoint);
  const pgSettings = { work_mem: "64MB" };
  const preloadLibraries = { useDefaults: true };
  const inputs = { ...COMPUTE, __urn: urnOf("ComputeEndpoint") };
  const state = await h.create({ ...inputs, settings: { pgSettings, preloadLibraries } });
  await h.forgetRequests();
  const news = { ...inputs, settings: { preloadLibraries } };
  await h.check(news, { ...inputs, settings: { pgSettings, preloadLibraries } });
  await h.diff(state, news);
  expect(h.log.filter(({ severity }) => severity === "warning").map(({ message }) => message)).toEqual([
    expect.stringMatching(/^"settings\.pgSettings" of compute ep-\S+ \("thing"\) is no longer managed/),
  ]);
  await h.update(state, news);
  expect(await h.mutations()).toEqual([]);
  expect(await endpointOf(h, state.id)).toMatchObject({ settings: { pg_settings: pgSettings } });
});

test("nothing is reported to stay if a replacement takes nothing over", async () => {
  const h = await harness(computeEndpoint);
  const inputs = { ...COMPUTE, __urn: urnOf("ComputeEndpoint") };
  const state = await h.create({ ...inputs, size: 1 });
  await h.check({ ...inputs, type: "read_only" }, { ...inputs, size: 1 });
  await h.diff(state, { ...inputs, type: "read_only" });
  expect(h.log.map(({ message }) => message).filter((message) => message.includes("no longer managed"))).toEqual([]);
});

test("an OAuth provider that is only looked up stays so, however often it is read", async () => {
  const h = await harness(oauthProvider);
  await h.post("/projects/auth/create", { project_id: PROJECT, auth_provider: PROVIDER, branch_id: "br-main" });
  const own = { id: "gitlab", client_id: "their-id", client_secret: "canary-theirs" };
  await h.post(`/projects/${PROJECT}/auth/oauth_providers`, own);
  const first = await h.read({ id: `${PROJECT}/gitlab`, outs: {} });
  if (first === undefined) throw new Error("not found");
  const second = await h.read({ id: first.id, outs: first.outs });
  expect(second).toEqual(first);
  expect(first.outs).not.toHaveProperty("__args");
});

test("declaring the role that the service took by default replaces nothing; another one replaces", async () => {
  const h = await harness(authIntegration);
  const state = await h.create({ projectId: PROJECT });
  expect((await h.diff(state, { projectId: PROJECT, roleName: "svcdb_owner" })).replaces).toEqual([]);
  expect((await h.diff(state, { projectId: PROJECT, roleName: "other" })).replaces).toEqual(["roleName"]);
});
