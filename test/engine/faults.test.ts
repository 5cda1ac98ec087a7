import { ownPort } from "../support/service";
import { Stack } from "../support/Stack";

const CREATE = { method: "POST", path: "/projects/{project_id}/endpoints" };
const compute = (args: string, options = "") =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} }, { ${options} });`;

test("an up waits where it is held off, and what did not end well is made good by the next one", async () => {
  const stack = await Stack.create({
    program: compute("size: 1"),
    emulator: { lockProjects: true, activationMs: 4_500 },
  });
  const { service } = stack;
  const before = await service.state();

  // It waits while someone else holds the project's lock, and says so. Then it obeys Retry-After.
  await service.fault({ ...CREATE, status: 423, times: 6 });
  await service.fault({ ...CREATE, status: 429, headers: { "retry-after": "2" }, times: 2 });
  const run = await stack.up();
  expect(run).toMatchObject({ code: 0 });
  expect(run.text).toMatch(/waiting for an operation of this project that was started outside this run/);
  const posts = (await service.requests()).filter(({ method }) => method === "POST");
  expect(posts.map(({ status }) => status)).toEqual([...Array<number>(6).fill(423), 429, 429, 201]);
  const [first, , last] = posts.slice(-3).map(({ at }) => Date.parse(at));
  expect(Number(last) - Number(first)).toBeGreaterThanOrEqual(3_900);
  const { id } = await stack.resource("api");

  // A change whose operation fails stays in the state with what was sent; the next up makes it good.
  stack.program(compute("size: 4"));
  await service.fault({ operation: { action: "apply_config", status: "error", error: "host is gone" } });
  const failed = await stack.up();
  expect(failed.code).not.toBe(0);
  expect(failed.text).toMatch(
    /The update of ComputeEndpoint prj-demo\/ep-\S+ did not finish: operation \S+ apply_config error: host is gone.* run pulumi up again/,
  );
  expect(await stack.preview("--expect-no-changes")).toMatchObject({ code: 7 });
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.resource("api")).id).toBe(id);
  expect((await service.endpoints()).find(({ branch_id }) => branch_id === "br-dev")).toMatchObject({
    autoscaling_limit_max_cu: 4,
    current_state: "active",
  });

  // A change that is given up after its customTimeouts is finished by the next up, also over a refresh.
  stack.program(compute("size: 2", 'customTimeouts: { update: "2s" }'));
  const late = await stack.up();
  expect(late.code).not.toBe(0);
  expect(late.text).toMatch(/did not finish: still "\w+"( with "\w+" pending)? after 2 s \(operation \S+ apply_config/);
  stack.program(compute("size: 2"));
  await service.clearRequests();
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect(await service.mutations()).toEqual([]);
  await stack.finish(before);
});

test("without the service a preview still tells the plan; a refresh and an up fail with a message and lose nothing", async () => {
  // Not for as long as it tries by itself.
  const options = 'customTimeouts: { read: "3s", update: "3s" }';
  const stack = await Stack.create({ program: compute("size: 1", options), emulator: { port: ownPort() } });
  expect(await stack.up()).toMatchObject({ code: 0 });
  const stored = async () => (await stack.resources()).map(({ id, inputs, outputs }) => ({ id, inputs, outputs }));
  const before = await stored();
  await stack.service.emulator.close();
  stack.program(compute("size: 2", options));
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
