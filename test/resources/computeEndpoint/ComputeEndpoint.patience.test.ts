import { atService, computes, endpointId, LEAST } from "../../support/computeCases";
import { thrownBy, type State } from "../../support/harness";

const POST = { method: "POST", path: "/projects/{project_id}/endpoints" };
const advice = (verb: string) => ` To wait longer, raise "customTimeouts.${verb}".`;

describe("a failure for want of time names the time-out also where nothing is kept", () => {
  test("when the next up waits for an unfinished compute once more", async () => {
    const compute = await computes();
    await compute.fault({ stuck: true, times: 0 });
    const error = await thrownBy(compute.create({ ...LEAST, __timeouts: { create: 1 } }));
    const kept: State = { id: String(error["id"]), outs: error["properties"] as State["outs"] };
    const again = await thrownBy(compute.update(kept, { ...LEAST, __timeouts: { update: 1 } }));
    expect(again.message).toMatch(/^Could not update ComputeEndpoint .* still "init" after 1 s \(operation .*\)\. To/);
    expect(again.message.endsWith(advice("update"))).toBe(true);
  });

  test("when somebody else's operation locks the project all the time", async () => {
    const compute = await computes();
    await compute.fault({ ...POST, status: 423, times: 0 });
    const error = await thrownBy(compute.create({ ...LEAST, __timeouts: { create: 1 } }));
    expect(error.message).toMatch(/^Could not create .*still locked after 1 s \(.* 423.*\)\. To/);
    expect(error.message.endsWith(advice("create"))).toBe(true);
  });

  test("when the service asks to come back later than that", async () => {
    const compute = await computes();
    for (const status of [423, 429]) {
      await compute.clearFaults();
      await compute.fault({ ...POST, status, headers: { "retry-after": "900" }, times: 0 });
      const error = await thrownBy(compute.create({ ...LEAST, __timeouts: { create: 60 } }));
      expect(error.message).toMatch(/asks to wait 900 s, more than the \S+ s left/);
      expect(error.message.endsWith(advice("create"))).toBe(true);
    }
  });

  test("when the service fails all the time", async () => {
    const compute = await computes();
    const state = await compute.create(LEAST);
    await compute.fault({ method: "PATCH", status: 429, times: 0 });
    const error = await thrownBy(compute.update(state, { ...LEAST, size: 4, __timeouts: { update: 1 } }));
    expect(error.message).toMatch(/still failing after 1 s/);
    expect(error.message.endsWith(advice("update"))).toBe(true);
  });

  test("when a compute does not leave the branch in time, which is no compute to adopt", async () => {
    const compute = await computes({}, { mutationAttemptTimeoutMs: 60_000 });
    const state = await compute.create({ ...LEAST, __timeouts: { delete: 3 } });
    // A deletion that never ends: lists and operations do not change.
    const endpoint = await atService(compute, endpointId(state));
    const running = { id: "op-1", endpoint_id: endpointId(state), action: "suspend_compute", status: "running" };
    const still = { method: "GET", status: 200, times: 0 };
    await compute.fault({ method: "DELETE", status: 200, body: { endpoint, operations: [running] } });
    await compute.fault({ ...still, path: "/projects/{project_id}/endpoints", body: { endpoints: [endpoint] } });
    await compute.fault({ ...still, path: "/projects/{project_id}/operations", body: { operations: [running] } });
    const leaving = thrownBy(compute.delete(state));
    const error = await thrownBy(compute.create({ ...LEAST, __timeouts: { create: 2 } }));
    expect(error.message).toBe(
      `Could not create ComputeEndpoint ("thing"): ${String(state.outs["endpointId"])} was still leaving br-dev after 2 s.${advice("create")}`,
    );
    expect((await leaving).message.endsWith(advice("delete"))).toBe(true);
  });
});

describe("it is not named", () => {
  test("where more time would not help", async () => {
    const compute = await computes();
    await compute.fault({ ...POST, status: 400, times: 0 });
    expect((await thrownBy(compute.create(LEAST))).message).not.toContain("customTimeouts");
  });

  test("where a read has run out of a time of its own", async () => {
    const compute = await computes({}, { readDeadlineMs: 300 });
    await compute.fault({ method: "GET", status: 503, times: 0 });
    const error = await thrownBy(compute.create(LEAST));
    expect(error.message).toMatch(/still failing after 0\.3 s/);
    expect(error.message).not.toContain("customTimeouts");
  });
});
