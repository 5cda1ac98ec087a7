import { BadRequestError, Deadline, LockedError, TimeoutError } from "../../../src/client";
import { ProjectQueue } from "../../../src/client/operations/queue";
import { fakeClock, pass } from "../../support/fakeClock";

// The line itself, with changes that end when the test says so, on a clock that only the tests move.
fakeClock({ random: 0.5 });

const BASE_MS = 100;
const MINUTE = 60_000;
const locked = (retryAfterMs?: number): LockedError =>
  new LockedError("the project has a running operation", { status: 423, retryAfterMs });

/** A change whose answers and end the test gives. */
class Change {
  readonly told: string[] = [];
  /** How often it was sent. */
  sent = 0;
  outcome: unknown;
  #answer: { accept: (value: string) => void; refuse: (error: Error) => void } | undefined;
  #end: { finish: (value: string) => void; fail: (error: Error) => void } | undefined;

  constructor(
    queue: ProjectQueue,
    readonly name: string,
    readonly deadline = new Deadline(MINUTE),
  ) {
    void queue
      .run<string, string>({
        deadline,
        onProgress: (text) => this.told.push(text),
        send: () => {
          this.sent += 1;
          return new Promise((accept, refuse) => (this.#answer = { accept, refuse }));
        },
        wait: (accepted) => {
          this.told.push(accepted);
          return new Promise((finish, fail) => (this.#end = { finish, fail }));
        },
      })
      .then(
        (value) => (this.outcome = value),
        (error: unknown) => (this.outcome = error),
      );
  }

  async accepted(): Promise<void> {
    this.#answer?.accept("accepted");
    await pass();
  }

  async refused(error: Error = locked()): Promise<void> {
    this.#answer?.refuse(error);
    await pass();
  }

  async ended(): Promise<void> {
    this.#end?.finish(`${this.name} is done`);
    await pass();
  }

  async failed(error: Error): Promise<void> {
    this.#end?.fail(error);
    await pass();
  }
}

const sent = (...changes: Change[]): number[] => changes.map((change) => change.sent);

async function started(names: string): Promise<{ queue: ProjectQueue; changes: Change[] }> {
  const queue = new ProjectQueue(BASE_MS);
  const changes = [...names].map((name) => new Change(queue, name));
  await pass();
  return { queue, changes };
}

/** A queue that has met its first 423, with nothing under way. */
async function serial(): Promise<ProjectQueue> {
  const { queue, changes } = await started("x");
  const [first] = changes;
  await first?.refused();
  await pass(BASE_MS);
  await first?.accepted();
  await first?.ended();
  return queue;
}

test("changes are sent side by side, and their outcomes are reported", async () => {
  const { queue, changes } = await started("abc");
  expect(sent(...changes)).toEqual([1, 1, 1]);
  for (const change of changes) await change.accepted();
  for (const change of changes) await change.ended();
  expect(changes.map(({ outcome }) => outcome)).toEqual(["a is done", "b is done", "c is done"]);
  expect(changes.map(({ told }) => told)).toEqual([["accepted"], ["accepted"], ["accepted"]]);
  expect(queue.isSerial).toBe(false);
});

test("those that left together and met a 423 follow one another in the order in which they came", async () => {
  const { queue, changes } = await started("abcd");
  const [a, b, c, d] = changes as [Change, Change, Change, Change];
  await b.accepted();
  expect(queue.isSerial).toBe(false);
  for (const change of [d, a, c]) await change.refused();
  expect(queue.isSerial).toBe(true);
  // Who comes now stands behind them.
  const e = new Change(queue, "e");
  await pass(MINUTE / 2);
  expect(sent(a, b, c, d, e)).toEqual([1, 1, 1, 1, 0]);
  for (const [now, next] of [
    [b, a],
    [a, c],
    [c, d],
    [d, e],
  ] as const) {
    await now.ended();
    expect(next.sent).toBe(next === e ? 1 : 2);
    await next.accepted();
  }
  await e.ended();
  expect(e.outcome).toBe("e is done");
  expect(sent(a, b, c, d, e)).toEqual([2, 1, 2, 2, 1]);
});

test("who stands in line is told how many changes come first, whenever that changes, and is charged no time", async () => {
  const { changes } = await started("abc");
  const [a, b, c] = changes as [Change, Change, Change];
  await a.accepted();
  await b.refused();
  await c.refused();
  expect([b.told.at(-1), c.told.at(-1)]).toEqual([
    "waiting for 1 other change of this project",
    "waiting for 2 other changes of this project",
  ]);
  await pass(3 * MINUTE);
  expect([a.deadline.expired, b.deadline.remainingMs(), c.deadline.remainingMs()]).toEqual([true, MINUTE, MINUTE]);
  await a.ended();
  expect(c.told.at(-1)).toBe("waiting for 1 other change of this project");
  await pass(1_000);
  expect([b.deadline.remainingMs(), c.deadline.remainingMs()]).toEqual([MINUTE - 1_000, MINUTE]);
});

test("while several are under way, the last one to end lets the first in line go", async () => {
  const { changes } = await started("abc");
  const [a, b, c] = changes as [Change, Change, Change];
  await a.accepted();
  await b.accepted();
  await c.refused();
  expect(c.told.at(-1)).toBe("waiting for 2 other changes of this project");
  await b.ended();
  expect(c.sent).toBe(1);
  expect(c.told.at(-1)).toBe("waiting for 1 other change of this project");
  await a.ended();
  expect(c.sent).toBe(2);
});

test("after the first 423 a change that comes alone goes at once, and the next one waits for its end", async () => {
  const queue = await serial();
  const a = new Change(queue, "a");
  const b = new Change(queue, "b");
  await pass();
  expect(sent(a, b)).toEqual([1, 0]);
  await a.accepted();
  expect(b.sent).toBe(0);
  await a.ended();
  expect(b.sent).toBe(1);
});

test.each<[string, (change: Change, error: Error) => Promise<void>]>([
  ["is refused for good", (change, error) => change.refused(error)],
  ["was accepted and fails", async (change, error) => change.accepted().then(() => change.failed(error))],
])("one that %s gives its place to the next", async (_, fail) => {
  const queue = await serial();
  const [a, b, c] = [new Change(queue, "a"), new Change(queue, "b"), new Change(queue, "c")];
  await pass();
  const error = new BadRequestError("no", { status: 400 });
  await fail(a, error);
  expect(a.outcome).toBe(error);
  expect(sent(a, b, c)).toEqual([1, 1, 0]);
  await fail(b, error);
  expect(c.sent).toBe(1);
});

describe("somebody else's lock", () => {
  test("is waited for with growing pauses, by the one that is first in line, who keeps its place", async () => {
    const { queue, changes } = await started("a");
    const a = changes[0] as Change;
    await a.refused();
    const b = new Change(queue, "b");
    for (const [index, pause] of [50, 100, 200, 400, 800, 1_600, 2_500, 2_500].entries()) {
      expect(a.told.at(-1)).toBe("waiting for an operation of this project that was started outside this run");
      await pass(pause - 1);
      expect(sent(a, b)).toEqual([index + 1, 0]);
      await pass(1);
      expect(sent(a, b)).toEqual([index + 2, 0]);
      await a.refused();
    }
    await pass(2_500);
    await a.accepted();
    await a.ended();
    expect([a.outcome, sent(a, b)]).toEqual(["a is done", [10, 1]]);
  });

  test("ends at the deadline, in its own words with the time, and the next one asks", async () => {
    const queue = await serial();
    const a = new Change(queue, "a", new Deadline(1_000));
    const b = new Change(queue, "b");
    await pass();
    for (let i = 0; i < 20 && a.outcome === undefined; i += 1) {
      await a.refused();
      await pass(400);
    }
    expect(a.outcome).toBeInstanceOf(LockedError);
    expect(a.outcome).toMatchObject({ status: 423, deadlineMs: 1_000 });
    expect(String(a.outcome)).toContain("the project has a running operation; still locked after 1 s");
    expect(b.sent).toBe(1);
  });

  test("that asks for a longer pause than is left fails at once, with both times", async () => {
    const { changes } = await started("a");
    const a = changes[0] as Change;
    await a.refused(locked(60_000));
    expect(a.outcome).toBeInstanceOf(LockedError);
    expect(String(a.outcome)).toContain("the service asks to wait 60 s, more than the 60 s left");
    const { changes: others } = await started("b");
    const b = others[0] as Change;
    await b.refused(locked(30_000));
    // The pause that the service asks for, and a part of the shortest one.
    await pass(30_049);
    expect(b.sent).toBe(1);
    await pass(1);
    expect(b.sent).toBe(2);
  });

  test("is the reason also where the deadline passes in a late timer", async () => {
    const queue = new ProjectQueue(BASE_MS);
    const deadline = new Deadline(1_000);
    const send = async (): Promise<string> => Promise.reject(locked());
    const late = queue.run({
      deadline,
      // As on a machine so slow that the time is over before the pause begins.
      onProgress: () => jest.advanceTimersByTime(2_000),
      send,
      wait: async (accepted) => accepted,
    });
    const outcome = late.catch(String);
    await pass(BASE_MS);
    expect(await outcome).toMatch(/^LockedError: .*still locked after 1 s/);
  });

  test("is the reason where the deadline passes before the next attempt, and only then", async () => {
    const late = new TimeoutError("no response within 60 s");
    const outcomeOf = async ({ wasLocked, isExpired }: Record<string, boolean>): Promise<unknown> => {
      const { changes } = await started("a");
      const a = changes[0] as Change;
      if (wasLocked) await a.refused();
      await pass(BASE_MS);
      if (isExpired) await pass(MINUTE);
      await a.refused(late);
      return a.outcome;
    };
    expect(await outcomeOf({ wasLocked: false, isExpired: true })).toBe(late);
    expect(await outcomeOf({ wasLocked: true, isExpired: false })).toBe(late);
    expect(await outcomeOf({ wasLocked: true, isExpired: true })).toBeInstanceOf(LockedError);
  });
});
