/** The calls of computes through the whole client, in memory. */
import { ANY } from "../../support/creating";
import { BadResponseError, Deadline, Gone, NotFoundError, type Permission, Refused } from "../../../src/client";
import { PROVEN } from "../../support/proven";
import { FakeProject } from "../../support/fakeProject";
import { compute, ENDPOINTS, gone, init, LIST, operation, OPERATIONS, PRJ, scene } from "../../support/scene";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, inMemory } from "../../support/scriptedServer";

skippingClock();

describe("waiting for a compute", () => {
  test("fails when an operation that was under way fails, and says which", async () => {
    const operations = (nth: number): object[] => [
      operation("failed", { id: "op-3", endpoint_id: "ep-other" }),
      operation(nth < 3 ? "running" : "failed", { id: "op-2", error: "boom" }),
      operation("finished", { id: "op-1" }),
    ];
    const { client } = inMemory(scene({ computes: () => [compute()], operations }));
    const error = await errorOf(client.computes.waitFor(PRJ, "ep-1"));
    expect(String(error)).toMatch(/^OperationFailedError: operation op-2 /);
  });

  test("does not mind one that had failed before, nor the background check", async () => {
    const operations = (): object[] => [
      operation("failed", { id: "op-3", action: "check_availability" }),
      operation("failed", { id: "op-2" }),
    ];
    const { client } = inMemory(scene({ computes: () => [compute()], operations }));
    await expect(client.computes.waitFor(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  });

  test("waits while one is unfinished", async () => {
    const operations = (nth: number): object[] => [operation(nth < 3 ? "scheduling" : "finished")];
    const { server, client } = inMemory(scene({ computes: () => [compute()], operations }));
    await client.computes.waitFor(PRJ, "ep-1");
    expect(server.count(LIST)).toBe(3);
  });

  test("takes the first look's word where the service has no operations route", async () => {
    const { client } = inMemory(scene({ computes: () => [compute({ current_state: "idle" })] }));
    await expect(client.computes.waitFor(PRJ, "ep-1")).resolves.toMatchObject({ current_state: "idle" });
  });
});

describe("deleting a compute", () => {
  test.each([404, 410] as const)("takes %i of the service for done with the list that lacks it", async (status) => {
    const { server, client } = inMemory(scene({ computes: () => [], change: gone(status) }));
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
    expect(server.lines()).toEqual([`DELETE ${ENDPOINTS}/ep-1`, LIST]);
  });

  test("takes a 404 for done although lists lag, and fails while it is listed after that", async () => {
    const late = inMemory(scene({ computes: (nth) => (nth < 3 ? [compute()] : []), change: gone() }));
    await late.client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
    expect(late.server.count(LIST)).toBe(3);
    const { client } = inMemory(scene({ computes: () => [compute()], change: gone() }));
    const error = await errorOf(client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN));
    expect(String(error)).toContain("not there; ep-1 is still listed (DELETE");
  });

  test("takes 204 with an empty body for done once the list lacks it", async () => {
    const change = { status: 204 };
    const { client } = inMemory(scene({ computes: (nth) => (nth < 3 ? [compute()] : []), change }));
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
  });

  test("waits for a deletion that was accepted with an empty body and takes longer than lists may lag", async () => {
    const ends = 8;
    const computes = (nth: number): object[] => (nth < ends ? [compute({ pending_state: "idle" })] : []);
    const operations = (nth: number): object[] => [operation(nth < ends ? "running" : "finished")];
    const { client } = inMemory(scene({ computes, operations, change: { status: 204 } }), { lagMs: 50 });
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, { ...PROVEN, deadline: new Deadline(10_000) });
  });

  test("does not take a refusal or the 404 of something in front for gone while the list has it", async () => {
    const page = { "content-type": "text/html" };
    const changes = [
      { status: 403 },
      { status: 401 },
      { status: 404 },
      { status: 404, text: "default backend - 404" },
      { status: 404, json: { message: "no route matched" } },
      { status: 404, text: "<html>", headers: page },
    ];
    for (const change of changes) {
      const { client } = inMemory(scene({ computes: () => [compute()], change }));
      await expect(client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN)).rejects.toHaveProperty(
        "status",
        change.status,
      );
    }
  });

  test("takes a 404 of something in front for done when a list of a lag later lacks it", async () => {
    const lists = (nth: number): object[] => (nth < 2 ? [compute()] : []);
    const change = { status: 404, text: "default backend - 404" };
    const late = inMemory(scene({ computes: lists, change }));
    await expect(late.client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN)).rejects.toBeInstanceOf(
      BadResponseError,
    );
    await late.client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
    expect(late.server.count(LIST)).toBe(2);
  });

  test("sends nothing when somebody else of the run has it by then", async () => {
    const { server, client } = inMemory(scene({ computes: () => [compute()] }));
    const mayGo = (): Permission => Refused.proven(new Error("taken over"));
    const deletion = { projectId: PRJ, endpointId: "ep-1" };
    await expect(client.computes.delete(deletion, { mayGo })).rejects.toThrow("taken over");
    expect(server.seen).toEqual([]);
  });

  test("waits for its operations to end although the list lacks it already", async () => {
    const change = { json: { endpoint: compute({ pending_state: "idle" }), operations: [operation("running")] } };
    const operations = (nth: number): object[] => [operation(nth < 4 ? "running" : "finished")];
    const { server, client } = inMemory(scene({ computes: () => [], operations, change }));
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-1" }, PROVEN);
    expect(server.count(OPERATIONS)).toBe(4);
  });
});

describe("starting a compute", () => {
  test("is undefined where the route does not exist", async () => {
    const { client } = inMemory(scene({ computes: () => [compute()], change: gone() }));
    await expect(client.computes.start(PRJ, "ep-1")).resolves.toBeUndefined();
  });

  test("is an error for a compute that does not exist", async () => {
    const { client } = inMemory(scene({ computes: () => [], change: gone() }));
    await expect(client.computes.start(PRJ, "ep-1")).rejects.toBeInstanceOf(NotFoundError);
  });

  test("waits until the compute is active", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "read_write", current_state: "idle" });
    const { client } = inMemory(project.script);
    await expect(client.computes.start(PRJ, "ep-1")).resolves.toMatchObject({ current_state: "active" });
  });
});

describe("finding a compute", () => {
  test("does not believe one list that lags, and asks for one later list however many are missed", async () => {
    const lists = (nth: number): object[] => (nth < 2 ? [] : [compute(), compute({ id: "ep-2" })]);
    const { server, client } = inMemory(({ path }, nth) =>
      path.endsWith("/endpoints") ? { json: { endpoints: lists(nth) } } : gone(),
    );
    const found = await Promise.all(["ep-1", "ep-2", "ep-3"].map((id) => client.computes.find(PRJ, id)));
    expect(found).toEqual([
      expect.objectContaining({ id: "ep-1" }),
      expect.objectContaining({ id: "ep-2" }),
      expect.any(Gone),
    ]);
    expect(server.count(LIST)).toBe(2);
  });

  test("does not wait again for what is missed after a later list came, before something of ours has changed", async () => {
    const { server, client } = inMemory(({ method, path }) =>
      method === "GET" && path.endsWith("/endpoints") ? { json: { endpoints: [] } } : gone(),
    );
    const lists = async (id: string): Promise<number> => {
      const before = server.count(LIST);
      await expect(client.computes.find(PRJ, id)).resolves.toBeInstanceOf(Gone);
      return server.count(LIST) - before;
    };
    expect([await lists("ep-1"), await lists("ep-2")]).toEqual([2, 0]);
    await client.computes.delete({ projectId: PRJ, endpointId: "ep-3" }, PROVEN);
    expect([await lists("ep-1"), await lists("ep-2")]).toEqual([2, 0]);
  });

  test("believes no single list, also when it comes after somebody has waited for another compute", async () => {
    const lists = [[compute()], [], [compute()]];
    const { client } = inMemory(({ path }, nth) =>
      path.endsWith("/endpoints") ? { json: { endpoints: lists[nth - 1] ?? [] } } : gone(),
    );
    await expect(client.computes.find(PRJ, "ep-gone")).resolves.toBeInstanceOf(Gone);
    await expect(client.computes.find(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  });

  test("is an error, never undefined, when the later list fails", async () => {
    const { client } = inMemory(({ path }, nth) => {
      if (!path.endsWith("/endpoints")) return gone();
      return nth < 2 ? { json: { endpoints: [] } } : { status: 403 };
    });
    await expect(client.computes.find(PRJ, "ep-1")).rejects.toHaveProperty("status", 403);
  });
});

test("where something in front answers 404 for the operations, a change is waited for by the record alone", async () => {
  const start = scene({
    computes: (nth) => [nth < 3 ? compute(init) : compute()],
    change: { json: { endpoint: compute(init) } },
  });
  const { client, server } = inMemory((request, nth) =>
    request.path.includes("/operations") ? { status: 404, text: "default backend - 404" } : start(request, nth),
  );
  const started = client.computes.start(PRJ, "ep-1", { deadline: new Deadline(10_000) });
  await expect(started).resolves.toMatchObject({ id: "ep-1", current_state: "active" });
  expect(server.seen.filter(({ path }) => path.includes("/operations")).length).toBeGreaterThan(1);
});

test("two 404s of something in front of the operations do not hide that the operation of a change fails", async () => {
  const change = { json: { endpoint: compute(), operations: [operation("running")] } };
  const failed = operation("failed", { error: "no capacity left" });
  const shown = scene({ computes: () => [compute()], operations: () => [failed], change });
  let asked = 0;
  const { client } = inMemory((request, nth) =>
    request.path.includes("/operations") && ++asked <= 2
      ? { status: 404, text: "default backend - 404" }
      : shown(request, nth),
  );
  const error = await errorOf(
    client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }),
  );
  expect(String(error)).toContain("no capacity left");
});

test("a compute is restarted by a key that may not read the operations", async () => {
  const { server, client } = inMemory(({ method, path }) => {
    if (method === "POST") return { json: { endpoint: compute(), operations: [] } };
    return path === ENDPOINTS ? { json: { endpoints: [compute()] } } : { status: 403, json: {} };
  });
  await expect(client.computes.restart(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});
