import { Stack } from "../support/Stack";

const program = (args: string) =>
  `new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} });`;

const bodies = async (stack: Stack) =>
  (await stack.service.requests())
    .filter(({ method }) => method !== "GET")
    .map(({ method, template, body }) => [`${method} ${template.split("/").at(-1) ?? ""}`, body]);

/** Deploys one change; returns the bodies of its requests. */
async function change(stack: Stack, args: string): Promise<unknown[]> {
  stack.program(program(args));
  await stack.service.clearRequests();
  expect(await stack.up()).toMatchObject({ code: 0 });
  return bodies(stack);
}

test("each change of a compute sends what differs, and restarts only where it says so", async () => {
  const stack = await Stack.create({ program: program("size: 1, scaleToZero: true, restartTriggers: [1]") });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const id = (await stack.resource("api")).outputs["endpointId"];
  const patch = (endpoint: object) => ["PATCH {endpoint_id}", { endpoint }];

  const size = (cu: number) => patch({ autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu });
  expect(await change(stack, "size: 3, scaleToZero: true, restartTriggers: [1]")).toEqual([size(3)]);
  expect(await change(stack, "size: 1, scaleToZero: true, restartTriggers: [1]")).toEqual([size(1)]);
  const timeout = (seconds: number) => patch({ suspend_timeout_seconds: seconds });
  expect(await change(stack, "size: 1, scaleToZero: false, restartTriggers: [1]")).toEqual([timeout(-1)]);
  expect(await change(stack, "size: 1, scaleToZero: { afterSeconds: 900 }, restartTriggers: [1]")).toEqual([
    timeout(900),
  ]);

  stack.program(program("size: 1, scaleToZero: { afterSeconds: 900 }, restartTriggers: [2]"));
  expect((await stack.preview()).text).toMatch(
    /a changed restart trigger restarts compute ep-\S+ \("\w+"\) when it is active/,
  );
  expect(await change(stack, "size: 1, scaleToZero: { afterSeconds: 900 }, restartTriggers: [2]")).toEqual([
    ["POST restart", null],
  ]);

  await service.edit({ kind: "endpoint", id, set: { current_state: "idle", suspended_at: "2026-01-01T00:00:00Z" } });
  stack.program(program("size: 1, scaleToZero: { afterSeconds: 900 }, restartTriggers: [3]"));
  await service.clearRequests();
  const idle = await stack.up();
  expect(idle).toMatchObject({ code: 0 });
  expect(idle.text).toMatch(/is idle and was not restarted: its next start applies all changes/);
  expect(await bodies(stack)).toEqual([]);

  stack.program(program("size: 1"));
  const dropped = await stack.preview();
  expect(dropped.text).toMatch(/"scaleToZero" of ComputeEndpoint \S+ \("\w+"\) is no longer managed/);
  expect(await change(stack, "size: 1")).toEqual([]);
  await service.edit({ kind: "endpoint", id, set: { suspend_timeout_seconds: 60, current_state: "active" } });
  await stack.finish(before);
});

test("drift of every managed argument is found by name and repaired, of none that is not managed", async () => {
  const managed = `name: "api", size: { min: 1, max: 2 }, scaleToZero: false, poolerEnabled: true, poolerMode: "transaction",
    disabled: false, provisioner: "k8s-pod", passwordlessAccess: true, settings: { pgSettings: { work_mem: "64MB" } }`;
  const stack = await Stack.create({ program: program(managed) });
  const { service } = stack;
  const before = await service.state();
  expect(await stack.up()).toMatchObject({ code: 0 });
  const id = (await stack.resource("api")).outputs["endpointId"];
  const drifted = {
    name: "other",
    autoscaling_limit_min_cu: 3,
    autoscaling_limit_max_cu: 5,
    suspend_timeout_seconds: 600,
    pooler_enabled: false,
    pooler_mode: "session",
    disabled: true,
    provisioner: "k8s-foreign",
    passwordless_access: false,
    settings: { pg_settings: { work_mem: "1MB", foreign: "on" } },
    branch_id: "br-test",
  };
  await service.edit({ kind: "endpoint", id, set: drifted });
  const drift = await stack.drift("--diff");
  expect(drift.code).toBe(7);
  const names = ["name", "size", "scaleToZero", "poolerEnabled", "poolerMode", "disabled", "provisioner"];
  for (const name of [...names, "passwordlessAccess", "settings", "branchId"]) {
    expect(drift.text).toMatch(new RegExp(`[~+-] ${name}\\s*:`));
  }
  expect(await stack.up("--refresh")).toMatchObject({ code: 0 });
  expect((await service.endpoints()).find((endpoint) => endpoint["id"] === id)).toMatchObject({
    name: "api",
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 2,
    suspend_timeout_seconds: -1,
    pooler_enabled: true,
    pooler_mode: "transaction",
    disabled: false,
    provisioner: "k8s-pod",
    passwordless_access: true,
    settings: { pg_settings: { work_mem: "64MB" } },
    branch_id: "br-dev",
  });

  stack.program(program(""));
  expect(await stack.up()).toMatchObject({ code: 0 });
  await service.edit({ kind: "endpoint", id, set: { ...drifted, branch_id: "br-dev", current_state: "idle" } });
  await stack.finish(before);
});
