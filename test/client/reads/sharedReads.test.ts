/** Shared reads through the whole client, in memory. What is cached and believed: collection.test.ts. */
import {
  AuthenticationError,
  BadResponseError,
  Deadline,
  Gone,
  NotFoundError,
  TimeoutError,
  Unknown,
} from "../../../src/client";
import { SharedRead, SharedReads } from "../../../src/client/reads/sharedReads";
import { ANY, addDomain } from "../../support/creating";
import { gone } from "../../support/scene";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, type Reply, inMemory, type Script } from "../../support/scriptedServer";
import { PROVEN } from "../../support/proven";

skippingClock();

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
  if (method !== "GET") return { status: 201 };
  if (path.endsWith("/endpoints")) return { json: { endpoints: [endpoint("ep-1"), endpoint("ep-2")] }, delayMs: 10 };
  if (path.endsWith("/domains")) return { json: { domains: [{ domain: "https://a.test" }] }, delayMs: 10 };
  if (path.endsWith("/oauth_providers")) return { json: { providers: [] } };
  if (path.endsWith("/integrations")) return { json: { data: [] } };
  return { json: { type: "shared" } };
};

test("a refresh of many resources costs one call for each collection and project", async () => {
  const { server, client } = inMemory(service);
  const ids = Array.from({ length: 30 }, (_, i) => `ep-${(i % 2) + 1}`);
  await Promise.all(ids.map((id) => client.computes.find("p", id)));
  for (const id of ids) await client.computes.find("q", id);
  await Promise.all(ids.map(() => client.auth.domains("p").list()));
  expect(server.lines().sort()).toEqual([DOMAINS, LIST, "GET /projects/q/endpoints"].sort());
});

test("a compute is missing only when good lists lack it", async () => {
  const { client } = inMemory(service);
  await expect(client.computes.find("p", "ep-1")).resolves.toMatchObject({ id: "ep-1" });
  await expect(client.computes.find("p", "ep-9")).resolves.toBeInstanceOf(Gone);
  const odd: [Reply, unknown][] = [
    [{ status: 404, json: { message: "no route matched" } }, BadResponseError],
    [{ status: 401 }, AuthenticationError],
    [{ text: "" }, BadResponseError],
    [{ text: "<html></html>" }, BadResponseError],
    [{ text: "<html></html>", status: 404 }, BadResponseError],
    [{ text: "not json" }, BadResponseError],
    [{ json: { endpoints: null } }, BadResponseError],
    [{ json: [] }, BadResponseError],
    [{ json: { endpoints: [{ name: "without an id" }] } }, BadResponseError],
  ];
  for (const [reply, kind] of odd) {
    const { client: other } = inMemory(() => reply);
    await expect(other.computes.find("p", "ep-9")).rejects.toBeInstanceOf(kind);
  }
  const { client: foreign } = inMemory(() => gone());
  await expect(foreign.computes.find("p", "ep-9")).resolves.toBeInstanceOf(Unknown);
});

test("a list of now or later asks the service, and what it finds is kept", async () => {
  const { server, client } = inMemory(service);
  await client.computes.list("p");
  await client.computes.list("p", { since: performance.now() });
  await client.computes.list("p");
  expect(server.count(LIST)).toBe(2);
});

test("a change drops the list of its collection and project only", async () => {
  const { server, client } = inMemory(service);
  const readAll = (): Promise<unknown> =>
    Promise.all([client.computes.list("p"), client.auth.domains("p").list(), client.auth.domains("q").list()]);
  await readAll();
  await addDomain(client, "https://a.test");
  const during = server.count(DOMAINS);
  await readAll();
  await readAll();
  const counts = [server.count(LIST), server.count(DOMAINS) - during, server.count("GET /projects/q/auth/domains")];
  expect(counts).toEqual([1, 1, 1]);
});

test("a failed change drops the list as well", async () => {
  const { server, client } = inMemory((request, nth) =>
    request.method === "GET" ? service(request, nth) : { status: 400 },
  );
  await client.auth.domains("p").list();
  const adding = addDomain(client, "https://b.test");
  await expect(adding).rejects.toHaveProperty("status", 400);
  const during = server.count(DOMAINS);
  await client.auth.domains("p").list();
  expect(server.count(DOMAINS) - during).toBe(1);
});

test("an integration takes the lists of all that lives in it along", async () => {
  const { server, client } = inMemory(service);
  const readAll = (): Promise<unknown> =>
    Promise.all([
      client.auth.integrations("p").list(),
      client.auth.domains("p").list(),
      client.auth.oauthProviders("p").list(),
      client.auth.emailServer("p"),
    ]);
  await readAll();
  await client.auth.integrations("p").delete({ id: "a", matches: () => true }, PROVEN);
  const before = server.seen.length;
  await readAll();
  await readAll();
  expect(server.seen.length - before).toBe(4);
});

test("a failed read is not kept", async () => {
  const { client } = inMemory((request, nth) => (nth === 1 ? { status: 400 } : service(request, nth)));
  await expect(client.auth.domains("p").list()).rejects.toHaveProperty("status", 400);
  await expect(client.auth.domains("p").list()).resolves.toHaveLength(1);
});

describe("a read of a service that takes 35 s for each response", () => {
  const slow: Script = (request, nth) => ({ ...service(request, nth), delayMs: 35_000 }) as Reply;

  test("fails after 30 s, which it has unless it is given more", async () => {
    const { client } = inMemory(slow);
    const began = performance.now();
    const error = await errorOf(client.computes.list("p", { deadline: Deadline.ofRead(30_000) }));
    expect(error).toMatchObject({ message: expect.stringContaining("30 s"), deadlineMs: 30_000 });
    expect(performance.now() - began).toBe(30_000);
  });

  test("succeeds with more time, in one request", async () => {
    const { server, client } = inMemory(slow);
    await expect(client.computes.list("p", { deadline: Deadline.ofRead(120_000) })).resolves.toHaveLength(2);
    expect(server.count(LIST)).toBe(1);
  });

  test("continues for the one who has more time, and fails in time for the one who has not", async () => {
    const { server, client } = inMemory(slow);
    const began = performance.now();
    const hasty = errorOf(client.computes.list("p", { deadline: Deadline.ofRead(30_000) }));
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const patient = client.computes.list("p", { deadline: Deadline.ofRead(120_000) });
    expect(await hasty).toMatchObject({ deadlineMs: 30_000 });
    expect(performance.now() - began).toBe(30_000);
    await expect(patient).resolves.toHaveLength(2);
    // The first attempt is cut short: it was sent for the one with less time.
    expect(server.count(LIST)).toBe(2);
  });

  test("has no more time in a change, however long that may take", async () => {
    const { client } = inMemory(slow);
    const error = await errorOf(client.computes.list("p", { deadline: new Deadline(600_000) }));
    expect(error).toMatchObject({ deadlineMs: 30_000 });
  });
});

const read =
  <T>(answer: T | Promise<T>) =>
  (): SharedRead<T> =>
    new SharedRead("/k", async () => answer);
const latest = <T>(reads: SharedReads, answer: T | Promise<T>, since?: number): Promise<T> =>
  reads.get("k", read(answer), since).latest.result;
/** On a clock that stands still between two lines, none would be later than the other. */
const onRealClock = (): SharedReads => {
  jest.useRealTimers();
  return new SharedReads();
};

test("a list that was on its way when a change began is not kept, nor one of during the change", async () => {
  const reads = onRealClock();
  let arrive: (list: string) => void = () => undefined;
  const before = latest(reads, new Promise<string>((resolve) => (arrive = resolve)));
  const over = reads.invalidating(["k"]);
  const during = latest(reads, "during");
  arrive("before");
  expect(await Promise.all([before, during])).toEqual(["before", "during"]);
  over();
  expect(await latest(reads, "after")).toBe("after");
  expect(await latest(reads, "not asked")).toBe("after");
});

test("of two changes at once, each drops what was read before it ended", async () => {
  const reads = onRealClock();
  const first = reads.invalidating(["k"]);
  const second = reads.invalidating(["k"]);
  first();
  expect(await latest(reads, 1)).toBe(1);
  second();
  expect(await latest(reads, 2)).toBe(2);
});

test("a caller in a hurry leaves, the others still get the answer", async () => {
  const { server, client } = inMemory((request, nth) => ({ ...service(request, nth), delayMs: 200 }) as Reply);
  const patient = client.computes.list("p");
  await expect(client.computes.list("p", { deadline: new Deadline(30) })).rejects.toBeInstanceOf(TimeoutError);
  await expect(patient).resolves.toHaveLength(2);
  expect(server.count(LIST)).toBe(1);
});

describe("who gives up first, the caller or the shared read, the words are the same", () => {
  const limits = { attemptTimeoutMs: 120, readDeadlineMs: 800 };

  test.each([500, 800, 1_000, undefined])("nobody answers, and the caller has %s ms", async (ms) => {
    const { client } = inMemory(() => ({ fault: "hang" }), limits);
    const deadline = ms === undefined ? undefined : new Deadline(ms);
    const error = await errorOf(client.computes.list("p", { deadline }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toMatch(/no complete response within 0\.1 s; still failing after 0\.[58] s \(GET /);
  });

  test.each([500, 800, undefined])("the service holds off, and the caller has %s ms", async (ms) => {
    const { client } = inMemory(() => ({ status: 429, json: { message: "slow down" } }), {
      ...limits,
      throttledMs: 300,
    });
    const deadline = ms === undefined ? undefined : Deadline.ofRead(ms);
    const error = await errorOf(client.computes.list("p", { deadline }));
    expect(error).toMatchObject({ name: "RateLimitError", status: 429 });
    expect(String(error)).toMatch(/too many requests: slow down; still (failing|held off) after 0\.[0-3] s \(GET /);
  });

  test("while the service holds off, no clock of a read runs: not its own, nor those of its callers", async () => {
    const held: Reply = { status: 429, headers: { "retry-after": "1" } };
    const { client } = inMemory((request, nth) => (nth === 1 ? held : service(request, nth)), limits);
    const told: string[] = [];
    const onProgress = (text: string): void => void told.push(text);
    const lists = [Deadline.ofRead(500), Deadline.ofRead(800), undefined].map((deadline) =>
      client.computes.list("p", { deadline, onProgress }),
    );
    for (const list of await Promise.all(lists)) expect(list).toHaveLength(2);
    expect(told[0]).toMatch(/^the service asks to wait: too many requests, \d s$/);
  });

  test("before anything came back, it says for how long", async () => {
    const { client } = inMemory(() => ({ fault: "hang" }));
    const error = await errorOf(client.computes.list("p", { deadline: new Deadline(100) }));
    expect(String(error)).toContain("TimeoutError: no response within 0.1 s (GET /projects/{project_id}/endpoints)");
  });
});

test("a read never shares the single attempt of a wait's look", async () => {
  let looking: () => void = () => undefined;
  const look = new Promise<void>((resolve) => (looking = resolve));
  const { client } = inMemory(({ method, path }, nth) => {
    if (method !== "GET") return { json: { endpoint: { ...endpoint("ep-1"), pending_state: "active" } } };
    if (path !== "/projects/p/endpoints") return { json: { operations: [] } };
    if (nth > 1) return { json: { endpoints: [endpoint("ep-1")] } };
    looking();
    return { status: 503, delayMs: 300 };
  });
  const changed = client.computes.update({
    projectId: "p",
    endpointId: "ep-1",
    attributes: { name: "n" },
    expected: ANY,
  });
  await look;
  await expect(client.computes.list("p")).resolves.toHaveLength(1);
  await expect(changed).resolves.toMatchObject({ id: "ep-1" });
});

describe("routes that not every service has", () => {
  test.each([
    ["404 of the service", gone()],
    ["405", { status: 405 }],
  ])("are undefined after a %s when the project answers, and not asked for again", async (_, answer) => {
    const { server, client } = inMemory((request, nth) =>
      request.path === "/projects/p/endpoints" ? service(request, nth) : answer,
    );
    for (let i = 0; i < 2; i += 1) {
      await expect(client.projects.operations("p")).resolves.toBeUndefined();
      await expect(client.projects.branches("p")).resolves.toBeUndefined();
    }
    // Each is asked twice before that is believed, and the project once.
    expect(server.seen).toHaveLength(5);
  });

  test("are trouble after a 404 of something in front of the service, however often it comes", async () => {
    const { client } = inMemory((request, nth) =>
      request.path === "/projects/p/endpoints" ? service(request, nth) : { status: 404, text: "default backend - 404" },
    );
    for (let i = 0; i < 3; i += 1)
      await expect(client.projects.operations("p")).rejects.toBeInstanceOf(BadResponseError);
  });

  test("are a NotFoundError for a project that does not exist", async () => {
    const { client } = inMemory(() => gone());
    for (const read of [client.projects.operations("p"), client.projects.branches("p")]) {
      await expect(read).rejects.toBeInstanceOf(NotFoundError);
    }
  });

  test("answer with what they hold", async () => {
    const { client } = inMemory(({ path }) => {
      if (path === "/projects/p/branches")
        return { json: { branches: [{ id: "br-1", default: true, unheard_of: 1 }] } };
      return { json: { operations: [{ id: "o", action: "a", status: "s", endpoint_id: null }] } };
    });
    await expect(client.projects.branches("p")).resolves.toEqual([{ id: "br-1", default: true, unheard_of: 1 }]);
    await expect(client.projects.operations("p")).resolves.toHaveLength(1);
  });
});
