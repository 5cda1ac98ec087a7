import { Stack } from "../support/Stack";

/** Pulumi's resource options that a dynamic resource may easily ignore. */
describe("the options of a resource", () => {
  const program = (args: string, options: string, before = "") =>
    `${before}
     new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} }, { ${options} });`;
  let stack: Stack;
  let before: Awaited<ReturnType<Stack["service"]["state"]>>;
  beforeAll(async () => {
    stack = await Stack.create({ program: program("size: 1", "") });
    before = await stack.service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    stack.program(program("size: 2", ""));
    await stack.finish(before);
  });

  const plan = async (text: string): Promise<{ changeSummary: Record<string, number>; steps: Step[] }> => {
    stack.program(text);
    const { stdout } = await stack.run("preview", "--json");
    return JSON.parse(stdout) as { changeSummary: Record<string, number>; steps: Step[] };
  };
  interface Step {
    op: string;
    urn: string;
    detailedDiff: Record<string, unknown> | null;
    diffReasons?: string[];
  }

  test("replaceOnChanges makes a change of that argument a replacement, which deletes first", async () => {
    const text = program("size: 2", 'replaceOnChanges: ["size"]');
    expect((await plan(text)).steps.find(({ urn }) => urn.endsWith("::api"))).toMatchObject({ op: "replace" });
    const { id } = await stack.resource("api");
    await stack.service.clearRequests();
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([
      "DELETE /projects/{project_id}/endpoints/{endpoint_id}",
      "POST /projects/{project_id}/endpoints",
    ]);
    expect((await stack.resource("api")).id).not.toBe(id);
  });

  test("ignoreChanges leaves a change alone", async () => {
    const { changeSummary } = await plan(program("size: 1", 'ignoreChanges: ["size"]'));
    expect(changeSummary["update"] ?? 0).toBe(0);
  });

  test("a path that leads to no argument is warned of by the plan, with the nearest one, and stored nowhere", async () => {
    stack.program(program("size: 2", 'ignoreChanges: ["siz", "size.maximum"], replaceOnChanges: ["sise"]'));
    const { code, text } = await stack.preview();
    expect(code).toBe(0);
    for (const [option, path, nearest] of [
      ["ignoreChanges", "siz", "size"],
      ["ignoreChanges", "size.maximum", "size.max"],
      ["replaceOnChanges", "sise", "size"],
    ])
      expect(text).toContain(
        `warning: "${option}" of ComputeEndpoint ("api") names "${path}", which is no argument and no part of one, so it has no effect. Did you mean "${nearest}"?`,
      );
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
    expect(Object.keys((await stack.resource("api")).inputs).filter((name) => /Changes/.test(name))).toEqual([]);
    stack.program(program("size: 2", ""));
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a plan tells which argument differs, for those who read it by machine", async () => {
    const { steps } = await plan(program("size: 1", ""));
    const step = steps.find(({ urn }) => urn.endsWith("::api"));
    expect(step).toMatchObject({ op: "update", diffReasons: ["size"], detailedDiff: { size: { kind: "update" } } });
  });

  test("a move below a component with an alias, and back, plans nothing", async () => {
    const component = `class Team extends pulumi.ComponentResource { constructor(n) { super("my:Team", n); } }
      const team = new Team("team");`;
    stack.program(program("size: 2", "parent: team, aliases: [{ parent: pulumi.rootStackResource }]", component));
    await stack.service.clearRequests();
    const run = await stack.up();
    expect(run).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).urn).toContain("my:Team$pulumi-nodejs:dynamic/svc:ComputeEndpoint::api");
    // The hidden keys follow, so that later lines go to the right resource.
    expect((await stack.resource("api")).inputs["__urn"]).toBe((await stack.resource("api")).urn);
    expect(await stack.drift()).toMatchObject({ code: 0 });
    stack.program(program("size: 2", 'aliases: [{ parent: "urn:pulumi:dev::proj::my:Team::team" }]'));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([]);
  });

  test("protect keeps it from being replaced and destroyed", async () => {
    stack.program(program("size: 2", "protect: true"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.service.clearRequests();
    const destroy = await stack.destroy();
    expect(destroy.code).not.toBe(0);
    expect(destroy.text).toMatch(/protected/);
    expect(await stack.service.mutations()).toEqual([]);
    stack.program(program("size: 2", ""));
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("a renamed stack resource continues as it was", async () => {
    const { urn, id } = await stack.resource("api");
    expect(await stack.run("state", "rename", urn, "renamed", "--yes")).toMatchObject({ code: 0 });
    stack.program(program("size: 2", "").replace('"api"', '"renamed"'));
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
    expect((await stack.resource("renamed")).id).toBe(id);
    const back = (await stack.resource("renamed")).urn;
    expect(await stack.run("state", "rename", back, "api", "--yes")).toMatchObject({ code: 0 });
  });

  test("import is refused with what to do instead", async () => {
    stack.program(program("size: 2", 'import: "prj-demo/ep-demo-main-10000001"'));
    const run = await stack.preview();
    expect(run.code).not.toBe(0);
    expect(run.text).toMatch(/the option "import" does not work for dynamic resources\..*"adopt: true"/s);
  });

  test("arguments given as one Output are taken by name", async () => {
    stack.program(
      `new svc.ComputeEndpoint("api", pulumi.output({ projectId: "prj-demo", branchId: "br-dev", size: 2 }));`,
    );
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
