/**
 * Waits through the whole client, in memory. The result of each check: operationWait.test.ts; the times of the checks:
 * projectWatch.test.ts.
 */
import {
  AuthenticationError,
  Deadline,
  type EndpointRecord,
  NotFoundError,
  NotStartingError,
  OperationFailedError,
  WaitTimeoutError,
} from "../../../src/client";
import { ANY, createCompute } from "../../support/creating";
import { FakeProject } from "../../support/fakeProject";
import { compute, ENDPOINTS, init, LIST, operation, OPERATIONS, PRJ, type Scene, scene } from "../../support/scene";
import { skippingClock } from "../../support/fakeClock";
import { PROVEN } from "../../support/proven";
import { errorOf, type Reply, inMemory, type Script } from "../../support/scriptedServer";

skippingClock();

/** Longer than any of these waits takes, however slow the machine is. */
const PATIENT = 10_000;

describe("a compute is ready when", () => {
  const update = (wanted: Scene, options = {}, settings = {}): Promise<EndpointRecord> =>
    inMemory(scene(wanted), settings).client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
      { deadline: new Deadline(PATIENT), ...options },
    );
  const answer = (endpoint: object, operations: object[]): Reply => ({ json: { endpoint, operations } });

  test("its operations ended well and it is active, not before", async () => {
    const { server, client } = inMemory(
      scene({
        computes: () => [compute()],
        operations: (nth) => [operation(["scheduling", "running", "a new word"][nth - 1] ?? "finished")],
        change: answer(compute(), [operation("scheduling")]),
      }),
    );
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY });
    expect(server.count(OPERATIONS)).toBe(4);
  });

  test("an operation was skipped", async () => {
    const operations = (): object[] => [operation("skipped")];
    const change = answer(compute(), [operation("running")]);
    await expect(update({ computes: () => [compute()], operations, change })).resolves.toMatchObject({ id: "ep-1" });
  });

  test("it went through init and an unknown state", async () => {
    const states = [init, { current_state: "warming" }, { current_state: "active", pending_state: "active" }, {}];
    const { server, client } = inMemory(
      scene({
        computes: (nth) => [compute(states[nth - 1])],
        change: answer(compute(init), [operation("running")]),
        creates: true,
      }),
    );
    await expect(createCompute(client, PRJ, { branch_id: "br-1" })).resolves.toMatchObject({
      current_state: "active",
    });
    // The list from before the creation also shows that a missing operations route is not a missing project.
    expect(server.count(LIST)).toBe(5);
  });

  test("a new replica came back idle, without operations: one answer is enough", async () => {
    const change = { ...answer(compute({ current_state: "idle" }), []), status: 201 };
    const { server, client } = inMemory(scene({ computes: () => [], change }));
    const made = await createCompute(client, PRJ, { branch_id: "br-1", type: "read_only" });
    expect(made.current_state).toBe("idle");
    expect(server.lines()).toEqual([LIST, `POST ${ENDPOINTS}`]);
  });

  test("it is idle and all its operations ended well", async () => {
    const idle = compute({ current_state: "idle" });
    const change = answer(idle, [operation("running")]);
    const ready = await update({ computes: () => [idle], operations: () => [operation("finished")], change });
    expect(ready.current_state).toBe("idle");
  });

  test("it is idle where that is expected", async () => {
    const idle = compute({ current_state: "idle" });
    const change = answer(compute(), [operation("running")]);
    await expect(update({ computes: () => [idle], change }, { idleIsReady: true })).resolves.toBeDefined();
    const late = update({ computes: () => [idle], change }, { deadline: new Deadline(400) });
    expect(await errorOf(late)).toBeInstanceOf(WaitTimeoutError);
  });

  test("it was changed while idle, on a service without operations route", async () => {
    const idle = compute({ current_state: "idle" });
    await expect(
      update({ computes: () => [idle], change: answer(idle, [operation("running")]) }),
    ).resolves.toBeDefined();
  });

  test("the list is no longer older than the answer", async () => {
    const old = compute({ updated_at: "2026-01-01T00:00:00Z", name: "old" });
    const changed = compute({ updated_at: "2026-01-01T00:00:05Z", name: "new" });
    const wanted = { computes: (nth: number) => [nth < 3 ? old : changed], operations: () => [operation("finished")] };
    const change = answer(changed, [operation("running")]);
    const ready = await update({ ...wanted, change }, {}, { lagMs: PATIENT });
    expect(ready.name).toBe("new");
  });

  test("a change was accepted with an empty body and its operations, found in the list, ended", async () => {
    const operations = (nth: number): object[] => (nth < 2 ? [] : [operation(nth < 5 ? "running" : "finished")]);
    const { server, client } = inMemory(scene({ computes: () => [compute()], operations }), { lagMs: 2_000 });
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY });
    expect(server.count("GET /projects/prj-1/operations?limit=100")).toBeGreaterThanOrEqual(5);
  });
});

test.each(["failed", "error", "cancelled"])(
  "an operation that ends %s fails at once, with its action, id and error",
  async (status) => {
    const { client } = inMemory(
      scene({
        computes: () => [compute(init)],
        operations: () => [operation(status, { error: "no capacity\nleft test-key" })],
        change: { json: { endpoint: compute(init), operations: [operation("running")] } },
        creates: true,
      }),
    );
    const error = await errorOf(createCompute(client, PRJ, { branch_id: "br-1" }));
    expect(error).toBeInstanceOf(OperationFailedError);
    expect(String(error)).toContain(`operation op-9 start_compute ${status}`);
    expect(String(error)).toBe(
      `OperationFailedError: operation op-9 start_compute ${status}: [the service's message repeats a secret]`,
    );
    expect(JSON.stringify(error)).not.toContain("test-key");
  },
);

test("a wait that takes too long reports the last state and the operation", async () => {
  const { client } = inMemory(
    scene({
      computes: () => [compute(init)],
      operations: () => [operation("running")],
      change: { json: { endpoint: compute(init), operations: [operation("running")] } },
      creates: true,
    }),
  );
  const told: EndpointRecord[] = [];
  const options = { deadline: new Deadline(1_000), onAccepted: (endpoint: EndpointRecord) => told.push(endpoint) };
  const error = await errorOf(createCompute(client, PRJ, { branch_id: "br-1" }, options));
  expect(error).toBeInstanceOf(WaitTimeoutError);
  expect(String(error)).toBe('WaitTimeoutError: still "init" after 1 s (operation op-9 start_compute running)');
  expect(told).toMatchObject([{ id: "ep-1" }]);
});

test("a wait that gets no list at all reports the response to the change", async () => {
  const change = { json: { endpoint: compute(init), operations: [operation("running")] } };
  const { client } = inMemory(({ method, path }, nth) => {
    if (method !== "GET") return change;
    return path === ENDPOINTS && nth === 1 ? { json: { endpoints: [] } } : { fault: "hang" };
  });
  const options = { deadline: new Deadline(1_000) };
  const error = await errorOf(createCompute(client, PRJ, { branch_id: "br-1" }, options));
  expect(error).toMatchObject({ name: "WaitTimeoutError" });
  expect(String(error)).toContain('still "init" after 1 s (operation op-9 start_compute running)');
});

test("each waiter gets progress messages", async () => {
  const project = new FakeProject({ operationMs: 1_000 });
  const { client } = inMemory(project.script);
  const told: string[] = [];
  const onProgress = (text: string): void => void told.push(text);
  await createCompute(client, PRJ, { branch_id: "br-1", type: "read_only" }, { onProgress });
  expect(told[0]).toMatch(/^starting, start_compute running, [01] s$/);
});

test("faults of the service do not end a wait, a refused key does", async () => {
  let fault: Reply = { status: 502, text: "<html>" };
  const looks: Script = (request, nth) => {
    if (request.method !== "GET") return { json: { endpoint: compute(init), operations: [operation("running")] } };
    if (request.path !== ENDPOINTS) return { status: 405 };
    // The first one is the list of before the creation.
    if (nth === 1) return { json: { endpoints: [] } };
    return nth < 5 ? fault : { json: { endpoints: [compute()] } };
  };
  const { client } = inMemory(looks);
  const create = (): Promise<EndpointRecord> => createCompute(client, PRJ, { branch_id: "br-1" });
  await expect(create()).resolves.toMatchObject({ current_state: "active" });
  fault = { status: 401 };
  const { client: refused } = inMemory(looks);
  await expect(createCompute(refused, PRJ, { branch_id: "br-1" })).rejects.toBeInstanceOf(AuthenticationError);
});

test("a compute that disappears while waited for ends the wait, a list that lags does not", async () => {
  const change: Reply = { json: { endpoint: compute(init), operations: [operation("running")] } };
  const operations = (): object[] => [operation("running")];
  const lagging = inMemory(
    scene({
      computes: (nth) => (nth < 3 ? [] : [compute()]),
      operations: () => [operation("finished")],
      change,
      creates: true,
    }),
    { lagMs: PATIENT },
  );
  await expect(createCompute(lagging.client, PRJ, {})).resolves.toBeDefined();
  const gone = inMemory(
    scene({ computes: (nth) => (nth < 3 ? [compute(init)] : []), operations, change, creates: true }),
  );
  const error = await errorOf(createCompute(gone.client, PRJ, {}));
  expect(error).toBeInstanceOf(NotFoundError);
  expect(String(error)).toContain("deleted during the wait");
});

test("a compute that is not ready, with nothing under way, is not waited for, and the operation that failed is named", async () => {
  const operations = (): object[] => [operation("failed", { error: "no capacity" })];
  const { client } = inMemory(scene({ computes: () => [compute({ current_state: "init" })], operations }));
  const error = await errorOf(client.computes.waitFor(PRJ, "ep-1", { deadline: new Deadline(PATIENT) }));
  expect(error).toBeInstanceOf(NotStartingError);
  expect(String(error)).toBe(
    'NotStartingError: still "init", and no operation is running that would change that; ' +
      "operation op-9 start_compute failed: no capacity",
  );
});

test("many computes are waited for with one poll loop", async () => {
  const project = new FakeProject({ operationMs: 600 });
  const { server, client } = inMemory(project.script, { pollCeilingMs: 200 });
  await Promise.all(
    Array.from({ length: 12 }, () => createCompute(client, PRJ, { branch_id: "b", type: "read_only" })),
  );
  // One loop of 200 ms over about a second, a list before each creation and a check for each new wait: far fewer than
  // twelve loops.
  expect(server.count(LIST)).toBeLessThan(12 + 12 + 15);
});

test("a long wait asks less and less often, and ends soon after its operation does", async () => {
  const began = performance.now();
  const passed = (): number => performance.now() - began;
  const { server, client } = inMemory(
    scene({
      computes: () => [compute()],
      operations: () => [operation(passed() < 70_000 ? "running" : "finished")],
      change: { json: { endpoint: compute(), operations: [operation("running")] } },
    }),
    { pollCeilingMs: 2_000 },
  );
  await client.computes.update(
    { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
    { deadline: new Deadline(100_000) },
  );
  expect(passed()).toBeLessThan(72_500);
  // With the pause of the beginning these would be 700.
  expect(server.count(OPERATIONS)).toBeLessThan(100);
});

test("no timer outlives a wait", async () => {
  const { client } = inMemory(scene({ computes: () => [compute(init)] }), { pollCeilingMs: 60_000 });
  const error = await errorOf(client.computes.waitFor(PRJ, "ep-1", { deadline: new Deadline(300) }));
  expect(error).toBeInstanceOf(WaitTimeoutError);
  expect(jest.getTimerCount()).toBe(0);
});

const change = (operations: object[], endpoint = compute()): Reply => ({ json: { endpoint, operations } });
const at = (ms: number): { deadline: Deadline } => ({ deadline: new Deadline(ms) });

describe("a wait ends when its operation does", () => {
  test("also where the last operation of that kind took very long", async () => {
    let changes = 0;
    const { client } = inMemory(({ method, line }) => {
      if (method !== "GET") return change([operation("running", { id: `op-${++changes}` })]);
      if (line === LIST) return { json: { endpoints: [compute()] } };
      const took = { total_duration_ms: 3_600_000 };
      return { json: { operations: [1, 2].map((nth) => operation("finished", { id: `op-${nth}`, ...took })) } };
    });
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, at(5_000));
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, at(5_000));
  });

  test("also while younger waits ask for the compute list alone", async () => {
    const began = performance.now();
    const passed = (): number => performance.now() - began;
    const replica = compute({ id: "ep-2", type: "read_only" });
    const running = operation("running", { id: "op-2", endpoint_id: "ep-2" });
    const { server, client } = inMemory(
      ({ method, line }) => {
        if (method === "PATCH") return change([operation("running")]);
        if (method === "DELETE") return change([running], replica);
        if (line === LIST) return { json: { endpoints: passed() < 4_000 ? [compute(), replica] : [compute()] } };
        return { json: { operations: [running, operation(passed() < 4_000 ? "running" : "finished")] } };
      },
      { lagMs: 10_000, pollCeilingMs: 2_000 },
    );
    const updating = client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
      at(20_000),
    );
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const deleting = client.computes.delete({ projectId: PRJ, endpointId: "ep-2" }, { ...PROVEN, ...at(20_000) });
    const before = server.count(OPERATIONS);
    await deleting;
    // After 2 to 4 s there is a look after each 0.2 to 0.4 s.
    expect(server.count(OPERATIONS) - before).toBeGreaterThanOrEqual(5);
    await updating;
  }, 30_000);

  test("with a compute list of after its end, where both are read at one time", async () => {
    // The change takes the compute down and up again: the second list is read when it is down, and says so at once.
    let isUp = true;
    let changes = 0;
    const { client } = inMemory(async ({ method, line }) => {
      if (method !== "GET") {
        changes += 1;
        isUp = changes < 2;
        return change([operation("running", { id: `op-${changes}` })]);
      }
      if (line === LIST) return { json: { endpoints: [compute(isUp ? {} : { current_state: "idle" })] } };
      await new Promise((resolve) => setTimeout(resolve, 50));
      isUp = true;
      return { json: { operations: [operation("finished", { id: `op-${changes}`, total_duration_ms: 100 })] } };
    });
    await client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, at(5_000));
    const seen = await client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
      at(5_000),
    );
    expect(seen.current_state).toBe("active");
  });
});

test("a replica that stays because the operation of its deletion failed is not waited for until the deadline", async () => {
  const replica = compute({ type: "read_only" });
  const { client } = inMemory(({ method, line }) => {
    if (method !== "GET") return change([operation("running")], replica);
    return line === LIST ? { json: { endpoints: [replica] } } : { json: { operations: [operation("failed")] } };
  });
  const error = await errorOf(
    client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, { ...PROVEN, ...at(5_000) }),
  );
  expect(error).toBeInstanceOf(OperationFailedError);
});

test("an operation counts as untraceable by a list that was read a lag after the change, not one that took as long to come", async () => {
  let looks = 0;
  const { client } = inMemory(
    ({ method, line }) => {
      if (method !== "GET") return change([operation("running")]);
      if (line === LIST) return { json: { endpoints: [compute()] } };
      looks += 1;
      return looks === 1 ? { json: { operations: [] }, delayMs: 400 } : { json: { operations: [operation("failed")] } };
    },
    { lagMs: 300 },
  );
  const error = await errorOf(
    client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, at(5_000)),
  );
  expect(error).toBeInstanceOf(OperationFailedError);
});
