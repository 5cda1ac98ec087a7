import {
  allAtService,
  atService,
  computes,
  editByHand,
  endpointId,
  EVERY,
  LEAST,
  put,
} from "../../support/computeCases";
import { planAfterRefresh, type Json } from "../../support/harness";

/** For each argument: what somebody sets at the service by hand, and what a refresh then finds. */
const BY_HAND: readonly (readonly [name: string, edit: Json, found: unknown])[] = [
  ["branchId", { branch_id: "br-test" }, "br-test"],
  ["type", { type: "read_only" }, "read_only"],
  ["name", { name: "by hand" }, "by hand"],
  ["size", { autoscaling_limit_max_cu: 8 }, { min: 1, max: 8 }],
  ["size", { autoscaling_limit_min_cu: 8, autoscaling_limit_max_cu: 8 }, 8],
  ["scaleToZero", { suspend_timeout_seconds: -1 }, false],
  ["scaleToZero", { suspend_timeout_seconds: 0 }, true],
  ["scaleToZero", { suspend_timeout_seconds: 901 }, { afterSeconds: 901 }],
  ["poolerEnabled", { pooler_enabled: false }, false],
  ["poolerMode", { pooler_mode: "session" }, "session"],
  ["disabled", { disabled: true }, true],
  ["passwordlessAccess", { passwordless_access: true }, true],
  ["regionId", { region_id: "elsewhere" }, "elsewhere"],
  ["provisioner", { provisioner: "other" }, "other"],
  [
    "settings",
    { settings: { pg_settings: { work_mem: "1MB" } } },
    { pgSettings: { work_mem: "1MB" }, preloadLibraries: { useDefaults: true, enabledLibraries: [] } },
  ],
  ["settings", { settings: {} }, { pgSettings: {}, preloadLibraries: { useDefaults: true, enabledLibraries: [] } }],
];

test("the cases cover every argument that is sent", () => {
  const covered = new Set(BY_HAND.map(([name]) => name));
  expect(Object.keys(EVERY).filter((name) => name !== "projectId" && !covered.has(name))).toEqual([]);
});

test.each(BY_HAND)("%s changed by hand to %j is drift when it is managed", async (name, edit, value) => {
  const compute = await computes();
  const state = await compute.create(EVERY);
  await editByHand(compute, endpointId(state), edit);
  compute.restart();
  const { changes, found } = await planAfterRefresh(compute, state, EVERY);
  expect(changes).not.toBe(false);
  // Both sides of a state agree, or the engine would see drift for ever (docs/design/engine.md, Diff).
  expect([found.outs[name], found.inputs[name]]).toEqual([value, value]);
  expect(found.outs["__args"]).toEqual(Object.keys(EVERY).sort());
});

test.each(BY_HAND.filter(([name]) => name !== "branchId" && name !== "type"))(
  "%s changed by hand to %j is no drift when it is not managed, and is not sent",
  async (name, edit) => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await editByHand(compute, endpointId(state), edit);
    compute.restart();
    const { changes, found } = await planAfterRefresh(compute, state, LEAST);
    expect(changes).toBe(false);
    expect(found.inputs).not.toHaveProperty(name);
    await compute.forgetRequests();
    const other = { ...LEAST, branchId: "br-test" };
    await compute.update({ id: state.id, outs: found.outs }, other);
    expect((await compute.mutations()).map(({ body }) => body)).toEqual([{ endpoint: { branch_id: "br-test" } }]);
  },
);

/** For each argument that a record may lack: without which fields. */
const LACKING: readonly (readonly [name: string, fields: readonly string[]])[] = [
  ["name", ["name"]],
  ["regionId", ["region_id"]],
  ["size", ["autoscaling_limit_min_cu", "autoscaling_limit_max_cu"]],
  ["scaleToZero", ["suspend_timeout_seconds"]],
  ["poolerEnabled", ["pooler_enabled"]],
  ["poolerMode", ["pooler_mode"]],
  ["disabled", ["disabled"]],
  ["passwordlessAccess", ["passwordless_access"]],
  ["provisioner", ["provisioner"]],
  ["settings", ["settings"]],
];

test.each(LACKING)("%s is no drift where the records of the service do not show it", async (_name, fields) => {
  const compute = await computes({ seedOnly: true });
  const state = await compute.create(EVERY);
  const endpoints = (await allAtService(compute)).map((endpoint) => ({ ...endpoint, ...nulls(fields) }));
  const path = "/projects/{project_id}/endpoints";
  await compute.fault({ method: "GET", path, status: 200, body: { endpoints }, times: 0 });
  compute.restart();
  const { changes, replaces, found } = await planAfterRefresh(compute, state, EVERY);
  expect([changes, replaces]).toEqual([false, []]);
  expect(found.inputs).toMatchObject(EVERY);
  expect(found.outs).toMatchObject(EVERY);
});

const nulls = (fields: readonly string[]) => Object.fromEntries(fields.map((field) => [field, null]));

test.each([
  [{ pgSettings: {} }, { pg_settings: {} }],
  [{ preloadLibraries: { enabledLibraries: [] } }, { preload_libraries: { enabled_libraries: [] } }],
])("settings changed to %j are sent where the records of the service do not show any", async (settings, sent) => {
  const compute = await computes({ seedOnly: true });
  const before = { pgSettings: { a: "1" }, preloadLibraries: { enabledLibraries: ["timescaledb"] } };
  const state = await compute.create({ ...LEAST, settings: before });
  const endpoints = (await allAtService(compute)).map((endpoint) => ({ ...endpoint, ...nulls(["settings"]) }));
  const path = "/projects/{project_id}/endpoints";
  await compute.fault({ method: "GET", path, status: 200, body: { endpoints }, times: 0 });
  compute.restart();
  await compute.forgetRequests();
  await compute.update(state, { ...LEAST, settings });
  expect((await compute.mutations()).map(({ body }) => body)).toEqual([{ endpoint: { settings: sent } }]);
});

test("an update after the drift was found brings back what is declared, and nothing else is sent", async () => {
  const compute = await computes();
  const state = await compute.create(EVERY);
  await editByHand(compute, endpointId(state), { name: "by hand", pooler_enabled: false });
  compute.restart();
  const { found } = await planAfterRefresh(compute, state, EVERY);
  await compute.forgetRequests();
  const repaired = await compute.update({ id: state.id, outs: found.outs }, EVERY);
  expect((await compute.mutations()).map(({ body }) => body)).toEqual([
    { endpoint: { name: "reports", pooler_enabled: true } },
  ]);
  compute.restart();
  expect((await planAfterRefresh(compute, repaired, EVERY)).changes).toBe(false);
});

test("after a refresh of what nobody touched the plan is empty and the state is the same", async () => {
  const compute = await computes();
  const state = await compute.create({ ...EVERY, restartTriggers: ["v1", 2], adopt: true });
  compute.restart();
  const { changes, found } = await planAfterRefresh(compute, state, {
    ...EVERY,
    restartTriggers: ["v1", 2],
    adopt: true,
  });
  expect(changes).toBe(false);
  expect(found.outs).toEqual(state.outs);
});

test("a compute that went idle, or woke up, is no drift", async () => {
  const compute = await computes();
  const state = await compute.create(EVERY);
  for (const action of ["suspend", "start"] as const) {
    await put(compute, endpointId(state), action);
    compute.restart();
    const { changes, found } = await planAfterRefresh(compute, state, EVERY);
    expect([action, changes]).toEqual([action, false]);
    expect(found.outs).toEqual(state.outs);
  }
});

test("a compute in a state that nobody lists is no drift", async () => {
  const compute = await computes();
  const state = await compute.create(EVERY);
  await editByHand(compute, endpointId(state), { current_state: "hibernating", pending_state: "waking" });
  compute.restart();
  expect((await planAfterRefresh(compute, state, EVERY)).changes).toBe(false);
});

test("the service's default said in its other form is no drift, and the program's spelling stays", async () => {
  const compute = await computes();
  const inputs = { ...LEAST, scaleToZero: { afterSeconds: 300 }, size: { min: 2, max: 2 } };
  const state = await compute.create(inputs);
  await editByHand(compute, endpointId(state), { suspend_timeout_seconds: 0 });
  compute.restart();
  const { changes, found } = await planAfterRefresh(compute, state, inputs);
  expect(changes).toBe(false);
  expect(found.inputs).toMatchObject({ scaleToZero: { afterSeconds: 300 }, size: { min: 2, max: 2 } });
});

test("a size that this version does not know is drift with a message, not a failure of the refresh", async () => {
  const compute = await computes();
  const state = await compute.create({ ...LEAST, size: 2 });
  const cu = { autoscaling_limit_min_cu: 72, autoscaling_limit_max_cu: 72 };
  await editByHand(compute, endpointId(state), cu);
  compute.restart();
  const { found } = await planAfterRefresh(compute, state, { ...LEAST, size: 2 });
  expect(found.outs).toMatchObject({ size: 72 });
  expect(found.outs).not.toHaveProperty("maxConnections");
});

describe("a list that lags behind a creation", () => {
  /** The next lists lack everything: what a list of before the creation looks like. */
  const LAGGING = { method: "GET", path: "/projects/{project_id}/endpoints", status: 200, body: { endpoints: [] } };
  const services = [
    ["with a route for one compute", { seedOnly: false }],
    ["with the documented routes alone", { seedOnly: true }],
  ] as const;

  test.each(services)("does not make a refresh in a new process drop the compute: %s", async (_which, options) => {
    const compute = await computes(options);
    const state = await compute.create(LEAST);
    compute.restart();
    await compute.fault(LAGGING);
    expect((await compute.read(state))?.outs).toEqual(state.outs);
  });

  test.each(services)("does not keep an update from finding it: %s", async (_which, options) => {
    const compute = await computes(options);
    const state = await compute.create(LEAST);
    compute.restart();
    await compute.fault(LAGGING);
    await compute.update(state, { ...LEAST, name: "reports" });
    expect((await compute.mutations()).at(-1)?.body).toEqual({ endpoint: { name: "reports" } });
  });

  test("costs a refresh nothing where every compute is in the list, and one list more where some are gone", async () => {
    const compute = await computes();
    const made = [];
    for (const name of ["a", "b", "c", "d"]) made.push(await compute.create({ ...LEAST, type: "read_only", name }));
    for (const state of made.slice(2)) await compute.edit({ kind: "endpoint", id: endpointId(state), delete: true });
    compute.restart();
    await compute.forgetRequests();
    const found = await Promise.all(made.map((state) => compute.read(state)));
    expect(found.map((state) => state === undefined)).toEqual([false, false, true, true]);
    const lists = (await compute.requests("GET")).filter(({ path }) => path.endsWith("/endpoints"));
    expect(lists).toHaveLength(2);
  });

  test("a service that refuses to be asked a second time leaves the compute in the state", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.edit({ kind: "endpoint", id: endpointId(state), delete: true });
    compute.restart();
    await compute.fault({ method: "GET", after: 1, status: 403, times: 0 });
    await expect(compute.read(state)).rejects.toThrow(/403/);
    await compute.clearFaults();
    expect(await compute.read(state)).toBeUndefined();
  });
});

test("the outs of a refresh are those of the service, also of what is not managed", async () => {
  const compute = await computes();
  const state = await compute.create(LEAST);
  await editByHand(compute, endpointId(state), { autoscaling_limit_max_cu: 8, pooler_enabled: true });
  compute.restart();
  const { found } = await planAfterRefresh(compute, state, LEAST);
  expect(found.outs).toMatchObject({ size: { min: 0.25, max: 8 }, poolerEnabled: true, autoscalingLimitMaxCu: 8 });
  expect((await atService(compute, endpointId(state)))["pooler_enabled"]).toBe(true);
});
