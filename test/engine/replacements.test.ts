/**
 * Replacements of a compute: what can be created first is, so that a refusal loses nothing; what must be deleted first
 * is, once it is proven that the new one would be accepted (docs/design/rules.md, 9). Looked at from the service.
 */
import { declaredBy, PROTOCOLS, type Protocol } from "../support/protocols";
import type { Run } from "../support/cli";
import { Stack } from "../support/Stack";

const DELETE = "DELETE /projects/{project_id}/endpoints/{endpoint_id}";
const POST = "POST /projects/{project_id}/endpoints";
const WAY_OUT = 'set "deleteBeforeReplace: true" in its options for that run';

interface Scene {
  readonly stack: Stack;
  readonly before: Awaited<ReturnType<Stack["service"]["state"]>>;
  readonly ids: (projectId?: string) => Promise<unknown[]>;
  readonly program: (args: string, options?: string, more?: string) => void;
}

function expectRefused({ code, text }: Run, words: string | RegExp): void {
  expect(text).toMatch(words);
  expect(code).not.toBe(0);
}

/** A stack with one compute. */
async function started(protocol: Protocol, given: { args?: string; type?: string } = {}): Promise<Scene> {
  const { args = "size: 1", type = "" } = given;
  const declared = declaredBy(protocol);
  const text = (more: string, options = "{}", others = ""): string =>
    `${declared("ComputeEndpoint", "api", `{ projectId: "prj-demo", branchId: "br-dev"${type}, ${more} }`, options)};\n${others}`;
  const stack = await Stack.create({ program: text(args), native: protocol === "native", cheapDigests: true });
  const { service } = stack;
  await service.addProject({
    id: "prj-other",
    branches: ["br-main", "br-dev"].map((id, i) => ({ id, default: i === 0 })),
  });
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.clearRequests();
  return {
    stack,
    before,
    ids: async (projectId) => (await service.endpoints(projectId)).map(({ id }) => id).toSorted(),
    program: (more, options, others) => stack.program(text(more, options, others)),
  };
}

describe.each(PROTOCOLS)("a primary, through the %s protocol", (protocol) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await started(protocol);
  });
  afterAll(async () => {
    const { stack, before, program } = scene;
    program("size: 1", '{ aliases: [{ name: "renamed" }] }');
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.finish(before);
  });

  beforeEach(async () => {
    await scene.stack.service.clearFaults();
    await scene.stack.service.clearRequests();
  });

  test("a region that is not the project's is refused by the plan, and again before the deletion", async () => {
    const { stack, ids, program } = scene;
    const computes = await ids();
    const state = await stack.entries();
    program('size: 1, regionId: "aws-eu-central-9"');
    const words = /might not come back: "regionId" must be the region of the project, which is aws-us-east-1/;
    expectRefused(await stack.preview(), words);
    expectRefused(await stack.run("up", "--yes"), words);
    const up = await stack.up();
    expectRefused(up, words);
    expect(up.text).toMatch(/Could not delete ComputeEndpoint \S+ \("api"\): nothing is deleted/);
    expect(await stack.service.mutations()).toEqual([]);
    expect(await ids()).toEqual(computes);
    expect(await stack.entries()).toEqual(state);
  });

  test("the same after a rename with an alias, where the deletion carries the former URN", async () => {
    const { stack, ids } = scene;
    const computes = await ids();
    const args = '{ projectId: "prj-demo", branchId: "br-dev", size: 1, regionId: "aws-eu-central-9" }';
    stack.program(declaredBy(protocol)("ComputeEndpoint", "renamed", args, '{ aliases: [{ name: "api" }] }'));
    const up = await stack.up();
    expectRefused(up, "nothing is deleted");
    expect(await stack.service.mutations()).toEqual([]);
    expect(await ids()).toEqual(computes);
  });

  test("the region of the project, declared for the first time, replaces nothing", async () => {
    const { stack, program } = scene;
    program('size: 1, regionId: "aws-us-east-1"', '{ aliases: [{ name: "renamed" }] }');
    const plan = await stack.preview();
    expect(plan).toMatchObject({ code: 0, text: expect.not.stringMatching(/replace/) });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([]);
    program("size: 1");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("replaceOnChanges: the plan says that it is replaced, and by what; up does that", async () => {
    const { stack, program } = scene;
    const { id } = await stack.resource("api");
    program("size: 2", '{ replaceOnChanges: ["size"] }');
    const plan = await stack.preview();
    expect(plan).toMatchObject({ code: 0, text: expect.stringMatching(/\+-1 to replace/) });
    expect(plan.text).toContain(
      `ComputeEndpoint ${id} ("api") is replaced, because the option "replaceOnChanges" asks for it: it is deleted first, and the new one has another id and another host`,
    );
    expect(plan.text).not.toContain("somebody has moved it");
    expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([DELETE, POST]);
    expect((await stack.resource("api")).id).not.toBe(id);
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("retainOnDelete: what excludes its successor is not replaced, and stays", async () => {
    const { stack, ids, program } = scene;
    program("size: 2", '{ replaceOnChanges: ["size"], retainOnDelete: true }');
    expect(await stack.up()).toMatchObject({ code: 0 });
    const computes = await ids();
    await stack.service.clearRequests();
    program("size: 1", '{ replaceOnChanges: ["size"], retainOnDelete: true }');
    // Only the dynamic protocol knows the option; through the other one the engine keeps it, and its creation fails.
    const words =
      protocol === "dynamic"
        ? /cannot be replaced: the option "retainOnDelete" keeps it at the service.*Leave the option out, or undo the change/
        : /the branch already has a primary compute/;
    if (protocol === "dynamic") expectRefused(await stack.preview(), words);
    expectRefused(await stack.up(), words);
    expect(await stack.service.mutations()).toEqual([]);
    expect(await ids()).toEqual(computes);
    if (protocol === "native") {
      // It is in no state until it is adopted.
      program("size: 1, adopt: true");
      expect(await stack.up()).toMatchObject({ code: 0 });
    }
    program("size: 2");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test.each(["--replace", "state taint"])(
    "%s: fails and loses nothing, and its way out works and is guarded",
    async (how) => {
      const { stack, ids, program } = scene;
      program("size: 2");
      const computes = await ids();
      const { urn, id } = await stack.resource("api");
      const up = () => (how === "--replace" ? stack.up("--replace", urn) : stack.up());
      if (how !== "--replace") expect(await stack.run("state", "taint", urn, "--yes")).toMatchObject({ code: 0 });
      expectRefused(await up(), WAY_OUT);
      expect(await stack.service.mutations()).toEqual([]);
      program('size: 2, regionId: "aws-eu-central-9"', "{ deleteBeforeReplace: true }");
      expectRefused(await up(), /nothing is deleted.*regionId/);
      expect(await stack.service.mutations()).toEqual([]);
      expect(await ids()).toEqual(computes);
      program("size: 2", "{ deleteBeforeReplace: true }");
      expect(await up()).toMatchObject({ code: 0 });
      expect(await stack.service.mutations()).toEqual([DELETE, POST]);
      expect((await stack.resource("api")).id).not.toBe(id);
    },
  );

  test("--replace with adopt: what is to replace it takes it over, and a warning says so", async () => {
    const { stack, ids, program } = scene;
    const computes = await ids();
    const { urn, id } = await stack.resource("api");
    program("size: 2, adopt: true");
    const up = await stack.up("--replace", urn);
    expect(up).toMatchObject({ code: 0, text: expect.stringContaining(`${id} ("api") was not replaced: `) });
    expect(await ids()).toEqual(computes);
    expect((await stack.resource("api")).id).toBe(id);
  });

  test("a service that refuses all the same: the message says what is lost, and the next up creates it", async () => {
    const { stack, ids, program } = scene;
    const { id } = await stack.resource("api");
    program("size: 1", '{ replaceOnChanges: ["size"] }');
    const body = { code: "limit", message: "the plan of this account ends at 2 CU" };
    await stack.service.fault({
      method: "POST",
      path: "/projects/{project_id}/endpoints",
      status: 400,
      body,
      times: 0,
    });
    const up = await stack.up();
    expect(up.code).not.toBe(0);
    expect(up.text).toMatch(
      new RegExp(
        `error: ComputeEndpoint ${id} \\("api"\\) was deleted to be replaced, and the new one could not be created: .*ends at 2 CU`,
      ),
    );
    expect(up.text).toContain("run pulumi up again, which creates it: the new compute has another id and another host");
    expect(await ids()).toEqual([expect.stringContaining("ep-demo-main")]);
    expect(JSON.parse(await stack.exported())).toMatchObject({
      deployment: { resources: expect.arrayContaining([expect.objectContaining({ id, pendingReplacement: true })]) },
    });
    await stack.service.clearFaults();
    await stack.service.clearRequests();
    program("size: 2", '{ replaceOnChanges: ["size"] }');
    expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([POST]);
    expect(await ids()).toHaveLength(2);
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  });

  test("a value that is missing is asked for before anything is deleted", async () => {
    const { stack, ids, program } = scene;
    const computes = await ids();
    stack.env["PG_VALUE"] = "v1";
    const settings = 'settings: { pgSettings: { "app.value": { fromEnv: "PG_VALUE" } } }';
    program(`size: 2, ${settings}`);
    expect(await stack.up()).toMatchObject({ code: 0 });
    await stack.service.clearRequests();
    delete stack.env["PG_VALUE"];
    program(`size: 1, ${settings}`, '{ replaceOnChanges: ["size"] }');
    expectRefused(await stack.up(), /the replacement needs "settings.*PG_VALUE is not set. Nothing is deleted/);
    expect(await stack.service.mutations()).toEqual([]);
    expect(await ids()).toEqual(computes);
    program("size: 2");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });

  test("in another project it is created first: where the branch is taken, nothing is lost", async () => {
    const { stack, ids } = scene;
    const computes = await ids();
    const elsewhere = (branchId: string): string =>
      declaredBy(protocol)("ComputeEndpoint", "api", `{ projectId: "prj-other", branchId: "${branchId}", size: 2 }`);
    const { service } = stack;
    await service.edit({
      project_id: "prj-other",
      kind: "endpoint",
      create: { branch_id: "br-main", type: "read_write" },
    });
    const [theirs] = await ids("prj-other");
    stack.program(elsewhere("br-main"));
    const plan = await stack.preview();
    expect(plan.text).toContain("it is deleted last, and the new one has another id and another host");
    const words = /the branch already has a primary compute/;
    expect(plan.text).toMatch(words);
    expectRefused(await stack.up(), words);
    expect(await service.mutations()).toEqual([]);
    expect(await ids()).toEqual(computes);
    stack.program(elsewhere("br-dev"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await service.mutations()).toEqual([POST, DELETE]);
    expect(await ids("prj-other")).toHaveLength(2);
    await service.edit({ project_id: "prj-other", kind: "endpoint", id: theirs, delete: true });
    // Back again.
    scene.program("size: 2");
    expect(await stack.up()).toMatchObject({ code: 0 });
  });
});

describe.each(PROTOCOLS)("a read replica, through the %s protocol", (protocol) => {
  test("is created first, with the same name too, and the old one stays where that is refused", async () => {
    const { stack, before, ids, program } = await started(protocol, {
      type: ', type: "read_only"',
      args: 'size: 1, name: "reader"',
    });
    const [own] = (await ids()).filter((id) => !String(id).startsWith("ep-demo"));
    const idOf = async () => (await stack.resource("api")).id.replace("prj-demo/", "");

    program('size: 1, name: "reader", regionId: "aws-eu-central-9"');
    expect((await stack.preview()).text).toContain("it is deleted last, and the new one has another id");
    const refused = await stack.up();
    expect(refused.code).not.toBe(0);
    expect(refused.text).toMatch(/Could not create ComputeEndpoint \("api"\): .*region_id must be the region/);
    expect(await ids()).toContain(own);
    expect(await idOf()).toBe(own);
    // The next plan is the same, and a mended program has nothing to do.
    expect((await stack.preview()).text).toMatch(/\+-1 to replace/);
    program('size: 1, name: "reader"');
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });

    await stack.service.clearRequests();
    program('size: 2, name: "reader"', '{ replaceOnChanges: ["size"] }');
    expect(await stack.run("up", "--yes")).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([POST, DELETE]);
    expect(await ids()).not.toContain(own);

    // Nothing tells the provider that the one with this name is its own.
    await stack.service.clearRequests();
    const { urn } = await stack.resource("api");
    const named = await stack.up("--replace", urn);
    expect(named.code).not.toBe(0);
    expect(named.text).toMatch(/already has a read replica of this name/);
    expect(named.text).toContain(WAY_OUT);
    program('size: 2, name: "reader"', "{ deleteBeforeReplace: true }");
    expect(await stack.up("--replace", urn)).toMatchObject({ code: 0 });
    expect(await stack.service.mutations()).toEqual([DELETE, POST]);

    program("size: 2");
    expect(await stack.up()).toMatchObject({ code: 0 });
    for (const how of ["--replace", "state taint"]) {
      const second = await idOf();
      await stack.service.clearRequests();
      if (how !== "--replace") expect(await stack.run("state", "taint", urn, "--yes")).toMatchObject({ code: 0 });
      expect(await stack.up(...(how === "--replace" ? ["--replace", urn] : []))).toMatchObject({ code: 0 });
      expect(await stack.service.mutations()).toEqual([POST, DELETE]);
      expect(await ids()).not.toContain(second);
    }
    await stack.finish(before);
  });

  test("with deletionProtection and without protect, --replace leaves the old one over, and the message says how to end that", async () => {
    const { stack, ids } = await started(protocol, {
      type: ', type: "read_only"',
      args: "size: 1, deletionProtection: true",
    });
    stack.program(
      declaredBy(protocol)(
        "ComputeEndpoint",
        "api",
        '{ projectId: "prj-demo", branchId: "br-dev", type: "read_only", size: 1, deletionProtection: true }',
        "{ protect: false }",
      ),
    );
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { urn, id } = await stack.resource("api");
    const own = id.replace("prj-demo/", "");
    const up = await stack.up("--replace", urn);
    expect(up.code).not.toBe(0);
    expect(up.text).toMatch(/its "deletionProtection" is on.*Delete it at the service if it is not needed/);
    expect(await ids()).toContain(own);
    await stack.service.edit({ kind: "endpoint", id: own, delete: true });
    expect(await stack.refresh()).toMatchObject({ code: 0 });
    expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
    expect((await stack.resources()).map((one) => one.urn)).toEqual([urn]);
    expect((await stack.resource("api")).id).not.toBe(id);
  });
});
