import { Stack } from "../support/Stack";

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
      `the branch already has a primary compute: ${String(primary?.["id"])} on br-main, created .* ago\\. .*"adopt: true"`,
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

test("what an adoption does is reported by the plan, and adopt may stay in the program of a replacement", async () => {
  const program = (id: string, args: string, options = "") =>
    `new svc.ComputeEndpoint("main", { projectId: "prj-demo", branchId: "br-dev", adopt: "${id}", ${args} }${options});`;
  const stack = await Stack.create({ program: "" });
  const { service } = stack;
  const before = await service.state();
  await service.edit({ kind: "endpoint", create: { branch_id: "br-dev", type: "read_write" } });
  const id = String((await service.endpoints()).find(({ branch_id }) => branch_id === "br-dev")?.["id"]);
  const ids = async () => (await service.endpoints()).map((endpoint) => endpoint["id"]);

  stack.program(program(id, 'size: 1, type: "read_write"'));
  const plan = await stack.preview();
  expect(plan.text).toContain(`warning: pulumi up takes over ${id} on br-dev instead of creating a compute: `);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("main")).id).toBe(`prj-demo/${id}`);

  stack.program(program(id, 'size: 1, type: "read_only"'));
  const replaced = await stack.run("up", "--yes");
  expect(replaced.code).toBe(0);
  expect(replaced.text).toContain(`another id and another host; "adopt", which names the old one, has no effect then`);
  expect(replaced.text).not.toContain("takes over");
  const second = (await stack.resource("main")).id;
  expect(second).not.toBe(`prj-demo/${id}`);
  expect(await ids()).not.toContain(id);

  stack.program(program(second.replace("prj-demo/", ""), 'size: 1, type: "read_only"'));
  // The engine asks nobody, and creates first: what is to replace it adopts it.
  const { urn } = await stack.resource("main");
  const itself = await stack.up("--replace", urn);
  expect(itself.code).toBe(0);
  expect(itself.text).toContain(`warning: ComputeEndpoint ${second} ("main") was not replaced: `);
  expect((await stack.resource("main")).id).toBe(second);
  expect(await ids()).toContain(second.replace("prj-demo/", ""));
  stack.program(
    program(second.replace("prj-demo/", ""), 'size: 1, type: "read_only"', ", { deleteBeforeReplace: true }"),
  );
  expect(await stack.up("--replace", urn)).toMatchObject({ code: 0 });
  expect((await stack.resource("main")).id).not.toBe(second);
  await stack.finish(before);
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
  expect(hosts).toMatchObject({
    primary: expect.stringMatching(/^ep-/),
    replicas: { "0": expect.stringMatching(/^ep-/) },
  });

  stack.program(program("br-test", 3));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await types("br-test")).toHaveLength(4);
  expect(await stack.outputs()).toEqual({ hosts });
  await stack.finish(before);
});
