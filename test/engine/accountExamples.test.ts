import { exampleStack } from "../support/example";
import { Service } from "../support/service";

let other: Service;
beforeAll(async () => {
  other = await Service.start({ apiKey: "canary-key-of-production", projects: ["prj-live"] });
});
afterAll(() => other.emulator.close());

test("examples/multi-account puts the same into two accounts, each with its own key by name, and finds drift in both after a rotation", async () => {
  const stack = await exampleStack("multi-account");
  const staging = stack.service;
  const key = other.emulator.apiKey;
  const [before, otherBefore] = [await staging.state(), await other.state()];
  // Nothing may use the default provider.
  for (const setting of ["svc:apiKey", "svc:baseUrl"]) await stack.removeConfig(setting);
  for (const [name, { emulator }, projectId, branchId] of [
    ["staging", staging, "prj-demo", "br-dev"],
    ["production", other, "prj-live", "br-dev-prj-live"],
  ] as const) {
    stack.env[`${name.toUpperCase()}_SVC_KEY`] = emulator.apiKey;
    await stack.config(`${name}BaseUrl`, emulator.baseUrl);
    await stack.config(`${name}ProjectId`, projectId);
    await stack.config(`${name}BranchId`, branchId);
  }

  expect(await stack.up()).toMatchObject({ code: 0 });
  const made = async (service: Service, projectId: string) => {
    const endpoints = await service.endpoints(projectId);
    const { domains } = await service.list(`/projects/${projectId}/auth/domains`);
    return [
      endpoints.map(({ branch_id, autoscaling_limit_max_cu: max }) => [branch_id, max]).slice(1),
      (domains as { domain: string }[]).map(({ domain }) => domain),
    ];
  };
  expect(await made(staging, "prj-demo")).toEqual([[["br-dev", 1]], ["https://staging.example.com"]]);
  expect(await made(other, "prj-live")).toEqual([[["br-dev-prj-live", 4]], ["https://production.example.com"]]);
  expect(await stack.outputs()).toEqual({
    hosts: { staging: expect.stringMatching(/^ep-/), production: expect.stringMatching(/^ep-/) },
    defaultBranches: { staging: "br-main", production: "br-main-prj-live" },
  });

  // The refresh asks each account with its own key, also with one that no up has seen.
  const [, compute] = await other.endpoints("prj-live");
  await other.edit({
    kind: "endpoint",
    project_id: "prj-live",
    id: compute?.["id"],
    set: { autoscaling_limit_max_cu: 8 },
  });
  const rotated = "canary-key-of-production-rotated";
  await other.rotateKey(rotated);
  stack.env["PRODUCTION_SVC_KEY"] = rotated;
  expect(await stack.drift()).toMatchObject({ code: 7, text: expect.stringMatching(/production-api/) });
  expect(await stack.up("--refresh")).toMatchObject({ code: 0, text: expect.stringMatching(/~ 1 updated/) });
  expect(await made(other, "prj-live")).toEqual([[["br-dev-prj-live", 4]], ["https://production.example.com"]]);

  expect(await stack.leaks([key, rotated])).toEqual([]);
  await stack.finish(before);
  const ids = ({ projects }: typeof before) => projects.map(({ endpoints }) => (endpoints as object[]).length);
  expect(ids(await other.state())).toEqual(ids(otherBefore));
  expect((await other.state()).projects).toMatchObject([{ integrations: [], domains: [] }]);
});
