import type { ObservedExchange } from "../../src/client";
import { closeAll, inMemory } from "../support/scriptedServer";

afterEach(closeAll);

const ROUTE = { template: "/projects/{project_id}/endpoints", params: { project_id: "prj-1" } };

test("a probe sends one attempt, and returns whatever was answered", async () => {
  const seen: ObservedExchange[] = [];
  const { server, client } = inMemory(() => ({ status: 503, text: "<p>down</p>" }), {
    apiKey: "canary-key",
    observe: (one) => seen.push(one),
  });
  const body = { endpoint: {} };
  expect(await client.probe({ method: "POST", ...ROUTE, body })).toMatchObject({ status: 503, text: "<p>down</p>" });
  expect(server.lines()).toEqual(["POST /projects/prj-1/endpoints"]);
  expect(seen).toMatchObject([
    { method: "POST", template: ROUTE.template, path: "/projects/prj-1/endpoints", sent: body, status: 503 },
  ]);
  // What is observed is a request and its response, without the account.
  expect(JSON.stringify(seen)).not.toContain("canary");
});

test("a list is read anew after the reads were forgotten", async () => {
  const { server, client } = inMemory(() => ({ json: { endpoints: [] } }));
  for (const forget of [false, false, true]) {
    if (forget) client.forgetReads();
    await client.computes.list("prj-1");
  }
  expect(server.lines()).toEqual(Array(2).fill("GET /projects/prj-1/endpoints"));
});

test("nothing is sent if what must hold right before it does not", async () => {
  const { server, client } = inMemory(() => ({ json: {} }));
  const beforeAttempt = (): Promise<void> => Promise.reject(new Error("not ours"));
  await expect(client.probe({ method: "POST", ...ROUTE, beforeAttempt })).rejects.toThrow("not ours");
  expect(server.seen).toEqual([]);
});

test("a probe without a response is an error", async () => {
  const { server, client } = inMemory(() => ({ fault: "reset" }));
  await expect(client.probe({ method: "GET", ...ROUTE })).rejects.toThrow("the connection to ");
  expect(server.seen).toHaveLength(1);
});
