/** The queue through the whole client, in memory: projects that lock. The line itself: projectQueue.test.ts. */
import fc from "fast-check";
import { ANY, createCompute } from "../../support/creating";
import { FakeProject } from "../../support/fakeProject";
import { skippingClock } from "../../support/fakeClock";
import { PROVEN } from "../../support/proven";
import { inMemory } from "../../support/scriptedServer";

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

test("a deletion is waited for before a compute is made on its branch", async () => {
  const project = new FakeProject({ locks: true });
  const { client } = inMemory(project.script);
  const { id } = await createCompute(client, PRJ, { branch_id: "br-1", type: "read_write" });
  await client.computes.delete({ projectId: PRJ, endpointId: id }, PROVEN);
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
                expected: ANY,
              });
            if (kind === "delete") return client.computes.delete({ projectId: PRJ, endpointId: `ep-old${i}` }, PROVEN);
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
