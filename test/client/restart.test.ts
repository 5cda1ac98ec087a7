import { compute, ENDPOINTS, PRJ } from "../support/scene";
import { closeAll, scripted } from "../support/scriptedServer";

afterEach(closeAll);

test("a compute is restarted by a key that may not read the operations", async () => {
  const { server, client } = await scripted(({ method, path }) => {
    if (method === "POST") return { json: { endpoint: compute(), operations: [] } };
    return path === ENDPOINTS ? { json: { endpoints: [compute()] } } : { status: 403, json: {} };
  });
  await expect(client.computes.restart(PRJ, "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});
