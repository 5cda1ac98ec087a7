/**
 * Creations whose objects could be taken for each other (docs/design/rules.md, 2), through the whole client, in memory. The search alone:
 * createRecovery.test.ts.
 */
import { Deadline, FateUnknownError, type EndpointAttributes } from "../../src/client";
import { createCompute } from "../support/creating";
import { until } from "../support/emulator";
import { FakeProject } from "../support/fakeProject";
import { compute, ENDPOINTS, LIST, PRJ } from "../support/scene";
import { skippingClock } from "../support/fakeClock";
import { errorOf, type Reply, inMemory } from "../support/scriptedServer";

skippingClock();

const REPLICA = { branch_id: "b", type: "read_only" };
const LOST: Reply = { fault: "reset" };

type Answer = "answered" | "lost, executed" | "lost, not executed";

/** Creates them all at once. `answers`: what happens to the POST with this body and number. */
async function creating(
  wanted: readonly EndpointAttributes[],
  answer: (name: unknown, nth: number) => Answer,
  afterPost: (project: FakeProject) => void = () => undefined,
) {
  const project = new FakeProject({ operationMs: 30 });
  let posted = 0;
  const { client, server } = inMemory((request, nth) => {
    if (request.method !== "POST") return project.script(request, nth);
    posted += 1;
    const { name } = (request.body as { endpoint: { name?: string } }).endpoint;
    const how = answer(name, posted);
    if (how === "lost, not executed") return LOST;
    const reply = project.script(request, nth);
    afterPost(project);
    // The response comes after those of the lost ones have broken off.
    return how === "answered" ? { ...reply, delayMs: 100 } : LOST;
  });
  const outcomes = await Promise.allSettled(wanted.map((one) => createCompute(client, "p", one)));
  const ids = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value.id] : []));
  const words = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as FateUnknownError] : []));
  for (const error of words) expect(error).toBeInstanceOf(FateUnknownError);
  return { project, client, server, ids, words: words.map(String) };
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

test("are sent side by side, after one list", async () => {
  const project = new FakeProject({ operationMs: 100 });
  let posts = 0;
  const { client, server } = inMemory(async (request, nth) => {
    if (request.method !== "POST") return project.script(request, nth);
    posts += 1;
    // The first one is answered when all have come: those that waited for one another would never all come.
    await until(
      async () => posts,
      (count) => count === 6,
    );
    return project.script(request, nth);
  });
  const created = await Promise.all(times(6, REPLICA).map((one) => createCompute(client, "p", one)));
  expect(new Set(created.map(({ id }) => id)).size).toBe(6);
  expect(posts).toBe(6);
  const beforeFirst = server.seen.slice(
    0,
    server.seen.findIndex(({ method }) => method === "POST"),
  );
  expect(beforeFirst).toHaveLength(1);
});

test("those whose response is lost find what was created for them, and none finds another one's", async () => {
  const { project, ids } = await creating(times(6, REPLICA), (_, nth) =>
    nth % 2 === 0 ? "lost, executed" : "answered",
  );
  expect(new Set(ids).size).toBe(6);
  expect(ids.sort()).toEqual(project.computes.map(({ id }) => id).sort());
});

test("if one of two lost ones was executed, one is found, and the other does not exist", async () => {
  const { project, ids, words } = await creating(times(3, REPLICA), (_, nth) =>
    nth === 1 ? "lost, executed" : nth === 2 ? "lost, not executed" : "answered",
  );
  expect(ids.sort()).toEqual(project.computes.map(({ id }) => id).sort());
  expect(words).toEqual([expect.stringContaining("a later check did not find the compute")]);
});

test("more that could be theirs than were lost: none is claimed, and all are named", async () => {
  const { project, ids, words } = await creating(
    times(2, REPLICA),
    () => "lost, executed",
    ({ computes }) => {
      // A colleague's object, which looks the same.
      if (computes.length === 2)
        computes.push({ id: "ep-theirs", host: "h", ...REPLICA, current_state: "active", created_at: "2999-01-01" });
    },
  );
  expect(ids).toEqual([]);
  expect(words).toHaveLength(2);
  for (const text of words) for (const { id } of project.computes) expect(text).toContain(id);
});

test.each([
  ["the named one was created", "x"],
  ["the unnamed one was created", undefined],
])("a named and an unnamed one are lost, and %s: it alone is found", async (_, executed) => {
  const { project, ids, words } = await creating([REPLICA, { ...REPLICA, name: "x" }], (name) =>
    name === executed ? "lost, executed" : "lost, not executed",
  );
  expect(ids).toEqual(project.computes.map(({ id }) => id));
  expect(project.computes.map(({ name }) => name)).toEqual([executed]);
  expect(words).toHaveLength(1);
});

test("a named and an unnamed one are lost, and both were created: each finds its own", async () => {
  const project = new FakeProject({ operationMs: 30 });
  const { client } = inMemory((request, nth) => {
    const reply = project.script(request, nth);
    return request.method === "POST" ? LOST : reply;
  });
  const [unnamed, named] = await Promise.all([
    createCompute(client, "p", REPLICA),
    createCompute(client, "p", { ...REPLICA, name: "x" }),
  ]);
  expect(named.name).toBe("x");
  expect(unnamed.name).toBeUndefined();
});

test("while one is looked for none is sent; afterwards they are", async () => {
  const project = new FakeProject({ operationMs: 30 });
  let posted = 0;
  const sentAt: number[] = [];
  const { client } = inMemory((request, nth) => {
    const reply = project.script(request, nth);
    if (request.method !== "POST") return reply;
    sentAt.push(performance.now());
    return ++posted === 1 ? LOST : reply;
  });
  const lines: string[] = [];
  const first = createCompute(client, "p", REPLICA);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const second = createCompute(client, "p", REPLICA, { onProgress: (text) => lines.push(text) });
  await Promise.all([first, second]);
  // The search takes a lag. The second request leaves after it, in parallel with the wait for the first.
  expect(posted).toBe(2);
  expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThan(140);
  expect(lines).toContain("waiting: checking whether a creation with a lost response took effect");
  expect(project.computes).toHaveLength(2);
});

test("two creations that look alike, and both answers are about one compute: one of them made it", async () => {
  const made = compute({ type: "read_only", current_state: "idle" });
  const { server, client } = inMemory(({ method, path }) => {
    if (method === "POST") return { status: 201, json: { endpoint: made, operations: [] } };
    // The list lags: it shows nothing yet.
    return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
  });
  const first = createCompute(client, PRJ, REPLICA, { idleIsReady: true });
  const second = errorOf(createCompute(client, PRJ, REPLICA, { idleIsReady: true }));
  expect(await first).toMatchObject({ id: "ep-1" });
  expect(await second).toBeInstanceOf(FateUnknownError);
  expect(server.count(`POST ${ENDPOINTS}`)).toBe(2);
});

test("creations that look alike end, each by its own clock, when no POST is answered", async () => {
  const { client } = inMemory(
    ({ method, path }) => {
      if (method === "POST") return { fault: "hang" };
      return path === ENDPOINTS ? { json: { endpoints: [] } } : { json: { operations: [] } };
    },
    { mutationAttemptTimeoutMs: 200 },
  );
  const errors = await Promise.all(
    [1, 2, 3].map(() => errorOf(createCompute(client, PRJ, REPLICA, { deadline: new Deadline(400) }))),
  );
  for (const error of errors) expect(error).toBeInstanceOf(FateUnknownError);
});

describe("of two lost creations that sent the same, the second one left when lists showed the object of the first one", () => {
  const replica = (id: string): object => compute({ id, ...REPLICA });
  const first = replica("ep-1");
  const theirs = replica("ep-theirs");

  /** `later`: what the list of after the lag shows. `firstMs`: when the first connection breaks off; the second one does at 300. */
  const creating = async (later: object[], firstMs: number) => {
    let lists = 0;
    const { client } = inMemory(({ method, line }, nth) => {
      if (method === "POST") return { fault: "reset", delayMs: nth === 1 ? firstMs : 100 };
      if (line !== LIST) return { json: { operations: [] } };
      lists += 1;
      return { json: { endpoints: lists === 1 ? [] : lists === 2 ? [first] : later } };
    });
    const creations = [createCompute(client, PRJ, REPLICA)];
    await new Promise((resolve) => setTimeout(resolve, 200));
    creations.push(createCompute(client, PRJ, REPLICA));
    return Promise.allSettled(creations);
  };
  const idsOf = (ended: Awaited<ReturnType<typeof creating>>): unknown[] =>
    ended.map((one) => (one.status === "fulfilled" ? one.value.id : one.reason));

  test("what a colleague has made meanwhile makes more objects than were lost: none is claimed", async () => {
    const refused = expect.any(FateUnknownError) as unknown;
    expect(idsOf(await creating([theirs, first, replica("ep-2")], 600))).toEqual([refused, refused]);
  });

  test("as many as were lost: the second one does not go away empty, and no object is left over", async () => {
    expect(idsOf(await creating([replica("ep-2"), first], 250))).toEqual(["ep-1", "ep-2"]);
  });
});
