import { Stack } from "./Stack";

test("a branch's primary is taken over, brought to what is declared, and survives destroy when it is to be retained", async () => {
  const program = (args: string) =>
    `new svc.ComputeEndpoint("main", { projectId: "prj-demo", branchId: "br-main", size: 1 ${args} }, { retainOnDelete: true });`;
  const stack = await Stack.create({ program: program("") });
  const { service } = stack;
  const [primary] = await service.endpoints();

  const refused = await stack.up();
  expect(refused.code).not.toBe(0);
  expect(refused.text).toMatch(
    new RegExp(
      `the branch has a primary compute already: ${String(primary?.["id"])} on br-main, made .* ago\\. .*"adopt: true"`,
    ),
  );
  stack.program(program(", adopt: true"));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("main")).id).toBe(`prj-demo/${String(primary?.["id"])}`);
  expect(await service.endpoints()).toEqual([
    expect.objectContaining({ id: primary?.["id"], autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 }),
  ]);
  expect(await stack.drift()).toMatchObject({ code: 0 });
  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect((await service.endpoints()).map(({ id }) => id)).toEqual([primary?.["id"]]);
});

test("a group of one primary and three replicas is created, grown, moved and destroyed", async () => {
  const program = (branchId: string, replicas: number) => `
    const group = new svc.ComputeGroup("db", { projectId: "prj-demo", branchId: "${branchId}", primary: { size: 1 }, replicas: ${replicas} });
    exports.hosts = group.hosts;`;
  const stack = await Stack.create({ program: program("br-dev", 2) });
  const { service } = stack;
  const before = await service.state();
  const types = async (branchId: string) =>
    (await service.endpoints()).filter(({ branch_id }) => branch_id === branchId).map(({ type }) => type);

  expect(await stack.up()).toMatchObject({ code: 0 });
  stack.program(program("br-dev", 3));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await types("br-dev")).sort()).toEqual(["read_only", "read_only", "read_only", "read_write"]);
  const { hosts } = await stack.outputs();
  expect(hosts).toMatchObject({ primary: expect.stringMatching(/^ep-/), replicas: expect.any(Array) });

  stack.program(program("br-test", 3));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await types("br-test")).toHaveLength(4);
  expect(await stack.outputs()).toEqual({ hosts });
  await stack.finish(before);
});
