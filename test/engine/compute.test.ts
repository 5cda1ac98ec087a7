import { Stack } from "../support/Stack";

const POINTER = (kind: string) =>
  `exports.handler=()=>require(require.resolve("pulumi-svc/provider",{paths:[".",require.main.path]})).load("${kind}")`;

const program = (args: string, options = "") =>
  `const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} }, { ${options} });
   exports.host = api.host;`;

test("a compute is created, left alone, found drifted, repaired, resized, moved, replaced and destroyed", async () => {
  const stack = await Stack.create({ program: program("size: 1, scaleToZero: false") });
  const { service } = stack;
  const before = await service.state();

  expect(await stack.up()).toMatchObject({ code: 0 });
  const created = await stack.resource("api");
  const endpointId = created.outputs["endpointId"];
  const [endpoint] = (await service.endpoints()).filter(({ id }) => id === endpointId);
  expect(endpoint).toMatchObject({
    branch_id: "br-dev",
    type: "read_write",
    current_state: "active",
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 1,
    suspend_timeout_seconds: -1,
  });
  expect(created.id).toBe(`prj-demo/${String(endpointId)}`);
  expect(created.inputs["__provider"]).toBe(POINTER("ComputeEndpoint"));
  expect(created.outputs["__provider"]).toBe(POINTER("ComputeEndpoint"));

  await service.clearRequests();
  expect(await stack.up("--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);

  await service.edit({
    kind: "endpoint",
    id: endpointId,
    set: { autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 4 },
  });
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  expect(drift.text).toMatch(/~ size\s*: 4 => 1/);
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect((await service.endpoints()).find(({ id }) => id === endpointId)).toMatchObject({
    autoscaling_limit_max_cu: 1,
  });

  stack.program(program("size: { min: 1, max: 4 }, scaleToZero: false"));
  const resize = await stack.preview();
  expect(resize.text).toContain(
    `warning: a change of "size" restarts compute ${String(endpointId)} ("api") when it is active: open connections are dropped`,
  );
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const patches = (await service.requests()).filter(({ method }) => method === "PATCH");
  expect(patches.map(({ body }) => body)).toEqual([
    { endpoint: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 } },
  ]);

  const { host } = (await stack.resource("api")).outputs;
  stack.program(program("size: { min: 1, max: 4 }, scaleToZero: false").replace("br-dev", "br-test"));
  expect((await stack.preview()).text).toMatch(/moves from br-dev to br-test: it keeps its id and host/);
  expect(await stack.up()).toMatchObject({ code: 0 });
  const moved = await stack.resource("api");
  expect(moved).toMatchObject({ id: created.id, outputs: { host, branchId: "br-test" } });
  expect((await service.endpoints()).find(({ id }) => id === endpointId)).toMatchObject({ branch_id: "br-test" });

  stack.program(
    program('size: { min: 1, max: 4 }, scaleToZero: false, type: "read_only"').replace("br-dev", "br-test"),
  );
  const replacement = await stack.preview();
  expect(replacement.text).toMatch(/\+-1 to replace/);
  expect(replacement.text).toContain(
    `ComputeEndpoint prj-demo/${String(endpointId)} ("api") is replaced, because "type" changes`,
  );
  await service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await service.mutations()).map((request) => request.split(" ")[0])).toEqual(["POST", "DELETE"]);
  expect((await stack.resource("api")).id).not.toBe(created.id);

  await stack.finish(before);
});
