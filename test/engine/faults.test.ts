import { ownPort } from "../support/service";
import { Stack } from "../support/Stack";

const CREATE = { method: "POST", path: "/projects/{project_id}/endpoints" };
const compute = (args: string, options = "") =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} }, { ${options} });`;

describe("an up over a service that misbehaves", () => {
  test("waits while someone else holds the project's lock, and says so", async () => {
    const stack = await Stack.create({ program: compute("size: 1"), emulator: { lockProjects: true } });
    const { service } = stack;
    const before = await service.state();
    await service.fault({ ...CREATE, status: 423, times: 6 });
    const run = await stack.up();
    expect(run).toMatchObject({ code: 0 });
    expect(run.text).toMatch(/waiting for an operation of this project that was started outside this run/);
    await stack.finish(before);
  });

  test("obeys Retry-After", async () => {
    const stack = await Stack.create({ program: compute("size: 1") });
    const { service } = stack;
    const before = await service.state();
    await service.fault({ ...CREATE, status: 429, headers: { "retry-after": "2" }, times: 2 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    const posts = (await service.requests()).filter(({ method }) => method === "POST");
    expect(posts.map(({ status }) => status)).toEqual([429, 429, 201]);
    const [first, , last] = posts.map(({ at }) => Date.parse(at));
    expect(Number(last) - Number(first)).toBeGreaterThanOrEqual(3_900);
    await stack.finish(before);
  });
});

describe("a change of a compute that does not end well", () => {
  test("stays in the state with what was sent; the next up makes it good", async () => {
    const stack = await Stack.create({ program: compute("size: 1") });
    const { service } = stack;
    const before = await service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { id } = await stack.resource("api");

    stack.program(compute("size: 4"));
    await service.fault({ operation: { action: "apply_config", status: "error", error: "host is gone" } });
    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(
      /ComputeEndpoint prj-demo\/ep-\S+ was changed, but operation \S+ apply_config error: host is gone.* run pulumi up again/,
    );
    expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 7 });
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect((await stack.resource("api")).id).toBe(id);
    expect((await service.endpoints()).find(({ branch_id }) => branch_id === "br-dev")).toMatchObject({
      autoscaling_limit_max_cu: 4,
      current_state: "active",
    });
    await stack.finish(before);
  });

  test("is given up after its customTimeouts and finished by the next up, also over a refresh", async () => {
    const stack = await Stack.create({
      program: compute("size: 1", 'customTimeouts: { update: "2s" }'),
      emulator: { activationMs: 4_500 },
    });
    const { service } = stack;
    const before = await service.state();
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program(compute("size: 2", 'customTimeouts: { update: "2s" }'));
    const failed = await stack.up();
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(
      /was changed, but still "\w+"( with "\w+" pending)? after 2 s \(operation \S+ apply_config/,
    );
    stack.program(compute("size: 2"));
    await service.clearRequests();
    expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
    expect(await service.mutations()).toEqual([]);
    await stack.finish(before);
  });
});

test("without the service a preview still tells the plan; a refresh and an up fail in words and lose nothing", async () => {
  const stack = await Stack.create({ program: compute("size: 1"), emulator: { port: ownPort() } });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const stored = async () => (await stack.resources()).map(({ id, inputs, outputs }) => ({ id, inputs, outputs }));
  const before = await stored();
  await stack.service.emulator.close();
  stack.program(compute("size: 2"));
  const preview = await stack.preview();
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.text).toMatch(/~ 1 to update/);
  for (const run of [await stack.refresh(), await stack.up()]) {
    expect(run.code).not.toBe(0);
    expect(run.text).toMatch(/Could not (read|update) ComputeEndpoint prj-demo\/ep-\S+ \("api"\): .*ECONNREFUSED/);
    expect(run.text).not.toMatch(/node_modules|at .*\.js:\d+/);
  }
  expect(await stored()).toEqual(before);
});
