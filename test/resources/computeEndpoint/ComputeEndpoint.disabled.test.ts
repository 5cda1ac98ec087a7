import {
  allAtService,
  atService,
  computes,
  DEMO_PRIMARY,
  editByHand,
  endpointId,
  ENDPOINTS,
  LEAST,
} from "../../support/computeCases";
import { planAfterRefresh, PROJECT, thrownBy, type Harness, type State } from "../../support/harness";

const OFF = { ...LEAST, disabled: true };
const ON = { ...LEAST, disabled: false };
const START = "/projects/{project_id}/endpoints/{endpoint_id}/start";

const keptBy = (error: Error & Record<string, unknown>): State => ({
  id: String(error["id"]),
  // Complete outs, by the contract of a partial error (docs/design/engine.md, Errors).
  outs: error["properties"] as State["outs"],
});

const sentTo = async (compute: Harness, id: string): Promise<unknown[]> =>
  (await compute.mutations()).map(({ method, path, body }) => [
    `${method} ${path.replace(`${ENDPOINTS}/${id}`, "")}`,
    body?.["endpoint"] ?? null,
  ]);

/** A compute that was to be disabled, and whose suspension failed. */
async function notSuspended(): Promise<{ compute: Harness; kept: State; id: string }> {
  const compute = await computes();
  const state = await compute.create(LEAST);
  await compute.fault({ operation: { action: "suspend_compute", status: "failed", error: "try later" } });
  const kept = keptBy(await thrownBy(compute.update(state, OFF)));
  compute.restart();
  await compute.forgetRequests();
  return { compute, kept, id: endpointId(state) };
}

describe("a disabled compute whose suspension has failed", () => {
  test("is disabled once more by the next up, and never started", async () => {
    const { compute, kept, id } = await notSuspended();
    const finished = await compute.update(kept, OFF);
    expect(await sentTo(compute, id)).toEqual([["PATCH ", { disabled: true }]]);
    expect(await atService(compute, id)).toMatchObject({ disabled: true, current_state: "idle" });
    expect(finished.outs).not.toHaveProperty("__unfinished");
  });

  test("is disabled once more also after a refresh, which does not take it for finished", async () => {
    const { compute, kept, id } = await notSuspended();
    const { changes, found } = await planAfterRefresh(compute, kept, OFF);
    expect(changes).toBe(true);
    const finished = await compute.update(found, OFF);
    expect(await sentTo(compute, id)).toEqual([["PATCH ", { disabled: true }]]);
    expect(await atService(compute, id)).toMatchObject({ disabled: true, current_state: "idle" });
    compute.restart();
    expect((await planAfterRefresh(compute, finished, OFF)).changes).toBe(false);
  });

  test("is finished for a refresh once it is suspended after all", async () => {
    const { compute, kept, id } = await notSuspended();
    await editByHand(compute, id, { current_state: "idle" });
    expect((await planAfterRefresh(compute, kept, OFF)).changes).toBe(false);
  });

  test("stays unfinished when that fails as well, in the words of the operation", async () => {
    const { compute, kept, id } = await notSuspended();
    await compute.fault({ operation: { action: "suspend_compute", status: "failed", error: "not today" } });
    const error = await thrownBy(compute.update(kept, OFF));
    expect(error.message).toMatch(/suspend_compute failed: not today\. .*run pulumi up again/);
    await compute.update(keptBy(error), OFF);
    expect((await atService(compute, id))["current_state"]).toBe("idle");
  });

  test("is disabled once more along with another change", async () => {
    const { compute, kept, id } = await notSuspended();
    await compute.update(kept, { ...OFF, size: 2 });
    const size = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 };
    expect(await sentTo(compute, id)).toEqual([["PATCH ", { disabled: true, ...size }]]);
  });

  test("can be enabled again: a start is not tried first, which a disabled compute refuses", async () => {
    const { compute, kept, id } = await notSuspended();
    // A suspension that hangs.
    await editByHand(compute, id, { pending_state: "idle" });
    const error = await thrownBy(compute.update(kept, { ...ON, __timeouts: { update: 1 } }));
    expect(await sentTo(compute, id)).toEqual([["PATCH ", { disabled: false }]]);
    expect(error["id"]).toBe(`${PROJECT}/${id}`);
    expect((await atService(compute, id))["disabled"]).toBe(false);
  });
});

test("a compute is disabled at a service without a list of operations: that it is idle is enough", async () => {
  const compute = await computes({ seedOnly: true });
  const state = await compute.create(LEAST);
  const off = await compute.update(state, { ...OFF, __timeouts: { update: 5 } });
  expect((await allAtService(compute)).at(-1)).toMatchObject({ disabled: true, current_state: "idle" });
  expect(off.outs).not.toHaveProperty("__unfinished");
});

test("a compute that somebody else disabled is not started: what failed is reported", async () => {
  const compute = await computes();
  await compute.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
  const kept = keptBy(await thrownBy(compute.create(LEAST)));
  await editByHand(compute, endpointId(kept), { disabled: true });
  compute.restart();
  await compute.forgetRequests();
  const error = await thrownBy(compute.update(kept, LEAST));
  expect(error.message).toMatch(/start_compute failed: no capacity left/);
  expect(await compute.mutations()).toEqual([]);
});

test.each([409, 412])("a start that is refused (%d) does not keep the change from being sent", async (status) => {
  const compute = await computes();
  await compute.fault({ operation: { action: "start_compute", status: "failed" } });
  const kept = keptBy(await thrownBy(compute.create(LEAST)));
  await compute.fault({ method: "POST", path: START, status });
  compute.restart();
  await compute.update(kept, { ...LEAST, size: 4, __timeouts: { update: 5 } });
  // Started once more after the change, which may be what the start lacked.
  expect(await atService(compute, endpointId(kept))).toMatchObject({
    current_state: "active",
    autoscaling_limit_min_cu: 4,
  });
});

describe("adopting a compute whose start has failed", () => {
  async function stranded(): Promise<{ compute: Harness; id: string }> {
    const compute = await computes();
    await compute.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
    const id = endpointId(keptBy(await thrownBy(compute.create(LEAST))));
    compute.restart();
    await compute.forgetRequests();
    return { compute, id };
  }

  test("starts it again", async () => {
    const { compute, id } = await stranded();
    const state = await compute.create({ ...LEAST, adopt: true });
    expect(await sentTo(compute, id)).toEqual([["POST /start", null]]);
    expect(await atService(compute, id)).toMatchObject({ current_state: "active" });
    expect(state.outs).not.toHaveProperty("__unfinished");
  });

  test("starts it again before it is changed", async () => {
    const { compute, id } = await stranded();
    await compute.create({ ...LEAST, adopt: true, name: "reports", __timeouts: { create: 5 } });
    expect(await sentTo(compute, id)).toEqual([
      ["POST /start", null],
      ["PATCH ", { name: "reports" }],
    ]);
    expect(await atService(compute, id)).toMatchObject({ current_state: "active", name: "reports" });
  });

  test("keeps it in the stack when it fails again, for the next up to go on", async () => {
    const { compute, id } = await stranded();
    await compute.fault({ operation: { action: "start_compute", status: "failed", error: "still none" } });
    const error = await thrownBy(compute.create({ ...LEAST, adopt: true }));
    expect(error.message).toMatch(/start_compute failed: still none/);
    expect(error["id"]).toBe(`${PROJECT}/${id}`);
    await compute.update(keptBy(error), { ...LEAST, adopt: true });
    expect((await atService(compute, id))["current_state"]).toBe("active");
  });

  test("is not kept in the stack when it is refused before anything is changed", async () => {
    const { compute } = await stranded();
    const error = await thrownBy(compute.create({ ...LEAST, adopt: DEMO_PRIMARY }));
    expect(error.message).toMatch(/br-dev already has a primary compute/);
    expect(error).not.toHaveProperty("id");
    expect(await compute.mutations()).toEqual([]);
  });
});
