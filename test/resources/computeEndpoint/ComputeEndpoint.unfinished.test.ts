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
import { expectNoSecrets, notes, thrownBy, type Harness, type Json, type State } from "../../support/harness";

const SLOW = { activationMs: 2_500 };
const POST = { method: "POST", path: "/projects/{project_id}/endpoints" };

/** What the engine keeps of a partial error. */
const keptBy = (error: Error & Record<string, unknown>): State => ({
  id: String(error["id"]),
  // Complete outs, by the contract of a partial error (docs/design/engine.md, Errors).
  outs: error["properties"] as State["outs"],
});

const made = async (compute: Harness): Promise<Json[]> =>
  (await allAtService(compute)).filter(({ id }) => id !== DEMO_PRIMARY);
const posts = async (compute: Harness) => (await compute.requests("POST")).filter(({ path }) => path === ENDPOINTS);

describe("a wait that times out", () => {
  const inputs = { ...LEAST, size: 2, __timeouts: { create: 1, update: 1 } };

  test("honours customTimeouts, says so, and keeps the compute in the state with its pointer", async () => {
    const compute = await computes(SLOW);
    const error = await thrownBy(compute.create(inputs));
    const [record] = await made(compute);
    const id = String(record?.["id"]);
    expect(error["id"]).toBe(`prj-demo/${id}`);
    expect(error.message).toMatch(
      new RegExp(
        `^ComputeEndpoint prj-demo/${id} exists, but still "init" after 1 s \\(operation [0-9a-f-]{36} start_compute running\\)\\. It is kept in the stack: run pulumi up again\\. To wait longer, raise "customTimeouts.create"\\.$`,
      ),
    );
    expect(error["reasons"]).toEqual([error.message]);
    expect(error["properties"]).toMatchObject({
      ...inputs,
      host: record?.["host"],
      endpointId: id,
      __provider: "pointer",
      __unfinished: "create",
      __args: ["branchId", "projectId", "size"],
    });
    expectNoSecrets(compute);
  });

  test("makes the next plan a change, also after a refresh, and the next update finishes it without a request", async () => {
    const compute = await computes(SLOW);
    const kept = keptBy(await thrownBy(compute.create(inputs)));
    expect((await compute.diff(kept, inputs)).changes).toBe(true);
    compute.restart();
    const found = (await compute.read(kept)) ?? kept;
    expect((await compute.diff(found, inputs)).changes).toBe(true);
    await compute.forgetRequests();
    const finished = await compute.update(found, { ...inputs, __timeouts: { update: 30 } });
    expect(await compute.mutations()).toEqual([]);
    expect((await atService(compute, endpointId(kept)))["current_state"]).toBe("active");
    expect(finished.outs).not.toHaveProperty("__unfinished");
    expect((await compute.diff(finished, inputs)).changes).toBe(false);
  });

  test("is over for a refresh that finds the compute ready", async () => {
    const compute = await computes({ activationMs: 1_300 });
    const kept = keptBy(await thrownBy(compute.create(inputs)));
    await new Promise((resolve) => setTimeout(resolve, 800));
    compute.restart();
    const found = (await compute.read(kept)) ?? kept;
    expect(found.outs).not.toHaveProperty("__unfinished");
    expect((await compute.diff(found, inputs)).changes).toBe(false);
  });

  test("can be destroyed, and replaced", async () => {
    const compute = await computes(SLOW);
    const kept = keptBy(await thrownBy(compute.create(inputs)));
    expect((await compute.diff(kept, { ...inputs, type: "read_only" })).replaces).toEqual(["type"]);
    await compute.delete(kept);
    expect(await made(compute)).toEqual([]);
  });

  test("of an update keeps what was sent, and the next one waits for the rest", async () => {
    const compute = await computes({ activationMs: 1_500 });
    const state = await compute.create({ ...LEAST, size: 1 });
    const wanted = { ...LEAST, size: 2, __timeouts: { update: 1 } };
    const error = await thrownBy(compute.update(state, wanted));
    expect(error.message).toMatch(
      /^The update of ComputeEndpoint prj-demo\/ep-.* did not finish: still "active" with "active" pending after 1 s \(operation .* apply_config running\)\. The change is kept in the stack/,
    );
    const kept = keptBy(error);
    expect(kept.outs).toMatchObject({ size: 2, __provider: "pointer" });
    await compute.forgetRequests();
    const finished = await compute.update(kept, { ...wanted, __timeouts: { update: 30 } });
    expect(await compute.mutations()).toEqual([]);
    expect(finished.outs).not.toHaveProperty("__unfinished");
  });
});

describe("an operation that fails", () => {
  test("fails the creation at once, with its action, its id and the service's words, and keeps the compute", async () => {
    const compute = await computes();
    await compute.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
    const error = await thrownBy(compute.create(LEAST));
    const { operations } = await compute.get("/projects/prj-demo/operations");
    const [operation] = operations as Json[];
    expect(error.message).toBe(
      `ComputeEndpoint ${String(error["id"])} exists, but operation ${String(operation?.["id"])} start_compute failed: no capacity left. It is kept in the stack: run pulumi up again.`,
    );
    expect(await made(compute)).toHaveLength(1);
  });

  test.each(["failed", "error", "cancelled"])(
    "an operation that ended as %s is started again by the next up",
    async (status) => {
      const compute = await computes();
      await compute.fault({ operation: { action: "start_compute", status } });
      const kept = keptBy(await thrownBy(compute.create(LEAST)));
      await compute.forgetRequests();
      compute.restart();
      const finished = await compute.update(kept, LEAST);
      expect((await compute.mutations()).map(({ path }) => path)).toEqual([`${ENDPOINTS}/${endpointId(kept)}/start`]);
      expect((await atService(compute, endpointId(kept)))["current_state"]).toBe("active");
      expect(finished.outs).not.toHaveProperty("__unfinished");
    },
  );

  test("is started again before another change is sent, which alone would never get it ready", async () => {
    const compute = await computes();
    await compute.fault({ operation: { action: "start_compute", status: "failed" } });
    const kept = keptBy(await thrownBy(compute.create(LEAST)));
    await compute.forgetRequests();
    compute.restart();
    const finished = await compute.update(kept, { ...LEAST, size: 4, __timeouts: { update: 3 } });
    expect((await compute.mutations()).map(({ method }) => method)).toEqual(["POST", "PATCH"]);
    expect(await atService(compute, endpointId(kept))).toMatchObject({
      current_state: "active",
      autoscaling_limit_min_cu: 4,
    });
    expect(finished.outs).not.toHaveProperty("__unfinished");
  });

  test("of the second start as well does not keep the change from being sent: it may be what the start needs", async () => {
    const compute = await computes();
    await compute.fault({ operation: { action: "start_compute", status: "failed", times: 3 } });
    const kept = keptBy(await thrownBy(compute.create(LEAST)));
    compute.restart();
    const wanted = { ...LEAST, size: 4 };
    const again = keptBy(await thrownBy(compute.update(kept, { ...wanted, __timeouts: { update: 1 } })));
    expect(await atService(compute, endpointId(kept))).toMatchObject({ autoscaling_limit_min_cu: 4 });
    compute.restart();
    const finished = await compute.update(again, wanted);
    expect(finished.outs).not.toHaveProperty("__unfinished");
  });

  test("stays a failure where the service has no call to start it", async () => {
    const compute = await computes();
    await compute.fault({ operation: { action: "start_compute", status: "failed", error: "no capacity left" } });
    const kept = keptBy(await thrownBy(compute.create(LEAST)));
    await compute.fault({ path: "/projects/{project_id}/endpoints/{endpoint_id}/start", status: 404 });
    compute.restart();
    const error = await thrownBy(compute.update(kept, LEAST));
    expect(error.message).toMatch(/start_compute failed: no capacity left/);
    expect((await compute.diff(kept, LEAST)).changes).toBe(true);
  });

  test("is not heard of without the list of operations: the wait ends by its time, and the compute is kept", async () => {
    const compute = await computes({ seedOnly: true });
    await compute.fault({ operation: { action: "start_compute", status: "failed" } });
    const error = await thrownBy(compute.create({ ...LEAST, __timeouts: { create: 1 } }));
    expect(error.message).toMatch(/exists, but still "init" after 1 s\. It is kept in the stack/);
    expect(keptBy(error).outs).toMatchObject({ __provider: "pointer" });
  });

  test("of an update keeps what was sent; the next up sends it again where the service has not taken it over", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, size: 1 });
    await compute.fault({ operation: { action: "apply_config", status: "failed", error: "try later" } });
    const wanted = { ...LEAST, size: 2 };
    const error = await thrownBy(compute.update(state, wanted));
    expect(error.message).toMatch(/did not finish: operation .* apply_config failed: try later\./);
    // The service has put the old size back.
    await editByHand(compute, endpointId(state), { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 });
    await compute.forgetRequests();
    compute.restart();
    await compute.update(keptBy(error), wanted);
    expect((await compute.mutations()).map(({ body }) => body)).toEqual([
      { endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2 } },
    ]);
  });

  test("and that a restart does not repair either is an error that says so, and is tried again", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, size: 1 });
    await compute.fault({ operation: { action: "apply_config", status: "failed" } });
    const wanted = { ...LEAST, size: 2 };
    const kept = keptBy(await thrownBy(compute.update(state, wanted)));
    const endpoint = await atService(compute, endpointId(state));
    const path = "/projects/{project_id}/endpoints/{endpoint_id}/restart";
    await compute.fault({ method: "POST", path, status: 200, body: { endpoint, operations: [] } });
    compute.restart();
    const error = await thrownBy(compute.update(kept, wanted));
    expect(error.message).toContain("its last operation failed, and a restart did not fix it. Check it at the service");
    const finished = await compute.update(keptBy(error), wanted);
    expect(finished.outs).not.toHaveProperty("__unfinished");
  });

  test("of long ago is no obstacle to an update that has nothing to send", async () => {
    const compute = await computes();
    const state = await compute.create({ ...LEAST, name: "reports" });
    await compute.fault({ operation: { status: "failed" } });
    await compute.edit({ kind: "operation", create: { endpoint_id: endpointId(state), action: "apply_config" } });
    await new Promise((resolve) => setTimeout(resolve, 60));
    compute.restart();
    const after = await compute.update(state, LEAST);
    expect(after.outs["__args"]).toEqual(["branchId", "projectId"]);
  });
});

describe("a creation that was interrupted", () => {
  test.each([
    ["the connection was reset after it", { drop: "reset", effect: "done" }],
    ["the answer was cut", { drop: "cut", effect: "done" }],
    ["a 500 came in place of the answer", { status: 500, effect: "done" }],
    ["a proxy answered in its place", { status: 502, body: "<html>bad gateway</html>", effect: "done" }],
  ])("is found again through the list when %s: one POST, one compute", async (_how, fault) => {
    const compute = await computes();
    await compute.fault({ ...POST, ...fault });
    const state = await compute.create({ ...LEAST, size: 2 });
    expect(await posts(compute)).toHaveLength(1);
    const [record, ...others] = await made(compute);
    expect(others).toEqual([]);
    expect(state.id).toBe(`prj-demo/${String(record?.["id"])}`);
    expect((await atService(compute, endpointId(state)))["current_state"]).toBe("active");
    expect(state.outs).not.toHaveProperty("__unfinished");
    expect(notes(compute)).toEqual([`${endpointId(state)} was found after the response to its creation was lost`]);
  });

  describe("while others create computes", () => {
    /** The message of a creation that is lost, and the ids of the computes that appear after the list before it. */
    async function lostBeside(inputs: object, others: readonly Json[]) {
      const compute = await computes();
      const before = await compute.get(ENDPOINTS);
      for (const create of others) await compute.edit({ kind: "endpoint", create: { branch_id: "br-dev", ...create } });
      await compute.fault({ method: "GET", path: ENDPOINTS, status: 200, body: before });
      await compute.fault({ ...POST, status: 500 });
      const { message } = await thrownBy(compute.create({ ...LEAST, ...inputs }));
      return { message, ids: (await made(compute)).map(({ id }) => String(id)) };
    }
    const MAY_BE = "these new objects may or may not be the result: ";
    const AGE = ", created (just now|\\d+ seconds? ago)";
    // On a slow machine.
    const END = "(, which is older than this request)?( \\(|;)";

    test("names a primary that differs, what differs, and how to go on with it", async () => {
      const { message, ids } = await lostBeside({ size: 4 }, [{ type: "read_write" }]);
      expect(message).toMatch(new RegExp(`${MAY_BE}${ids[0] ?? "?"} on br-dev${AGE}, with another "size"${END}`));
      expect(message).toMatch(/Set "adopt: true" to manage it here, or delete it, run pulumi up again\.?$/);
    });

    test("names a replica with its id for adopt, and nothing of another type or branch", async () => {
      const { message, ids } = await lostBeside({ type: "read_only", name: "reports" }, [
        { type: "read_only", name: "other" },
        { type: "read_write" },
        { type: "read_only", name: "reports", branch_id: "br-test" },
      ]);
      expect(message).toMatch(new RegExp(`${MAY_BE}${ids[0] ?? "?"} on br-dev${AGE}, with another "name"${END}`));
      expect(message).toContain(`Set "adopt: '${ids[0] ?? "?"}'" to manage one of them here, or delete them, run`);
      for (const other of ids.slice(1)) expect(message).not.toContain(other);
    });

    test("names all replicas that it may be, of which one can be adopted", async () => {
      const replica = { type: "read_only", name: "reports" };
      const { message, ids } = await lostBeside(replica, [replica, replica]);
      for (const id of ids) expect(message).toMatch(new RegExp(`${id} on br-dev${AGE}${END}`));
      expect(message).toContain(`Set "adopt: 'ep-…'" to manage one of them here, or delete them, run`);
    });
  });

  test("and left nothing behind is an error that says so, and the next up makes it", async () => {
    const compute = await computes();
    await compute.fault({ ...POST, status: 500 });
    const error = await thrownBy(compute.create(LEAST));
    expect(error.message).toMatch(/the request may have taken effect; a later check did not find the compute/);
    expect(error).not.toHaveProperty("id");
    expect(await posts(compute)).toHaveLength(1);
    await compute.create(LEAST);
    expect(await made(compute)).toHaveLength(1);
  });

  test("a replica that was made by a cut POST is distinguished from the ones that were there", async () => {
    const compute = await computes();
    const replica = { ...LEAST, type: "read_only" };
    const first = await compute.create(replica);
    await compute.fault({ ...POST, drop: "cut", effect: "done" });
    const second = await compute.create(replica);
    expect(second.id).not.toBe(first.id);
    expect(await made(compute)).toHaveLength(2);
  });

  test("a replica that may still appear: only for one with a name the message says that the next error names it", async () => {
    const compute = await computes();
    const wordsOf = async (args: object): Promise<string> => {
      await compute.fault({ ...POST, status: 500 });
      return (await thrownBy(compute.create({ ...LEAST, type: "read_only", ...args }))).message;
    };
    expect(await wordsOf({ name: "reports" })).toMatch(/Run pulumi up again: if it exists by then, the error names it/);
    const unnamed = await wordsOf({});
    expect(unnamed).toMatch(
      /Before you run pulumi up again, look for a new read replica without a name on br-\w+: .*adopt/,
    );
    expect(unnamed).not.toMatch(/if it exists by then/);
  });

  test("a 503 is no word on whether it took effect either", async () => {
    const compute = await computes();
    await compute.fault({ ...POST, status: 503, effect: "done" });
    await compute.create(LEAST);
    expect(await made(compute)).toHaveLength(1);
  });

  test("a refusal for a lock or a limit is waited for", async () => {
    const compute = await computes();
    await compute.fault({ ...POST, status: 423 });
    await compute.fault({ ...POST, status: 429, headers: { "retry-after": "0" } });
    await compute.create(LEAST);
    expect(await made(compute)).toHaveLength(1);
  });
});
