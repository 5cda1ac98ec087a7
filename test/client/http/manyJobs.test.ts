/**
 * Jobs that share an account and its limit of requests, and know nothing of each other: each is a client of its own, in
 * memory. Minutes pass at once. With real processes: test/protocols/dynamic/manyJobs.test.ts, and `npm run bench`.
 */
import { limiter } from "../../../src/cli/fleet/inParallel";
import { Deadline } from "../../../src/client";
import { createCompute } from "../../support/creating";
import { FakeProject } from "../../support/fakeProject";
import { skippingClock } from "../../support/fakeClock";
import { errorOf, inMemory, type Reply, type Script } from "../../support/scriptedServer";

skippingClock();

const MINUTE_MS = 60_000;
const JOBS = 8;
const CREATIONS = 5;
/** Those of a real client. */
const TIMINGS = { minuteMs: MINUTE_MS, lagMs: 3_000, baseDelayMs: 250, pollCeilingMs: 2_000 };
const TOO_MANY = { code: "", message: "too many requests" };

/** Refuses requests as the emulator does: it counts those of the last minute that it has let through. */
class Limit {
  readonly accepted: number[] = [];
  readonly refused: number[] = [];

  constructor(
    private readonly perMinute: number,
    private readonly isNamed: boolean,
  ) {}

  of(script: Script): Script {
    return async (request, nth): Promise<Reply> => {
      const now = performance.now();
      const recent = this.accepted.filter((at) => at > now - MINUTE_MS);
      const isRefused = recent.length >= this.perMinute;
      (isRefused ? this.refused : this.accepted).push(now);
      if (!isRefused) return { ...(await script(request, nth)), delayMs: 20 };
      const seconds = Math.ceil(((recent[0] ?? now) + MINUTE_MS - now) / 1_000);
      return { status: 429, json: TOO_MANY, headers: this.isNamed ? { "retry-after": String(seconds) } : {} };
    };
  }

  /** Of all requests, and of those from a minute after the first refusal on. */
  get refusedShares(): { all: number; later: number } {
    const from = (this.refused[0] ?? Number.POSITIVE_INFINITY) + MINUTE_MS;
    const share = (refused: number, accepted: number): number => refused / Math.max(1, refused + accepted);
    const later = [this.refused, this.accepted].map((times) => times.filter((at) => at >= from).length);
    return { all: share(this.refused.length, this.accepted.length), later: share(later[0] ?? 0, later[1] ?? 0) };
  }
}

/** The seconds until the last job has ended. */
async function runJobs(limit: Limit): Promise<number> {
  const began = performance.now();
  const jobs = Array.from({ length: JOBS }, async () => {
    const { client } = inMemory(limit.of(new FakeProject({ operationMs: 1_500 }).script), TIMINGS);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3_000));
    const branches = Array.from({ length: CREATIONS }, (_, nth) => `br-${nth}`);
    await Promise.all(branches.map((branch_id) => createCompute(client, "prj-1", { branch_id, type: "read_write" })));
  });
  await Promise.all(jobs);
  return (performance.now() - began) / 1_000;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe(`${JOBS} jobs of ${CREATIONS} creations each end well, soon, and without many refusals`, () => {
  // Each run has other random numbers: single ones may be a little above.
  const RUNS = 3;

  test.each([
    [15, true, 0.35, 0.18],
    [15, false, 0.35, 0.18],
    [60, true, 0.12, 0.1],
    [60, false, 0.12, 0.1],
    [700, true, 0, 0],
  ])("with %s requests a minute (Retry-After: %s)", async (perMinute, isNamed, mostRefused, mostLater) => {
    const runs: { slowness: number; all: number; later: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const limit = new Limit(perMinute, isNamed);
      const seconds = await runJobs(limit);
      const allowed = Math.max(5, (60 * limit.accepted.length) / perMinute);
      runs.push({ slowness: seconds / allowed, ...limit.refusedShares });
    }
    expect(mean(runs.map(({ slowness }) => slowness))).toBeLessThan(1.3);
    expect(mean(runs.map(({ all }) => all))).toBeLessThanOrEqual(mostRefused);
    expect(mean(runs.map(({ later }) => later))).toBeLessThanOrEqual(mostLater);
  });
});

describe("the list before a creation waits as long as the creation may", () => {
  const COMPUTE = { branch_id: "br-1", type: "read_write" } as const;
  /** The list is refused until then. */
  const refusedUntil = (seconds: number, headers: Record<string, string>) => {
    const project = new FakeProject({ operationMs: 500 });
    const began = performance.now();
    return inMemory((request, nth) => {
      if (performance.now() - began < seconds * 1_000) return { status: 429, json: TOO_MANY, headers };
      return project.script(request, nth);
    }, TIMINGS);
  };

  test.each([{}, { "retry-after": "20" }])("for five minutes, of which any read has half (%j)", async (headers) => {
    const { client, server } = refusedUntil(300, headers);
    const began = performance.now();
    await createCompute(client, "prj-1", COMPUTE, { deadline: new Deadline(600_000) });
    expect(performance.now() - began).toBeLessThan(450_000);
    expect(server.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test.each([{}, { "retry-after": "20" }])("and not longer (%j)", async (headers) => {
    const { client, server } = refusedUntil(600, headers);
    const began = performance.now();
    const error = await errorOf(createCompute(client, "prj-1", COMPUTE, { deadline: new Deadline(60_000) }));
    expect(performance.now() - began).toBeLessThanOrEqual(60_100);
    expect(error).toMatchObject({ name: "RateLimitError", deadlineMs: 60_000 });
    expect(String(error)).toMatch(/too many requests/);
    expect(server.seen.every(({ method }) => method === "GET")).toBe(true);
  });
});

describe("reads of many projects in one process", () => {
  const PROJECTS = 24;
  /** Lists of a service without any object. */
  const lists: Script = ({ path }) => ({ json: path.endsWith("/branches") ? { branches: [] } : { endpoints: [] } });
  const deadline = () => ({ deadline: Deadline.ofRead(30_000) });

  test.each([true, false])("wait for each other's turn as long as it takes (Retry-After: %s)", async (isNamed) => {
    const limit = new Limit(15, isNamed);
    const { client } = inMemory(limit.of(lists), TIMINGS);
    // As a fleet's lists are read.
    const inTurn = limiter(8);
    const began = performance.now();
    const reads = Array.from({ length: PROJECTS }, (_, nth) =>
      inTurn(() =>
        Promise.all([
          client.computes.list(`prj-${nth}`, deadline()),
          client.collection("branches", `prj-${nth}`).list(deadline()),
          client.collection("branches", `prj-beside-${nth}`).list(deadline()),
        ]),
      ),
    );
    await Promise.all(reads);
    expect(limit.accepted).toHaveLength(3 * PROJECTS);
    expect(limit.refused.length).toBeLessThan(24);
    // Nobody would have waited so long for a single one.
    expect(performance.now() - began).toBeGreaterThan(240_000);
  });
});

test("a read that is refused twice without a word asks once more", async () => {
  const { client, server } = inMemory(
    (_, nth) => (nth <= 2 ? { status: 429, json: TOO_MANY } : { json: { endpoints: [] } }),
    TIMINGS,
  );
  await expect(client.computes.list("prj-1", { deadline: Deadline.ofRead(30_000) })).resolves.toEqual([]);
  expect(server.seen).toHaveLength(3);
});

test("a service that refuses one route only fails what needs it, and the others go on", async () => {
  const project = new FakeProject({ operationMs: 500 });
  const { client } = inMemory((request, nth) => {
    if (request.path.endsWith("/branches")) return { status: 429, json: TOO_MANY, headers: { "retry-after": "30" } };
    return project.script(request, nth);
  }, TIMINGS);
  const refused = errorOf(client.collection("branches", "prj-1").list({ deadline: Deadline.ofRead(30_000) }));
  const began = performance.now();
  await createCompute(client, "prj-1", { branch_id: "br-1", type: "read_write" });
  expect(performance.now() - began).toBeLessThan(180_000);
  expect(await refused).toMatchObject({ name: "RateLimitError" });
});

describe("a service that refuses everything", () => {
  const hours = 3_600;
  const inAnHour = (): string => new Date(Date.now() + hours * 1_000).toUTCString();

  test.each<[string, () => Record<string, string>, number, number]>([
    ["and does not say for how long", () => ({}), 190, 601],
    ["for no time at all", () => ({ "retry-after": "0" }), 190, 601],
    ["for a minute", () => ({ "retry-after": "60" }), 190, 601],
    // Who was told so ends at once; others are held back for a minute, and then ask themselves.
    ["for an hour", () => ({ "retry-after": String(hours) }), 1, 80],
    ["until a date in an hour", () => ({ "retry-after": inAnHour(), date: new Date().toUTCString() }), 2, 80],
  ])("%s: reads and changes end in their time, and few requests are sent", async (_, headers, readS, changeS) => {
    const { client, server } = inMemory(() => ({ status: 429, json: TOO_MANY, headers: headers() }), TIMINGS);
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1_000;
    const read = errorOf(client.collection("branches", "prj-1").list({ deadline: Deadline.ofRead(30_000) })).then(
      (error) => ({ error, after: seconds() }),
    );
    const creation = errorOf(createCompute(client, "prj-1", { branch_id: "br-1", type: "read_write" })).then(
      (error) => ({ error, after: seconds() }),
    );
    const [ofRead, ofCreation] = await Promise.all([read, creation]);
    expect(ofRead.error).toMatchObject({ name: "RateLimitError" });
    expect(ofCreation.error).toMatchObject({ name: "RateLimitError" });
    expect(ofRead.after).toBeLessThan(readS);
    expect(ofCreation.after).toBeLessThan(changeS);
    // Three a minute, once it has learned that.
    expect(server.seen.length).toBeLessThan(60);
    expect(server.seen.every(({ method }) => method === "GET")).toBe(true);
  });
});

test("a plan that waits for its turn says why it has not asked", async () => {
  const { client } = inMemory(() => ({ status: 429, json: TOO_MANY }), TIMINGS);
  void client.computes.list("prj-1").catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const error = await errorOf(client.computes.list("prj-2", { deadline: new Deadline(10_000, false) }));
  expect(String(error)).toMatch(/^RateLimitError: too many requests; still failing after 10 s/);
});

test("whoever waits longer for a shared list keeps it going: a refresh ends after its own time", async () => {
  const began = performance.now();
  const { client } = inMemory(() => {
    if (performance.now() - began < 200_000) return { status: 429, json: TOO_MANY, headers: { "retry-after": "10" } };
    return { json: { endpoints: [] } };
  }, TIMINGS);
  const change = new Deadline(600_000);
  const reads = client.computes.list("prj-1", { deadline: change });
  await expect(reads).resolves.toEqual([]);
  // It is charged to the change.
  expect(change.remainingMs()).toBeLessThan(400_100);
  const hasty = inMemory(() => ({ status: 429, json: TOO_MANY, headers: { "retry-after": "10" } }), TIMINGS);
  const from = performance.now();
  const error = await errorOf(hasty.client.computes.list("prj-1", { deadline: Deadline.ofRead(30_000) }));
  expect(error).toMatchObject({ name: "RateLimitError" });
  expect(performance.now() - from).toBeLessThan(155_000);
});
