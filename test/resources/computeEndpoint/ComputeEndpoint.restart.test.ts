import { until } from "../../support/emulator";
import { atService, computes, editByHand, endpointId, ENDPOINTS, LEAST, put } from "../../support/computeCases";
import { notes, thrownBy, type Harness, type State } from "../../support/harness";

const V1 = { ...LEAST, restartTriggers: ["v1"] };
const V2 = { ...LEAST, restartTriggers: ["v2"] };
const RESTART = "/projects/{project_id}/endpoints/{endpoint_id}/restart";

async function created(options: Parameters<typeof computes>[0] = {}): Promise<{ compute: Harness; state: State }> {
  const compute = await computes(options);
  const state = await compute.create(V1);
  await compute.forgetRequests();
  compute.log.splice(0);
  return { compute, state };
}

const changes = async (compute: Harness) =>
  (await compute.mutations()).map(({ method, path }) => `${method} ${path.slice(ENDPOINTS.length + 1)}`);

test("a changed trigger restarts an active compute, waits until it is back, and sends nothing else", async () => {
  const { compute, state } = await created();
  const { last_active: before } = await atService(compute, endpointId(state));
  const after = await compute.update(state, V2);
  expect(await changes(compute)).toEqual([`POST ${endpointId(state)}/restart`]);
  const now = await atService(compute, endpointId(state));
  expect(now).toMatchObject({ current_state: "active" });
  expect(now["last_active"]).not.toBe(before);
  expect(now).not.toHaveProperty("pending_state");
  expect(after.outs).toMatchObject({ restartTriggers: ["v2"], host: state.outs["host"] });
  expect((await compute.diff(after, V2)).changes).toBe(false);
});

test("on an idle compute nothing is called, and the line says that its next start applies everything anyway", async () => {
  const { compute, state } = await created();
  await put(compute, endpointId(state), "suspend");
  await compute.forgetRequests();
  const after = await compute.update(state, V2);
  expect(await changes(compute)).toEqual([]);
  expect(notes(compute)).toEqual([
    `${endpointId(state)} is idle and was not restarted: its next start applies all changes`,
  ]);
  expect((await compute.diff(after, V2)).changes).toBe(false);
});

test.each([400, 409, 412, 422])("a %d because it went idle in between is no failure", async (status) => {
  const { compute, state } = await created();
  await compute.fault({ method: "POST", path: RESTART, status, delayMs: 500 });
  const updating = compute.update(state, V2);
  await until(
    () => compute.requests("POST"),
    (requests) => requests.length > 0,
  );
  await editByHand(compute, endpointId(state), { current_state: "idle" });
  await updating;
  expect(notes(compute)).toHaveLength(1);
  expect(await changes(compute)).toEqual([`POST ${endpointId(state)}/restart`]);
});

test("neither is one of a compute that is on its way to idle", async () => {
  const { compute, state } = await created();
  await editByHand(compute, endpointId(state), { pending_state: "idle" });
  await compute.fault({ method: "POST", path: RESTART, status: 412 });
  await compute.update(state, V2);
  expect(notes(compute)).toEqual([
    `${endpointId(state)} is going idle and was not restarted: its next start applies all changes`,
  ]);
});

test("a refusal of an active compute is a failure, and the trigger is tried again by the next up", async () => {
  const { compute, state } = await created();
  await compute.fault({ method: "POST", path: RESTART, status: 412 });
  const error = await thrownBy(compute.update(state, V2));
  expect(error.message).toMatch(/^Could not update ComputeEndpoint .*412/);
  expect(error).not.toHaveProperty("id");
  await compute.forgetRequests();
  await compute.update(state, V2);
  expect(await changes(compute)).toEqual([`POST ${endpointId(state)}/restart`]);
});

test("beginning to give triggers restarts it, ceasing to does not", async () => {
  const compute = await computes();
  const plain = await compute.create(LEAST);
  await compute.forgetRequests();
  const given = await compute.update(plain, V1);
  expect(given.outs["restartTriggers"]).toEqual(["v1"]);
  expect(await changes(compute)).toEqual([`POST ${endpointId(plain)}/restart`]);
  await compute.forgetRequests();
  await compute.update(given, LEAST);
  expect(await changes(compute)).toEqual([]);
});

test("a resize restarts by itself: a trigger that changes beside it calls nothing more", async () => {
  const { compute, state } = await created();
  await compute.update(state, { ...V2, size: 4 });
  expect(await changes(compute)).toEqual([`PATCH ${endpointId(state)}`]);
});

test("another change beside the trigger is applied first, then the compute is restarted", async () => {
  const { compute, state } = await created();
  await compute.update(state, { ...V2, name: "reports" });
  expect(await changes(compute)).toEqual([`PATCH ${endpointId(state)}`, `POST ${endpointId(state)}/restart`]);
});

test("when the restart fails after another change was applied, the state keeps the change and not the trigger", async () => {
  const { compute, state } = await created();
  await compute.fault({ method: "POST", path: RESTART, status: 403 });
  const wanted = { ...V2, name: "reports" };
  const error = await thrownBy(compute.update(state, wanted));
  expect(error["properties"]).toMatchObject({ name: "reports", restartTriggers: ["v1"], __provider: "pointer" });
  await compute.forgetRequests();
  // The partial state, as the engine keeps it.
  const kept = { id: state.id, outs: error["properties"] as State["outs"] };
  const finished = await compute.update(kept, wanted);
  expect(await changes(compute)).toEqual([`POST ${endpointId(state)}/restart`]);
  expect(finished.outs).toMatchObject({ name: "reports", restartTriggers: ["v2"] });
  expect(finished.outs).not.toHaveProperty("__unfinished");
});

test("a restart whose start fails is a failure at once, with action, id and words of the service", async () => {
  const { compute, state } = await created();
  await compute.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity" } });
  const error = await thrownBy(compute.update(state, V2));
  expect(error.message).toMatch(/did not finish: operation [0-9a-f-]{36} start_compute failed: no capacity/);
});

test("a restart on a project that locks waits for its turn", async () => {
  const { compute, state } = await created({ lockProjects: true, activationMs: 60 });
  await compute.edit({ kind: "operation", create: { endpoint_id: endpointId(state), duration_ms: 150 } });
  await compute.update(state, V2);
  expect((await changes(compute)).at(-1)).toBe(`POST ${endpointId(state)}/restart`);
});
