/** What went wrong when waits, creations and the program's side were made faster: once each. */
import { Deadline } from "../../src/client";
import { compute, LIST, operation, OPERATIONS, PRJ } from "../support/scene";
import { closeAll, type Reply, scripted } from "../support/scriptedServer";

afterEach(closeAll);

const change = (operations: object[], endpoint = compute()): Reply => ({ json: { endpoint, operations } });
const at = (ms: number): { deadline: Deadline } => ({ deadline: new Deadline(ms) });

describe("a wait ends when its operation does", () => {
  test("also where the last operation of that kind took very long", async () => {
    let changes = 0;
    const { client } = await scripted(({ method, line }) => {
      if (method !== "GET") return change([operation("running", { id: `op-${++changes}` })]);
      if (line === LIST) return { json: { endpoints: [compute()] } };
      const took = { total_duration_ms: 3_600_000 };
      return { json: { operations: [1, 2].map((nth) => operation("finished", { id: `op-${nth}`, ...took })) } };
    });
    await client.computes.update(PRJ, "ep-1", {}, () => true, at(5_000));
    await client.computes.update(PRJ, "ep-1", {}, () => true, at(5_000));
  });

  test("also while younger waits ask for the compute list alone", async () => {
    const began = performance.now();
    const passed = (): number => performance.now() - began;
    const replica = compute({ id: "ep-2", type: "read_only" });
    const running = operation("running", { id: "op-2", endpoint_id: "ep-2" });
    const { server, client } = await scripted(
      ({ method, line }) => {
        if (method === "PATCH") return change([operation("running")]);
        if (method === "DELETE") return change([running], replica);
        if (line === LIST) return { json: { endpoints: passed() < 4_000 ? [compute(), replica] : [compute()] } };
        return { json: { operations: [running, operation(passed() < 4_000 ? "running" : "finished")] } };
      },
      { lagMs: 10_000, pollCeilingMs: 2_000 },
    );
    const updating = client.computes.update(PRJ, "ep-1", {}, () => true, at(20_000));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const deleting = client.computes.delete(PRJ, "ep-2", () => undefined, at(20_000));
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
    const { client } = await scripted(async ({ method, line }) => {
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
    await client.computes.update(PRJ, "ep-1", {}, () => true, at(5_000));
    const seen = await client.computes.update(PRJ, "ep-1", {}, () => true, at(5_000));
    expect(seen.current_state).toBe("active");
  });
});
