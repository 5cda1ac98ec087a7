import fc from "fast-check";
import { Deadline, LockedError, OperationFailedError } from "../../../src/client";
import { createCompute } from "../../support/creating";
import { FakeProject } from "../../support/fakeProject";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, inMemory } from "../../support/scriptedServer";

skippingClock();

const PRJ = "prj-1";
const replica = { branch_id: "br-1", type: "read_only" };
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

test("of ten computes created at once on a project that locks none meets two 423, and nobody asks for the lock in a loop", async () => {
  const project = new FakeProject({ locks: true });
  const { client } = inMemory(project.script);
  const made = await Promise.all(times(10, () => createCompute(client, PRJ, replica)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(10);
  expect(made.every(({ current_state }) => current_state === "active")).toBe(true);
  expect(project.count("POST", 423)).toBeLessThanOrEqual(9);
  expect(project.count("POST", 201)).toBe(10);
  expect(project.mostRunning).toBe(1);
});

test("a locking project without the operations route is queued for just the same", async () => {
  const project = new FakeProject({ locks: true, operationsRoute: false });
  const { client } = inMemory(project.script);
  await Promise.all(times(6, () => createCompute(client, PRJ, replica)));
  expect(project.count("POST", 423)).toBeLessThanOrEqual(5);
  expect(project.count("POST", 201)).toBe(6);
});

test("after the first 423 of a project its changes meet no other", async () => {
  const project = new FakeProject({ locks: true, operationMs: 20 });
  const { client } = inMemory(project.script);
  project.lockedByStranger = true;
  const first = createCompute(client, PRJ, replica, { onProgress: () => (project.lockedByStranger = false) });
  await first;
  const refused = project.count("POST", 423);
  await Promise.all(times(8, () => createCompute(client, PRJ, replica)));
  expect(project.count("POST", 423)).toBe(refused);
  expect(project.mostRunning).toBe(1);
});

test("on a project that does not lock, changes leave and run side by side", async () => {
  const project = new FakeProject({ operationMs: 400 });
  let open = 0;
  let most = 0;
  const { client } = inMemory(async (request, nth) => {
    if (request.method !== "POST") return project.script(request, nth);
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 100));
    open -= 1;
    return project.script(request, nth);
  });
  await Promise.all(times(8, (i) => createCompute(client, PRJ, { branch_id: `br-${i}`, type: "read_write" })));
  expect(most).toBeGreaterThan(4);
  expect(project.mostRunning).toBeGreaterThan(4);
  expect(project.count("POST", 423)).toBe(0);
});

test("two projects do not wait for each other", async () => {
  const slow = new FakeProject({ locks: true, operationMs: 1_000 });
  const quick = new FakeProject({ locks: true, operationMs: 10 });
  const { client } = inMemory((request, nth) =>
    (request.path.startsWith("/projects/prj-slow/") ? slow : quick).script(request, nth),
  );
  const order: string[] = [];
  const create = (id: string): Promise<unknown> => createCompute(client, id, replica).then(() => order.push(id));
  await Promise.all([create("prj-slow"), create("prj-quick")]);
  expect(order).toEqual(["prj-quick", "prj-slow"]);
});

test("time in the queue does not count against a change's deadline", async () => {
  const project = new FakeProject({ locks: true, operationMs: 300 });
  const { client } = inMemory(project.script);
  const deadlines = times(5, () => new Deadline(1_200));
  const made = await Promise.all(deadlines.map((deadline) => createCompute(client, PRJ, replica, { deadline })));
  expect(made).toHaveLength(5);
});

test("a lock that somebody else holds is waited for, by one request at a time once each was refused", async () => {
  const project = new FakeProject({ locks: true, operationMs: 10 });
  project.lockedByStranger = true;
  let posts = 0;
  let open = 0;
  let most = 0;
  const { client } = inMemory(async (request, nth) => {
    const isLater = request.method === "POST" && (posts += 1) > 3;
    if (isLater) most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (isLater) open -= 1;
    if (project.count("POST", 423) >= 6) project.lockedByStranger = false;
    return project.script(request, nth);
  });
  await Promise.all(times(3, () => createCompute(client, PRJ, replica)));
  expect(project.count("POST", 423)).toBe(6);
  expect(project.count("POST", 201)).toBe(3);
  expect(most).toBe(1);
});

test("of two that left together and met somebody else's lock, one asks for it and the other's clock stands still", async () => {
  const project = new FakeProject({ locks: true, operationMs: 300 });
  project.lockedByStranger = true;
  const { client } = inMemory(project.script);
  const deadlines = [new Deadline(8_000), new Deadline(8_000)];
  const both = Promise.all(deadlines.map((deadline) => createCompute(client, PRJ, replica, { deadline })));
  const began = performance.now();
  setTimeout(() => (project.lockedByStranger = false), 500);
  await expect(both).resolves.toHaveLength(2);
  const tookMs = performance.now() - began;
  expect(Math.min(...deadlines.map((deadline) => 8_000 - deadline.remainingMs()))).toBeLessThan(tookMs - 450);
});

test("a lock that never goes is a LockedError at the deadline, and the next in line gets its turn", async () => {
  const project = new FakeProject();
  project.lockedByStranger = true;
  const { client } = inMemory(project.script);
  const create = (): Promise<unknown> =>
    errorOf(createCompute(client, PRJ, replica, { deadline: new Deadline(1_000) }));
  const errors = await Promise.all([create(), create()]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(LockedError);
    expect(error).toHaveProperty("status", 423);
    expect(String(error)).toMatch(/POST \/projects\/\{project_id\}\/endpoints -> 423/);
  }
});

test("a failed change gives its place to the next one", async () => {
  const project = new FakeProject({ locks: true, endsAs: "failed" });
  const { client } = inMemory(project.script);
  const errors = await Promise.all(times(4, () => errorOf(createCompute(client, PRJ, replica))));
  expect(errors.every((error) => error instanceof OperationFailedError)).toBe(true);
  expect(project.count("POST", 201)).toBe(4);
});

test("a deletion is waited for before a compute is made on its branch", async () => {
  const project = new FakeProject({ locks: true });
  const { client } = inMemory(project.script);
  const { id } = await createCompute(client, PRJ, { branch_id: "br-1", type: "read_write" });
  await client.computes.delete({ projectId: PRJ, endpointId: id, beforeAttempt: () => undefined });
  expect(project.computes).toHaveLength(0);
  await createCompute(client, PRJ, { branch_id: "br-1", type: "read_write" });
  expect(project.count("POST", 423)).toBe(0);
});

test("whatever the mix of changes and speeds, a locking project refuses each at most once and every change is made once", async () => {
  const change = fc.constantFrom("create", "update", "delete", "restart");
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 7 }),
      fc.constantFrom(1, 7, 40),
      async (changes, operationMs) => {
        const project = new FakeProject({ locks: true, operationMs });
        for (const [i] of changes.entries()) {
          project.computes.push({
            id: `ep-old${i}`,
            host: "h",
            branch_id: "b",
            type: "read_write",
            current_state: "active",
          });
        }
        const { client } = inMemory(project.script);
        await Promise.all(
          changes.map(async (kind, i): Promise<unknown> => {
            if (kind === "update")
              return client.computes.update({
                projectId: PRJ,
                endpointId: `ep-old${i}`,
                attributes: { pooler_enabled: true },
                isShown: () => true,
              });
            if (kind === "delete")
              return client.computes.delete({
                projectId: PRJ,
                endpointId: `ep-old${i}`,
                beforeAttempt: () => undefined,
              });
            if (kind === "restart") return client.computes.restart(PRJ, `ep-old${i}`);
            return createCompute(client, PRJ, replica);
          }),
        );
        const locked = project.statuses.filter(({ status }) => status === 423).length;
        expect(locked).toBeLessThan(changes.length);
        expect(project.operations).toHaveLength(changes.length);
      },
    ),
    { numRuns: 15 },
  );
}, 60_000);

test("a lock is told of also when the deadline passes in the look before the next attempt", async () => {
  const project = new FakeProject();
  project.lockedByStranger = true;
  const { client } = inMemory(async (request, nth) => {
    const reply = await project.script(request, nth);
    return request.method === "GET" && nth > 1 ? { ...reply, delayMs: 300 } : reply;
  });
  const error = await errorOf(createCompute(client, PRJ, replica, { deadline: new Deadline(500) }));
  expect(String(error)).toMatch(/^LockedError: .*the project has a running operation/);
});

test("a lock that asks for a longer pause than is left fails at once, with both times", async () => {
  const project = new FakeProject();
  project.lockedByStranger = true;
  const { client, server } = inMemory(async (request, nth) => {
    const reply = await project.script(request, nth);
    return reply.status === 423 ? { ...reply, headers: { "retry-after": "60" } } : reply;
  });
  const error = await errorOf(createCompute(client, PRJ, replica, { deadline: new Deadline(5_000) }));
  expect(error).toBeInstanceOf(LockedError);
  expect(String(error)).toMatch(/the service asks to wait 60 s, more than the [\d.]+ s left/);
  expect(server.count(`POST /projects/${PRJ}/endpoints`)).toBe(1);
});

test("who waits for somebody else's lock is told so", async () => {
  const project = new FakeProject();
  project.lockedByStranger = true;
  const { client } = inMemory(project.script);
  const told: string[] = [];
  const onProgress = (text: string): void => {
    told.push(text);
    project.lockedByStranger = false;
  };
  await createCompute(client, PRJ, replica, { onProgress });
  expect(told[0]).toBe("waiting for an operation of this project that somebody else started");
});
