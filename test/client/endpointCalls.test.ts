import { NotFoundError } from "../../src/client";
import { FakeProject } from "./fakeProject";
import { compute, LIST, operation, PRJ, scene } from "./scene";
import { closeAll, errorOf, scripted } from "./scriptedServer";

afterEach(closeAll);

describe("waitForEndpoint", () => {
  test("fails when the newest operation of the compute failed, and says which", async () => {
    const operations = (): object[] => [
      operation("finished", { id: "op-3", endpoint_id: "ep-other" }),
      operation("failed", { id: "op-2", error: "boom" }),
      operation("finished", { id: "op-1" }),
    ];
    const { client } = await scripted(scene({ computes: () => [compute()], operations }));
    const error = await errorOf(client.waitForEndpoint(PRJ, "ep-1"));
    expect(error).toMatchObject({ operation: { id: "op-2" } });
  });

  test("does not mind a failed one that a newer one made good, nor the background check", async () => {
    const operations = (): object[] => [
      operation("failed", { id: "op-3", action: "check_availability" }),
      operation("finished", { id: "op-2" }),
      operation("failed", { id: "op-1" }),
    ];
    const { client } = await scripted(scene({ computes: () => [compute()], operations }));
    await expect(client.waitForEndpoint(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  });

  test("waits while one is unfinished", async () => {
    const operations = (nth: number): object[] => [operation(nth < 3 ? "scheduling" : "finished")];
    const { server, client } = await scripted(scene({ computes: () => [compute()], operations }));
    await client.waitForEndpoint(PRJ, "ep-1");
    expect(server.count(LIST)).toBe(3);
  });

  test("takes the first look's word where the service has no operations route", async () => {
    const { client } = await scripted(scene({ computes: () => [compute({ current_state: "idle" })] }));
    await expect(client.waitForEndpoint(PRJ, "ep-1")).resolves.toMatchObject({ current_state: "idle" });
  });
});

describe("deleteEndpoint", () => {
  test.each([
    ["404", { status: 404, json: { message: "gone" } }],
    ["410", { status: 410 }],
  ])("takes %s for done", async (_, change) => {
    const { server, client } = await scripted(scene({ computes: () => [], change }));
    await client.deleteEndpoint(PRJ, "ep-1");
    expect(server.seen).toHaveLength(1);
  });

  test("takes 204 with an empty body for done once the list lacks it", async () => {
    const change = { status: 204 };
    const { client } = await scripted(scene({ computes: (nth) => (nth < 3 ? [compute()] : []), change }));
    await client.deleteEndpoint(PRJ, "ep-1");
  });

  test("does not take a refusal or a proxy's page for gone", async () => {
    const page = { "content-type": "text/html" };
    for (const change of [{ status: 403 }, { status: 401 }, { status: 404, text: "<html>", headers: page }]) {
      const { client } = await scripted(scene({ computes: () => [], change }));
      await expect(client.deleteEndpoint(PRJ, "ep-1")).rejects.toHaveProperty("status", change.status);
    }
  });

  test("waits for its operations to end although the list lacks it already", async () => {
    const change = { json: { endpoint: compute({ pending_state: "idle" }), operations: [operation("running")] } };
    const operations = (nth: number): object[] => [operation(nth < 4 ? "running" : "finished")];
    const { server, client } = await scripted(scene({ computes: () => [], operations, change }));
    await client.deleteEndpoint(PRJ, "ep-1");
    expect(server.count(LIST)).toBe(4);
  });
});

describe("startEndpoint", () => {
  test("is undefined where the route does not exist", async () => {
    const { client } = await scripted(scene({ computes: () => [compute()], change: { status: 404 } }));
    await expect(client.startEndpoint(PRJ, "ep-1")).resolves.toBeUndefined();
  });

  test("is an error for a compute that does not exist", async () => {
    const { client } = await scripted(scene({ computes: () => [], change: { status: 404 } }));
    await expect(client.startEndpoint(PRJ, "ep-1")).rejects.toBeInstanceOf(NotFoundError);
  });

  test("waits until the compute is active", async () => {
    const project = new FakeProject();
    project.computes.push({ id: "ep-1", host: "h", branch_id: "b", type: "read_write", current_state: "idle" });
    const { client } = await scripted(project.script);
    await expect(client.startEndpoint(PRJ, "ep-1")).resolves.toMatchObject({ current_state: "active" });
  });
});

describe("findEndpoint", () => {
  test("does not believe one list that lags, and asks for one later list however many are missed", async () => {
    const lists = (nth: number): object[] => (nth < 2 ? [] : [compute(), compute({ id: "ep-2" })]);
    const { server, client } = await scripted(({ path }, nth) =>
      path.endsWith("/endpoints") ? { json: { endpoints: lists(nth) } } : { status: 404 },
    );
    const found = await Promise.all(["ep-1", "ep-2", "ep-3"].map((id) => client.findEndpoint(PRJ, id)));
    expect(found.map((endpoint) => endpoint?.id)).toEqual(["ep-1", "ep-2", undefined]);
    expect(server.count(LIST)).toBe(2);
  });

  test("does not wait again for what is missed after a later list came, before something of ours has changed", async () => {
    const { server, client } = await scripted(({ method, path }) =>
      method === "GET" && path.endsWith("/endpoints") ? { json: { endpoints: [] } } : { status: 404 },
    );
    const lists = async (id: string): Promise<number> => {
      const before = server.count(LIST);
      await expect(client.findEndpoint(PRJ, id)).resolves.toBeUndefined();
      return server.count(LIST) - before;
    };
    expect([await lists("ep-1"), await lists("ep-2")]).toEqual([2, 0]);
    await client.deleteEndpoint(PRJ, "ep-3");
    expect([await lists("ep-1"), await lists("ep-2")]).toEqual([2, 0]);
  });

  test("believes no single list, also when it comes after somebody has waited for another compute", async () => {
    const lists = [[compute()], [], [compute()]];
    const { client } = await scripted(({ path }, nth) =>
      path.endsWith("/endpoints") ? { json: { endpoints: lists[nth - 1] ?? [] } } : { status: 404 },
    );
    await expect(client.findEndpoint(PRJ, "ep-gone")).resolves.toBeUndefined();
    await expect(client.findEndpoint(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  });

  test("is an error, never undefined, when the later list fails", async () => {
    const { client } = await scripted(({ path }, nth) => {
      if (!path.endsWith("/endpoints")) return { status: 404 };
      return nth < 2 ? { json: { endpoints: [] } } : { status: 403 };
    });
    await expect(client.findEndpoint(PRJ, "ep-1")).rejects.toHaveProperty("status", 403);
  });
});
