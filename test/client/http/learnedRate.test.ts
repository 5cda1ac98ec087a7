/** What the budget learns from refusals: one process alone, on a clock of its own. Several: manyJobs.test.ts. */
import fc from "fast-check";
import { Deadline } from "../../../src/client";
import { type Permit, RequestBudget } from "../../../src/client/http/requestBudget";
import { fakeClock, pass } from "../../support/fakeClock";

const MINUTE_MS = 60_000;

// Changes begin in the middle of their part of the pause.
fakeClock({ startsAtMs: 1_000_000, random: 0.5 });

/** Sends so many requests at once; `refused`: what the answer of each names. */
function sends(budget: RequestBudget, count: number, refused?: { retryAfterMs: number | undefined }): void {
  const answers = Array.from({ length: count }, () => budget.take("change")?.leave());
  for (const onAnswer of answers) onAnswer?.(refused);
}

/** How many changes may leave at once; none does. */
function room(budget: RequestBudget): number {
  const permits: (Permit | undefined)[] = [];
  while (permits.at(-1) !== undefined || permits.length === 0) permits.push(budget.take("change"));
  for (const permit of permits) permit?.release();
  return permits.length - 1;
}

const seconds = (retryAfterSeconds: number) => ({ retryAfterMs: retryAfterSeconds * 1_000 });

test("begins unhindered, and keeps no timer for it", () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 1_000);
  expect([budget.hasRoom(100), budget.isTight, budget.isThrottled, jest.getTimerCount()]).toEqual([
    true,
    false,
    false,
    0,
  ]);
});

test("a poll waits for a change that reads its list only where there is a limit", () => {
  const budget = new RequestBudget(MINUTE_MS);
  const permit = budget.take("proven");
  expect(budget.hasRoom(2)).toBe(true);
  sends(budget, 20, seconds(0));
  pass(MINUTE_MS);
  expect(budget.hasRoom(1)).toBe(false);
  permit?.release();
  expect(budget.hasRoom(1)).toBe(true);
});

test("a refusal holds everything back for the time that it names: reads until then, changes somewhat longer", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 1, seconds(40));
  expect([budget.take("read"), budget.hasRoom(1), budget.isThrottled]).toEqual([undefined, false, true]);
  const order: string[] = [];
  void budget.wait("change").then(() => order.push(`change ${performance.now()}`));
  void budget.wait("read").then(() => order.push(`read ${performance.now()}`));
  await pass(60_000);
  expect(order).toEqual(["read 1040000", "change 1045000"]);
  expect(jest.getTimerCount()).toBe(0);
});

test("afterwards half of what got through may leave in a minute, three at least; each that gets through adds two", async () => {
  const many = new RequestBudget(MINUTE_MS);
  sends(many, 16);
  sends(many, 4, seconds(50));
  await pass(70_000);
  expect(room(many)).toBe(8);

  const few = new RequestBudget(MINUTE_MS);
  sends(few, 1, seconds(50));
  await pass(60_000);
  sends(few, 3);
  expect(room(few)).toBe(3 + 3 * 2 - 3);
});

test("a second refusal halves again, and from then on it grows slowly, faster with time", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 1, seconds(60));
  await pass(80_000);
  for (let nth = 0; nth < 20; nth += 1) sends(budget, 1);
  sends(budget, 1, seconds(30));
  await pass(100_000);
  // 20 got through.
  sends(budget, 10);
  expect(room(budget)).toBeLessThanOrEqual(2);
  await pass(10 * MINUTE_MS);
  sends(budget, 5);
  expect(room(budget)).toBeGreaterThan(8);
});

test("requests that were refused together are one lesson", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 40);
  await pass(100);
  const answers = Array.from({ length: 5 }, () => budget.take("change")?.leave());
  for (const onAnswer of answers) {
    onAnswer?.(seconds(20));
    await pass(10);
  }
  await pass(80_000);
  expect(room(budget)).toBe(20);
});

test.each([
  ["not named: a minute", 1, undefined, 60_000],
  ["not named, after many within a second: a second", 25, undefined, 1_000],
  ["0: none", 1, { retryAfterMs: 0 }, 0],
  ["an hour: a minute, since others may be let through before", 1, { retryAfterMs: 3_600_000 }, 60_000],
])("the pause, if it is %s", async (_, sent, named, pauseMs) => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, sent - 1);
  sends(budget, 1, named ?? { retryAfterMs: undefined });
  if (pauseMs > 0) {
    await pass(pauseMs - 1);
    expect(budget.take("read")).toBeUndefined();
    // Timers may be fast.
    await pass(1 + pauseMs / 200);
  }
  expect(budget.take("read")).toBeDefined();
});

test("who always hears 0 slows down all the same, to three requests a minute", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  const times: number[] = [];
  let goesOn = true;
  const asks = async (): Promise<void> => {
    while (goesOn) {
      const permit = budget.take("change") ?? (await budget.wait("change"));
      times.push(performance.now());
      const onAnswer = permit?.leave();
      await pass(10);
      // One in two gets through: nobody is ever alone.
      onAnswer?.(times.length % 2 === 0 ? undefined : { retryAfterMs: 0 });
      goesOn = performance.now() < 1_000_000 + 20 * MINUTE_MS;
    }
  };
  const asking = asks();
  for (let minute = 0; minute < 25; minute += 1) await pass(MINUTE_MS);
  await asking;
  const last = times.filter((time) => time > 1_000_000 + 15 * MINUTE_MS);
  expect(last.length).toBeLessThan(5 * 12);
});

test("the smaller one of the share and of what was learned counts", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  budget.limit = 10;
  sends(budget, 9);
  expect(budget.progressText).toBe("rate-limited by svc:maxRequestsPerMinute (10); waiting");
  sends(budget, 1, seconds(30));
  expect(budget.progressText).toBe("the service limits the requests of this account (429); waiting");
  await pass(100_000);
  expect(room(budget)).toBe(4);
  for (let nth = 0; nth < 4; nth += 1) sends(budget, 1);
  await pass(100_000);
  expect(room(budget)).toBe(10);
});

test("a change whose list has taught that there is no room takes its turn again", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  const changes = Array.from({ length: 5 }, () => budget.take("proven"));
  budget.take("read")?.leave()?.(seconds(30));
  expect(changes[0]?.leave()).toBeUndefined();
  await pass(60_000);
  // Its list gets through in spite of those that prepare.
  budget.take("read")?.leave()?.();
  const left = changes.slice(1).map((change) => change?.leave() !== undefined);
  expect(left).toEqual([true, true, true, true]);
});

test("two accounts of a process learn apart", () => {
  const [refused, other] = [new RequestBudget(MINUTE_MS), new RequestBudget(MINUTE_MS)];
  sends(refused, 1, seconds(60));
  expect([refused.take("read"), other.take("read")]).toEqual([undefined, expect.anything()]);
});

test("a wait ends with its deadline, is forgotten, and leaves no timer", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 1, seconds(50));
  const deadline = new Deadline(5_000);
  const waiting = budget.wait("change", () => deadline.remainingMs());
  await pass(5_000);
  await expect(waiting).resolves.toBeUndefined();
  expect(jest.getTimerCount()).toBe(0);
  await pass(100_000);
  expect(budget.hasRoom(3)).toBe(true);
});

test("polls keep to a quarter of what was learned, and come after all that waits", async () => {
  const budget = new RequestBudget(MINUTE_MS);
  sends(budget, 40);
  sends(budget, 1, seconds(60));
  await pass(80_000);
  const times = Array.from({ length: 6 }, () => budget.reservePoll() - performance.now());
  expect(times).toEqual([0, 12_000, 24_000, 36_000, 48_000, 60_000]);
  const waiting = budget.wait("proven");
  expect(budget.hasRoom(1)).toBe(false);
  (await waiting)?.leave()?.();
  expect(budget.hasRoom(1)).toBe(true);
});

test("whatever the service refuses, all requests leave", async () => {
  jest.spyOn(Math, "random").mockRestore();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ startMs: fc.nat(60_000), tookMs: fc.nat(2_000) }), { minLength: 10, maxLength: 40 }),
      fc.array(fc.option(fc.constantFrom(0, 1_000, 20_000, 58_000), { nil: undefined }), {
        minLength: 1,
        maxLength: 6,
      }),
      async (requests, refusals) => {
        const budget = new RequestBudget(MINUTE_MS);
        const named = [...refusals];
        let left = 0;
        const send = async ({ tookMs }: { tookMs: number }): Promise<void> => {
          const permit = budget.take("change") ?? (await budget.wait("change"));
          const onAnswer = permit?.leave();
          left += 1;
          await new Promise((resolve) => setTimeout(resolve, tookMs));
          const isRefused = left % 3 === 0 && named.length > 0;
          onAnswer?.(isRefused ? { retryAfterMs: named.shift() } : undefined);
        };
        const all = requests.map((one) =>
          new Promise((resolve) => setTimeout(resolve, one.startMs)).then(async () => send(one)),
        );
        await jest.runAllTimersAsync();
        await Promise.all(all);
        expect(left).toBe(requests.length);
      },
    ),
    { numRuns: 40 },
  );
});
