import fc from "fast-check";
import { Deadline, Gone, NotFoundError } from "../../../src/client";
import { RequestBudget, type RequestKind } from "../../../src/client/http/requestBudget";
import { ANY, createCompute, like } from "../../support/creating";
import { FakeProject } from "../../support/fakeProject";
import { skippingClock } from "../../support/fakeClock";
import { PROVEN } from "../../support/proven";
import { compute, ENDPOINTS, LIST, operation, PRJ, scene } from "../../support/scene";
import { errorOf, inMemory, type Received, type Seen } from "../../support/scriptedServer";

const MINUTE_MS = 60_000;

/** The most that any span of this length holds, its end left out. */
const mostIn = (spanMs: number, times: readonly number[]): number =>
  Math.max(0, ...times.map((from) => times.filter((time) => time >= from && time < from + spanMs).length));

describe("the limiter, on a clock of its own", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const shareOf = (limit: number | undefined): RequestBudget => {
    const share = new RequestBudget(MINUTE_MS);
    share.limit = limit;
    return share;
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  interface Planned {
    kind: RequestKind;
    startMs: number;
    thereMs: number;
    backMs: number;
  }

  const planned: fc.Arbitrary<Planned> = fc.record({
    kind: fc.constantFrom<RequestKind>("read", "change", "proven"),
    startMs: fc.integer({ min: 0, max: 90_000 }),
    thereMs: fc.integer({ min: 0, max: 15_000 }),
    backMs: fc.integer({ min: 0, max: 15_000 }),
  });

  test("the service never counts more than the limit in any minute, and all requests leave", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10, max: 20 }),
        fc.array(planned, { minLength: 15, maxLength: 80 }),
        async (limit, requests) => {
          const share = shareOf(limit);
          const left: number[] = [];
          const counted: number[] = [];
          const send = async ({ kind, thereMs, backMs }: Planned): Promise<void> => {
            const place = share.take(kind) ?? (await share.wait(kind));
            if (kind === "proven") await send({ kind: "read", startMs: 0, thereMs, backMs });
            const onAnswer = place?.leave();
            expect(onAnswer).toBeDefined();
            left.push(performance.now());
            await pause(thereMs);
            counted.push(performance.now());
            await pause(backMs);
            onAnswer?.();
          };
          const all = Promise.all(requests.map((one) => pause(one.startMs).then(() => send(one))));
          await jest.runAllTimersAsync();
          await all;
          expect(left).toHaveLength(requests.length + requests.filter(({ kind }) => kind === "proven").length);
          expect(mostIn(MINUTE_MS, left)).toBeLessThanOrEqual(limit);
          expect(mostIn(MINUTE_MS, counted)).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("as many as the limit leave at once, and the next ones when the first answers are a minute old", async () => {
    const share = shareOf(10);
    const leaveAt = async (kind: RequestKind): Promise<number> => {
      const place = share.take(kind) ?? (await share.wait(kind));
      const onAnswer = place?.leave();
      setTimeout(() => onAnswer?.(), 500);
      return performance.now();
    };
    const began = performance.now();
    const all = Promise.all(Array.from({ length: 12 }, () => leaveAt("change")));
    await jest.runAllTimersAsync();
    const times = (await all).map((time) => time - began);
    expect(times.slice(0, 10)).toEqual(Array(10).fill(0));
    for (const time of times.slice(10)) expect(time).toBeGreaterThanOrEqual(MINUTE_MS + 500);
    for (const time of times.slice(10)) expect(time).toBeLessThan(MINUTE_MS + 1_000);
  });

  test("without a limit nothing waits", () => {
    const share = shareOf(undefined);
    for (let nth = 0; nth < 2_000; nth += 1) expect(share.take("change")).toBeDefined();
    expect(share.hasRoom(2)).toBe(true);
    expect(share.reservePoll()).toBe(performance.now());
    expect(share.reservePoll()).toBe(performance.now());
  });

  test("a limit that goes away lets all go on that wait, and a new one counts from then on", async () => {
    const share = shareOf(10);
    for (let nth = 0; nth < 10; nth += 1) share.take("change")?.leave();
    const waiting = [share.wait("change"), share.wait("read")];
    share.limit = undefined;
    await expect(Promise.all(waiting)).resolves.toHaveLength(2);
    share.limit = 11;
    expect(share.take("read")).toBeUndefined();
  });

  test("what waits is let in: reads first, the rest in line", async () => {
    const share = shareOf(10);
    const answers = Array.from({ length: 10 }, () => share.take("change")?.leave());
    const order: string[] = [];
    const enter = (name: string, kind: RequestKind) => share.wait(kind).then(() => order.push(name));
    const all = [
      enter("first change", "change"),
      enter("creation", "proven"),
      enter("read", "read"),
      enter("second change", "change"),
      enter("second read", "read"),
    ];
    expect(share.take("read")).toBeUndefined();
    answers.forEach((onAnswer) => onAnswer?.());
    await jest.runAllTimersAsync();
    await Promise.all(all);
    expect(order).toEqual(["read", "second read", "first change", "creation", "second change"]);
  });

  test("creations that read their lists leave half of the places to the lists, and hold up no other change", () => {
    const share = shareOf(10);
    const preparing = Array.from({ length: 5 }, () => share.take("proven"));
    expect(preparing).not.toContain(undefined);
    expect(share.take("proven")).toBeUndefined();
    void share.wait("proven");
    expect(share.take("change")).toBeDefined();
    expect(share.take("read")).toBeDefined();
    // Looks give way to creations that still need their lists.
    expect(share.hasRoom(1)).toBe(false);
  });

  test("a place that is given back is free at once", () => {
    const share = shareOf(10);
    const places = Array.from({ length: 10 }, () => share.take("change"));
    expect(share.take("change")).toBeUndefined();
    places[0]?.release();
    expect(share.take("change")).toBeDefined();
  });

  test("looks are spread over a quarter of the share, whatever loop asks", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 1_000 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 30 }),
        (limit, pausesMs) => {
          const share = shareOf(limit);
          const times = pausesMs.map((pauseMs) => {
            jest.advanceTimersByTime(pauseMs);
            return share.reservePoll();
          });
          // Sums of fractions may fall a hair short of the minute.
          expect(mostIn(MINUTE_MS, times)).toBeLessThanOrEqual(Math.ceil(limit / 4) + 1);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("looks come after all that waits, and find room for both of their lists", async () => {
    const share = shareOf(10);
    const answers = Array.from({ length: 8 }, () => share.take("read")?.leave());
    expect(share.hasRoom(2)).toBe(true);
    share.take("read")?.leave();
    expect(share.hasRoom(2)).toBe(false);
    const waiting = [share.wait("change"), share.wait("change")];
    answers.forEach((onAnswer) => onAnswer?.());
    expect(share.hasRoom(2)).toBe(false);
    await jest.advanceTimersByTimeAsync(MINUTE_MS + 1_000);
    await Promise.all(waiting);
    expect(share.hasRoom(2)).toBe(true);
  });
});

describe("a client whose requests each take a place", () => {
  skippingClock();

  const LIMIT = 10;
  const timesOf = ({ seen }: Received): number[] => seen.map(({ at }) => at);
  const limited = (script: Parameters<typeof inMemory>[0], options: Parameters<typeof inMemory>[1] = {}) => {
    const made = inMemory(script, { minuteMs: 1_000, ...options });
    made.client.limitRequests(LIMIT);
    return made;
  };
  /** Takes this many places: each is a read of another project. */
  const useUp = async ({ client }: ReturnType<typeof limited>, count = LIMIT): Promise<void> => {
    await Promise.all(
      Array.from({ length: count }, (_, nth) => errorOf(client.computes.list(`other-${nth}`)).catch(() => undefined)),
    );
  };

  test("no minute has more than the limit, retries and slow answers included", async () => {
    const made = limited((_request, nth) =>
      nth === 1 ? { status: 503 } : { json: { endpoints: [] }, delayMs: 40 * (nth % 3) },
    );
    await useUp(made, 15);
    expect(made.server.seen).toHaveLength(30);
    expect(mostIn(1_000, timesOf(made.server))).toBe(LIMIT);
  });

  test("a creation is sent right after its list, however long both have waited", async () => {
    const project = new FakeProject({ operationMs: 20 });
    const made = limited(project.script);
    const branches = Array.from({ length: 8 }, (_, nth) => `br-${nth}`);
    const creations = branches.map((branch_id) =>
      createCompute(made.client, PRJ, { branch_id, type: "read_write" }, { deadline: new Deadline(900) }),
    );
    await Promise.all(creations);
    const { seen } = made.server;
    expect(mostIn(1_000, timesOf(made.server))).toBeLessThanOrEqual(LIMIT);
    const posts = seen.filter(({ method }) => method === "POST");
    expect(posts).toHaveLength(8);
    for (const post of posts) {
      const lists = seen.filter(({ line, at }: Seen) => line === LIST && at < post.at).map(({ at }) => at);
      expect(post.at - Math.max(...lists)).toBeLessThan(150);
    }
  });

  test("deletions that each need a proof first all get through, and none leaves without a list of its attempt", async () => {
    const integration = { auth_provider: "a", auth_provider_project_id: "x", branch_id: "br-1" };
    const made = limited(({ method }) => (method === "GET" ? { json: { data: [integration] } } : { status: 204 }));
    const { auth } = made.client;
    const users = Array.from({ length: 14 }, (_, nth) => `u${nth}`);
    const deletions = users.map((user) =>
      auth.deleteUser(PRJ, user, {
        integration: auth.ownIntegration(PRJ, () => true, "x"),
        deadline: new Deadline(900),
        mayGo: PROVEN.mayGo,
      }),
    );
    await Promise.all(deletions);
    const { seen } = made.server;
    expect(mostIn(1_000, timesOf(made.server))).toBeLessThanOrEqual(LIMIT);
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(users.length);
    // At most half of the places are held while lists are read, so they leave in waves, each with one list.
    const lists = seen.filter(({ method }) => method === "GET");
    expect(lists.length).toBeGreaterThan(1);
    expect(lists.length).toBeLessThan(users.length);
  });

  test("waiting for the share is charged to no deadline, of a change or of a read, and shows one line", async () => {
    const made = limited(
      scene({ computes: () => [compute()], change: { json: { endpoint: compute(), operations: [] } } }),
      {
        minuteMs: 1_600,
        readDeadlineMs: 400,
      },
    );
    await useUp(made);
    const lines: string[] = [];
    const onProgress = (line: string) => lines.push(line);
    const deadline = new Deadline(500);
    const began = performance.now();
    const [found] = await Promise.all([
      made.client.computes.find(PRJ, "ep-1", { deadline: new Deadline(400), onProgress }),
      made.client.computes.update(
        { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
        { deadline, onProgress },
      ),
    ]);
    expect(found).toMatchObject({ id: "ep-1" });
    expect(performance.now() - began).toBeGreaterThan(1_500);
    expect(new Set(lines)).toEqual(new Set([`rate-limited by svc:maxRequestsPerMinute (${LIMIT}); waiting`]));
    expect(mostIn(1_600, timesOf(made.server))).toBe(LIMIT);
  });

  test("a creation whose deadline has passed while its list was read is not sent", async () => {
    const made = limited(({ method }) =>
      method === "GET" ? { json: { endpoints: [] }, delayMs: 300 } : { status: 500 },
    );
    const late = createCompute(
      made.client,
      PRJ,
      { branch_id: "b", type: "read_write" },
      { deadline: new Deadline(200) },
    );
    expect(await errorOf(late)).toMatchObject({ message: expect.stringMatching(/0\.2 s|within/) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(made.server.lines()).toEqual([LIST]);
    // Its place is free again: only that of the list is taken.
    const before = performance.now();
    await useUp(made, LIMIT - 1);
    expect(performance.now() - before).toBeLessThan(900);
  });

  test("nor is one whose deadline has passed by the end of its last check", async () => {
    const made = limited(scene({ computes: () => [] }));
    const deadline = new Deadline(300);
    const checkListed = (): void => {
      jest.advanceTimersByTime(300);
    };
    const attributes = { branch_id: "b", type: "read_write" };
    await errorOf(
      made.client.computes.create(
        { projectId: PRJ, attributes, recovery: { ...like(attributes), checkListed }, expected: ANY },
        { deadline },
      ),
    );
    expect(made.server.lines()).toEqual([LIST]);
  });

  test("the looks of a wait use a quarter of the share, which makes its pauses longer", async () => {
    const began = performance.now();
    const made = limited(
      scene({
        computes: () => [compute()],
        operations: () => [operation(performance.now() - began < 2_500 ? "running" : "finished")],
        change: { json: { endpoint: compute(), operations: [operation("running")] } },
      }),
      { minuteMs: 2_000, pollCeilingMs: 20 },
    );
    await made.client.computes.update(
      { projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY },
      { deadline: new Deadline(8_000) },
    );
    const looks = made.server.seen.filter(({ method }) => method === "GET").map(({ at }) => at);
    expect(looks.length).toBeGreaterThanOrEqual(3);
    // Two and a half in 2 s, and a check that reads two lists.
    expect(mostIn(2_000, looks)).toBeLessThanOrEqual(5);
    expect(mostIn(2_000, timesOf(made.server))).toBeLessThanOrEqual(LIMIT);
  });

  test("nothing is looked at for a wait whose deadline has passed", async () => {
    const made = limited(
      scene({
        computes: () => [compute()],
        operations: () => [operation("running")],
        change: { json: { endpoint: compute(), operations: [operation("running")] } },
      }),
    );
    const options = { deadline: new Deadline(250) };
    await errorOf(
      made.client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, options),
    );
    const { length } = made.server.seen;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(made.server.seen).toHaveLength(length);
  });

  test("the time in which others use the whole share is not charged to a wait, and is shown", async () => {
    let isSent = false;
    const made = limited(
      ({ method, path }) => {
        if (method === "PATCH") {
          isSent = true;
          return { json: { endpoint: compute(), operations: [operation("running")] } };
        }
        if (path === ENDPOINTS) return { json: { endpoints: [compute()] } };
        return { json: path.includes("/operations") ? { operations: [operation("finished")] } : { endpoints: [] } };
      },
      { minuteMs: 1_800 },
    );
    const lines: string[] = [];
    await useUp(made, LIMIT - 1);
    const options = { deadline: new Deadline(400), onProgress: (line: string) => lines.push(line) };
    await made.client.computes.update({ projectId: PRJ, endpointId: "ep-1", attributes: {}, expected: ANY }, options);
    expect(isSent).toBe(true);
    expect(lines).toContain(`rate-limited by svc:maxRequestsPerMinute (${LIMIT}); waiting`);
    expect(mostIn(1_800, timesOf(made.server))).toBe(LIMIT);
  });

  test("two lists count as a lag apart by when they were sent, not by when they began to wait", async () => {
    const made = limited(scene({ computes: () => [] }), { lagMs: 300 });
    await useUp(made);
    await expect(made.client.computes.find(PRJ, "ep-9")).resolves.toBeInstanceOf(Gone);
    const lists = made.server.seen.filter(({ line }) => line === LIST).map(({ at }) => at);
    expect(lists).toHaveLength(2);
    expect(Number(lists[1]) - Number(lists[0])).toBeGreaterThanOrEqual(295);
  });

  test("a read that has not been sent yet serves those who need a new one", async () => {
    const made = limited(scene({ computes: () => [compute()] }));
    await useUp(made);
    const first = made.client.computes.list(PRJ, { since: performance.now() });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await Promise.all([first, made.client.computes.list(PRJ, { since: performance.now() })]);
    expect(made.server.count(LIST)).toBe(1);
  });

  test("an error of the list before a creation gives its place back", async () => {
    const made = limited(({ path }) =>
      path === ENDPOINTS ? { status: 404, json: { code: "not_found", message: "no" } } : { json: { endpoints: [] } },
    );
    for (let nth = 0; nth < 3; nth += 1)
      expect(await errorOf(createCompute(made.client, PRJ, { branch_id: "b", type: "read_write" }))).toBeInstanceOf(
        NotFoundError,
      );
    const before = performance.now();
    await useUp(made, LIMIT - 3);
    expect(performance.now() - before).toBeLessThan(900);
  });
});
