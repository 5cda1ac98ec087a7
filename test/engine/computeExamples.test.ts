import { exampleStack, readmeStack } from "../support/example";

const primaryOf = (endpoints: Record<string, unknown>[], branchId: string) =>
  endpoints.find(({ type, branch_id }) => type === "read_write" && branch_id === branchId);

test("the program that the README shows is deployed and destroyed as it stands", async () => {
  const stack = await readmeStack();
  const before = await stack.service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.outputs()).toMatchObject({
    host: expect.stringMatching(/^ep-/),
    jwksUrl: expect.stringMatching(/^http:.*\/\.well-known\/jwks\.json$/),
  });
  await stack.finish(before);
});

test("examples/branch-move moves its compute, which keeps its id and host", async () => {
  const stack = await exampleStack("branch-move");
  const { service } = stack;
  const before = await service.state();
  await stack.config("branchId", "br-dev");
  expect(await stack.up()).toMatchObject({ code: 0 });
  const first = primaryOf(await service.endpoints(), "br-dev");
  await stack.config("branchId", "br-test");
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(primaryOf(await service.endpoints(), "br-test")).toMatchObject({ id: first?.["id"], host: first?.["host"] });
  await stack.finish(before);
});

test("examples/read-replicas makes a primary and its replicas", async () => {
  const stack = await exampleStack("read-replicas");
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const made = (await service.endpoints()).filter(({ branch_id }) => branch_id !== "br-main");
  expect(made.map(({ type }) => type).sort()).toEqual(["read_only", "read_only", "read_write"]);
  await stack.finish(before);
});

test("examples/quickstart is deployed on another project by the settings that its README names", async () => {
  const stack = await exampleStack("quickstart");
  const { service } = stack;
  await service.addProject({ id: "prj-shop" });
  const before = await service.state();
  await stack.config("projectId", "prj-shop");
  await stack.config("branchId", "br-dev-prj-shop");

  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(primaryOf(await service.endpoints("prj-shop"), "br-dev-prj-shop")).toBeDefined();
  expect(await service.list("/projects/prj-shop/auth/integrations")).toMatchObject({
    data: [{ branch_id: "br-main-prj-shop", db_name: "svcdb" }],
  });
  await stack.finish(before);
});
