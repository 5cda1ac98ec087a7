import { AuthenticationError, BadAnswerError, Deadline, NotFoundError, TimeoutError } from "../../src/client";
import { SharedReads } from "../../src/client/sharedReads";
import { closeAll, errorOf, type Reply, scripted, type Script } from "./scriptedServer";

afterEach(closeAll);

const LIST = "GET /projects/p/endpoints";
const DOMAINS = "GET /projects/p/auth/domains";
const endpoint = (id: string): object => ({
  id,
  host: "h",
  branch_id: "b",
  type: "read_write",
  current_state: "active",
});

const service: Script = ({ method, path }) => {
  if (method !== "GET") return { status: 201, json: {} };
  if (path.endsWith("/endpoints")) return { json: { endpoints: [endpoint("ep-1"), endpoint("ep-2")] }, delayMs: 10 };
  if (path.endsWith("/domains")) return { json: { domains: [{ domain: "https://a.test" }] }, delayMs: 10 };
  if (path.endsWith("/oauth_providers")) return { json: { providers: [] } };
  if (path.endsWith("/integrations")) return { json: { data: [] } };
  return { json: { type: "shared" } };
};

test("a refresh of many resources costs one call for each collection and project", async () => {
  const { server, client } = await scripted(service);
  const ids = Array.from({ length: 30 }, (_, i) => `ep-${i}`);
  await Promise.all(ids.map((id) => client.getEndpoint("p", id)));
  for (const id of ids) await client.getEndpoint("q", id);
  await Promise.all(ids.map(() => client.listDomains("p")));
  expect(server.lines().sort()).toEqual([DOMAINS, LIST, "GET /projects/q/endpoints"].sort());
});

test("a compute is missing only when a good list lacks it", async () => {
  const { client } = await scripted(service);
  await expect(client.getEndpoint("p", "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  await expect(client.getEndpoint("p", "ep-9")).resolves.toBeUndefined();
  const odd: [Reply, unknown][] = [
    [{ status: 404, json: {} }, NotFoundError],
    [{ status: 401 }, AuthenticationError],
    [{ text: "" }, BadAnswerError],
    [{ text: "<html></html>" }, BadAnswerError],
    [{ text: "<html></html>", status: 404 }, BadAnswerError],
    [{ text: "not json" }, BadAnswerError],
    [{ json: { endpoints: null } }, BadAnswerError],
    [{ json: [] }, BadAnswerError],
    [{ json: { endpoints: [{ name: "without an id" }] } }, BadAnswerError],
  ];
  for (const [reply, kind] of odd) {
    const { client: other } = await scripted(() => reply);
    await expect(other.getEndpoint("p", "ep-9")).rejects.toBeInstanceOf(kind);
  }
});

test("a fresh read asks the service, and what it finds is kept", async () => {
  const { server, client } = await scripted(service);
  await client.listEndpoints("p");
  await client.listEndpoints("p", { fresh: true });
  await client.listEndpoints("p");
  expect(server.count(LIST)).toBe(2);
});

test("a change drops the list of its collection and project only", async () => {
  const { server, client } = await scripted(service);
  const readAll = (): Promise<unknown> =>
    Promise.all([client.listEndpoints("p"), client.listDomains("p"), client.listDomains("q")]);
  await readAll();
  await client.addDomain("p", "https://b.test", "a");
  await readAll();
  expect([server.count(LIST), server.count(DOMAINS), server.count("GET /projects/q/auth/domains")]).toEqual([1, 2, 1]);
});

test("a failed change drops the list as well", async () => {
  const { server, client } = await scripted((request, nth) =>
    request.method === "GET" ? service(request, nth) : { status: 400 },
  );
  await client.listDomains("p");
  await expect(client.addDomain("p", "https://b.test", "a")).rejects.toHaveProperty("status", 400);
  await client.listDomains("p");
  expect(server.count(DOMAINS)).toBe(2);
});

test("an integration takes the lists of all that lives in it along", async () => {
  const { server, client } = await scripted(service);
  const readAll = (): Promise<unknown> =>
    Promise.all([
      client.listAuthIntegrations("p"),
      client.listDomains("p"),
      client.listOAuthProviders("p"),
      client.getEmailServer("p"),
    ]);
  await readAll();
  await client.deleteAuthIntegration("p", "a");
  await readAll();
  expect(server.seen.filter(({ method }) => method === "GET")).toHaveLength(8);
});

test("a failed read is not kept", async () => {
  const { client } = await scripted((request, nth) => (nth === 1 ? { status: 400 } : service(request, nth)));
  await expect(client.listDomains("p")).rejects.toHaveProperty("status", 400);
  await expect(client.listDomains("p")).resolves.toHaveLength(1);
});

test("a list that was on its way when a change began is not kept", async () => {
  const reads = new SharedReads();
  let arrive: (list: string) => void = () => undefined;
  const before = reads.get("k", () => new Promise<string>((resolve) => (arrive = resolve)));
  const over = reads.change(["k"]);
  const during = reads.get("k", async () => "during");
  arrive("before");
  expect(await Promise.all([before, during])).toEqual(["before", "during"]);
  expect(await reads.get("k", async () => "still during")).toBe("still during");
  over();
  expect(await reads.get("k", async () => "after")).toBe("after");
  expect(await reads.get("k", async () => "not asked")).toBe("after");
});

test("two changes at once: nothing is kept before both are over", async () => {
  const reads = new SharedReads();
  const first = reads.change(["k"]);
  const second = reads.change(["k"]);
  first();
  first();
  await reads.get("k", async () => 1);
  expect(await reads.get("k", async () => 2)).toBe(2);
  second();
});

test("a caller in a hurry leaves, the others still get the answer", async () => {
  const { server, client } = await scripted((request, nth) => ({ ...service(request, nth), delayMs: 200 }) as Reply);
  const patient = client.listEndpoints("p");
  await expect(client.listEndpoints("p", { deadline: new Deadline(30) })).rejects.toBeInstanceOf(TimeoutError);
  await expect(patient).resolves.toHaveLength(2);
  expect(server.count(LIST)).toBe(1);
});

describe("who gives up first, the caller or the shared read, the words are the same", () => {
  const limits = { attemptTimeoutMs: 120, readDeadlineMs: 800 };

  test.each([500, 800, 1_000, undefined])("nobody answers, and the caller has %s ms", async (ms) => {
    const { client } = await scripted(() => ({ fault: "hang" }), limits);
    const deadline = ms === undefined ? undefined : new Deadline(ms);
    const error = await errorOf(client.listEndpoints("p", { deadline }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toMatch(/no whole answer within 0\.1 s; it stayed so for 0\.[58] s \(GET /);
  });

  test.each([500, 800, undefined])("the service holds off, and the caller has %s ms", async (ms) => {
    const { client } = await scripted(() => ({ status: 429, json: { message: "slow down" } }), limits);
    const deadline = ms === undefined ? undefined : new Deadline(ms);
    const error = await errorOf(client.listEndpoints("p", { deadline }));
    expect(error).toMatchObject({ name: "RateLimitError", status: 429 });
    expect(String(error)).toMatch(/too many requests: slow down; it stayed so for 0\.[58] s \(GET /);
  });

  test("before anything came back, it says for how long", async () => {
    const { client } = await scripted(() => ({ fault: "hang" }));
    const error = await errorOf(client.listEndpoints("p", { deadline: new Deadline(100) }));
    expect(String(error)).toContain("TimeoutError: no answer within 0.1 s (GET /projects/{project_id}/endpoints)");
  });
});

test("a read never shares the single attempt of a wait's look", async () => {
  let looking: () => void = () => undefined;
  const look = new Promise<void>((resolve) => (looking = resolve));
  const { client } = await scripted(({ method, path }, nth) => {
    if (method !== "GET") return { json: { endpoint: { ...endpoint("ep-1"), pending_state: "active" } } };
    if (path !== "/projects/p/endpoints") return { status: 404 };
    if (nth > 1) return { json: { endpoints: [endpoint("ep-1")] } };
    looking();
    return { status: 503, delayMs: 300 };
  });
  const changed = client.updateEndpoint("p", "ep-1", { name: "n" });
  await look;
  await expect(client.listEndpoints("p")).resolves.toHaveLength(1);
  await expect(changed).resolves.toMatchObject({ id: "ep-1" });
});

test("who changes the array that he got does not change what others get", async () => {
  const { client } = await scripted(service);
  (await client.listEndpoints("p")).pop();
  await expect(client.listEndpoints("p")).resolves.toHaveLength(2);
});

describe("routes that not every service has", () => {
  test.each([404, 405])("are undefined after %i when the project answers, and not asked for again", async (status) => {
    const { server, client } = await scripted((request, nth) =>
      request.path === "/projects/p/endpoints" ? service(request, nth) : { status },
    );
    for (let i = 0; i < 2; i += 1) {
      await expect(client.listOperations("p")).resolves.toBeUndefined();
      await expect(client.listBranches("p")).resolves.toBeUndefined();
      await expect(client.getProject("p")).resolves.toBeUndefined();
    }
    expect(server.seen).toHaveLength(4);
  });

  test("are a NotFoundError for a project that does not exist", async () => {
    const { client } = await scripted(() => ({ status: 404, json: { message: "project not found" } }));
    for (const read of [client.listOperations("p"), client.listBranches("p"), client.getProject("p")]) {
      await expect(read).rejects.toBeInstanceOf(NotFoundError);
    }
  });

  test("answer with what they hold", async () => {
    const { client } = await scripted(({ path }) => {
      if (path === "/projects/p/branches")
        return { json: { branches: [{ id: "br-1", default: true, unheard_of: 1 }] } };
      if (path.startsWith("/projects/p/operations"))
        return { json: { operations: [{ id: "o", action: "a", status: "s" }] } };
      return { json: { project: { id: "p", name: "P", settings: null } } };
    });
    await expect(client.listBranches("p")).resolves.toEqual([{ id: "br-1", default: true, unheard_of: 1 }]);
    await expect(client.listOperations("p")).resolves.toHaveLength(1);
    await expect(client.getProject("p")).resolves.toEqual({ id: "p", name: "P" });
  });
});
