import {
  AuthenticationError,
  BadRequestError,
  Deadline,
  NotFoundError,
  PermissionError,
  ServiceError,
  type SvcError,
} from "../../../src/client";
import { type Condition, type Needs, ProjectWatch, type Snapshot } from "../../../src/client/operations/watch";
import { fakeClock, pass } from "../../support/fakeClock";

// The poll loop of a project alone, with reads that answer what the test says, on a clock that only the tests move.
fakeClock({ startsAtMs: 50_000 });

const now = (): number => performance.now();

const CEILING = 1_000;
const MINUTE = 60_000;
const SHARE = {
  reservePoll: now,
  hasRoom: (_: number): boolean => true,
  isTight: false,
  progressText: "waiting for the share",
};

interface Look {
  readonly needs: Needs;
  readonly at: number;
}

/** `answer` throws if a check fails. */
function watching({ answer = (_nth: number): void => undefined, tookMs = 0, share = SHARE } = {}) {
  const began = now();
  const looks: Look[] = [];
  const read = async (needs: Needs): Promise<Snapshot> => {
    looks.push({ needs, at: now() - began });
    const readAt = now();
    const nth = looks.length;
    if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
    answer(nth);
    return { readAt, operations: undefined, endpoints: undefined };
  };
  const watch = new ProjectWatch(read, CEILING, share);
  const times = (): number[] => looks.map(({ at }) => at);
  return { watch, looks, times };
}

/** A waiter that is due at `due` and every 500 ms from then on, until it has seen a number of checks. */
class Waiter {
  readonly seen: number[] = [];
  readonly told: string[] = [];
  readonly roundTrips: number[] = [];
  readonly deadline: Deadline;
  outcome: unknown;
  lastError: SvcError | undefined;

  constructor(
    watch: ProjectWatch,
    { due = 0, looks = 1, needs = "both" as Needs, deadlineMs = MINUTE, check = (): void => undefined } = {},
  ) {
    const began = now();
    this.deadline = new Deadline(deadlineMs);
    const condition: Condition<string> = {
      needs,
      dueAt: (roundTripMs) => {
        this.roundTrips.push(roundTripMs);
        return began + due + 500 * this.seen.length;
      },
      check: () => {
        this.seen.push(now() - began);
        check();
        return this.seen.length >= looks ? { done: "done" } : undefined;
      },
      timedOut: ({ totalMs }, lastError) => {
        this.lastError = lastError;
        return new Error(`late after ${totalMs}`);
      },
      onProgress: (text) => this.told.push(text),
      isEnough: () => true,
    };
    void watch.wait(condition, this.deadline).then(
      (value) => (this.outcome = value),
      (error: unknown) => (this.outcome = error),
    );
  }
}

/** Nothing is left that would keep the process, or send another request. */
async function expectQuiet({ looks }: { looks: readonly Look[] }): Promise<void> {
  const before = looks.length;
  await pass(2 * MINUTE);
  expect(looks).toHaveLength(before);
  expect(jest.getTimerCount()).toBe(0);
}

test("it looks when it is due, until what is waited for is there, and not any more", async () => {
  const project = watching();
  const waiter = new Waiter(project.watch, { due: 300, looks: 3 });
  await pass(1_299);
  expect([project.times(), waiter.outcome]).toEqual([[300, 800], undefined]);
  await pass(1);
  expect([project.times(), waiter.outcome, waiter.seen]).toEqual([[300, 800, 1_300], "done", [300, 800, 1_300]]);
  await expectQuiet(project);
  // A second wait starts the loop again.
  const second = new Waiter(project.watch);
  await pass();
  expect([project.looks.length, second.outcome]).toEqual([4, "done"]);
});

test("it reports to the waiters how long a check took", async () => {
  const project = watching({ tookMs: 40 });
  const waiter = new Waiter(project.watch, { looks: 2 });
  await pass(40);
  expect([...new Set(waiter.roundTrips)]).toEqual([0, 40]);
  await pass(500);
  expect(project.times()).toEqual([0, 500]);
});

test("those that are due within 50 ms share a look, at the time of the last one of them", async () => {
  const project = watching();
  const waiters = [100, 150, 151].map((due) => new Waiter(project.watch, { due }));
  await pass(150);
  expect(waiters.map(({ outcome }) => outcome)).toEqual(["done", "done", "done"]);
  expect(project.times()).toEqual([150]);
});

test.each<[Needs[], Needs, number]>([
  [["operations"], "operations", 1],
  [["endpoints", "endpoints"], "endpoints", 1],
  [["operations", "endpoints"], "both", 2],
  [["operations", "both"], "both", 2],
])("those who need %j are read %s, which takes %i of the looks of the share", async (all, read, reserved) => {
  let reservations = 0;
  const share = { ...SHARE, reservePoll: () => ((reservations += 1), now()) };
  const project = watching({ share });
  const waiters = all.map((needs) => new Waiter(project.watch, { needs }));
  // Not due, so what it needs is not read.
  void new Waiter(project.watch, { needs: "both", due: 5_000, deadlineMs: 1_000 });
  await pass();
  expect(project.looks).toEqual([{ needs: read, at: 0 }]);
  expect(waiters.every(({ outcome }) => outcome === "done")).toBe(true);
  expect(reservations).toBe(reserved);
});

test("who comes meanwhile is looked for when he is due, and believes no look from before", async () => {
  const project = watching({ tookMs: 40 });
  const early = new Waiter(project.watch, { due: 10_000 });
  await pass(1_000);
  const late = new Waiter(project.watch);
  await pass(20);
  const during = new Waiter(project.watch, { due: 500 });
  await pass(20);
  // A look serves all that waited when it began.
  expect([early.outcome, late.outcome, during.outcome]).toEqual(["done", "done", undefined]);
  await pass(520);
  expect(project.times()).toEqual([1_000, 1_520]);
  expect(during.outcome).toBe("done");
  await expectQuiet(project);
});

test("a wait that can never be met ends with its reason, and no other one with it", async () => {
  const project = watching();
  const reason = new Error("it never will");
  const failing = new Waiter(project.watch, {
    check: () => {
      throw reason;
    },
  });
  const other = new Waiter(project.watch, { looks: 2 });
  await pass(500);
  expect([failing.outcome, failing.seen.length, other.outcome]).toEqual([reason, 1, "done"]);
  await expectQuiet(project);
});

test("faults put off the next look, for longer and longer up to the ceiling, or as long as the service asks", async () => {
  const fault = (retryAfterMs?: number): SvcError => new ServiceError("down", { status: 503, retryAfterMs });
  const project = watching({
    answer: (nth) => {
      if (nth === 6) throw fault(3_000);
      if (nth < 6 || nth === 8) throw fault();
    },
  });
  const waiter = new Waiter(project.watch, { looks: 2 });
  await pass(20_000);
  const pauses = project.times().map((at, i, all) => at - (all[i - 1] ?? 0));
  // 200, 400 and 800, then the ceiling; a good look; 200 again, which is less than the pause of the wait.
  expect(pauses).toEqual([0, 200, 400, 800, 1_000, 1_000, 3_000, 0, 200]);
  expect(waiter.outcome).toBe("done");
  await expectQuiet(project);
});

test("a deadline ends the wait, with the fault of the last look where it failed", async () => {
  const fault = new ServiceError("down", { status: 503 });
  const project = watching({
    answer: (nth) => {
      if (nth < 3) throw fault;
    },
  });
  const first = new Waiter(project.watch, { looks: 99, deadlineMs: 300 });
  const second = new Waiter(project.watch, { looks: 99, deadlineMs: 900 });
  await pass(300);
  expect(String(first.outcome)).toBe("Error: late after 300");
  expect(first.lastError).toBe(fault);
  await pass(600);
  expect(String(second.outcome)).toBe("Error: late after 900");
  expect(second.lastError).toBeUndefined();
  await expectQuiet(project);
});

test("the message of a deadline does not contain the error of an earlier wait", async () => {
  const fault = new ServiceError("down", { status: 503 });
  const project = watching({
    answer: () => {
      throw fault;
    },
  });
  const first = new Waiter(project.watch, { deadlineMs: 300 });
  await pass(60 * MINUTE);
  expect(first.lastError).toBe(fault);
  const second = new Waiter(project.watch, { due: 500, deadlineMs: 300 });
  await pass(300);
  expect(String(second.outcome)).toBe("Error: late after 300");
  expect(second.lastError).toBeUndefined();
});

test.each<[string, Error]>([
  ["refused key", new AuthenticationError("no", { status: 401 })],
  ["missing permission", new PermissionError("no", { status: 403 })],
  ["missing project", new NotFoundError("no", { status: 404 })],
  ["refused request", new BadRequestError("no", { status: 400 })],
  ["defect of ours", new TypeError("x is not a function")],
])("a %s ends the waits of the whole project, also of those that came meanwhile", async (_, error) => {
  const project = watching({
    tookMs: 40,
    answer: () => {
      throw error;
    },
  });
  const waiter = new Waiter(project.watch, { looks: 9 });
  await pass(20);
  const during = new Waiter(project.watch, { looks: 9, due: 400 });
  await pass(20);
  expect([waiter.outcome, during.outcome]).toEqual([error, error]);
  expect(project.looks).toHaveLength(1);
  await expectQuiet(project);
});

describe("with a share of the requests", () => {
  test("its pace makes the pauses longer, which counts for the deadline up to 10 s and is told after one more", async () => {
    const share = { ...SHARE, reservePoll: () => turnAt };
    const turnAt = now() + 30_000;
    const project = watching({ share });
    const waiter = new Waiter(project.watch);
    await pass(10_000);
    expect(waiter.deadline.remainingMs()).toBe(50_000);
    await pass(900);
    expect(waiter.told).toEqual([]);
    await pass(19_000);
    // The reported time belongs to another waiter.
    expect(waiter.deadline.remainingMs()).toBe(50_000);
    expect([...new Set(waiter.told)]).toEqual(["waiting for the share"]);
    expect(project.times()).toEqual([]);
    await pass(100);
    expect([project.times(), waiter.outcome]).toEqual([[30_000], "done"]);
  });

  test.each<[Needs, number]>([
    ["operations", 1],
    ["both", 2],
  ])("a look at %s waits for room for %i, at nobody's expense", async (needs, size) => {
    let room = 0;
    const share = { ...SHARE, hasRoom: (requests: number) => requests <= room };
    const project = watching({ share });
    const waiter = new Waiter(project.watch, { needs, deadlineMs: 2_000 });
    await pass(5_050);
    room = size - 1;
    await pass(100);
    expect([project.times(), waiter.deadline.remainingMs()]).toEqual([[], 2_000]);
    room = size;
    await pass(100);
    expect([project.times(), waiter.outcome]).toEqual([[5_200], "done"]);
    await pass(500);
    // The clock runs again.
    expect(waiter.deadline.remainingMs()).toBe(1_450);
    await expectQuiet(project);
  });

  test("nothing is read for a wait that is over by then", async () => {
    const start = now();
    const share = { ...SHARE, reservePoll: () => start + 8_000 };
    const project = watching({ share });
    const waiter = new Waiter(project.watch, { deadlineMs: 1_000 });
    await pass(1_000);
    expect(String(waiter.outcome)).toBe("Error: late after 1000");
    expect(jest.getTimerCount()).toBe(0);
    await expectQuiet(project);
    expect(project.looks).toEqual([]);
  });
});

test("a tight budget is looked at later, and then for all that can be needed", async () => {
  const project = watching({ share: { ...SHARE, isTight: true } });
  const waiter = new Waiter(project.watch, { needs: "operations" });
  await pass(CEILING + 100);
  expect(project.looks).toEqual([{ needs: "both", at: CEILING }]);
  expect(waiter.seen).toHaveLength(1);
});

test("a pause that is longer than any timer does not end at once", async () => {
  const project = watching();
  const waiter = new Waiter(project.watch, { due: 1e12, deadlineMs: 1_000 });
  await pass(1_000);
  expect([project.looks, String(waiter.outcome)]).toEqual([[], "Error: late after 1000"]);
});

test("a pause that is over before it begins takes no timer of a negative time, of which Node warns", async () => {
  jest.useRealTimers();
  const snapshot = { readAt: 0, operations: { listed: [] }, endpoints: [] };
  const share = { ...SHARE, reservePoll: () => 0 };
  const watch = new ProjectWatch(async () => snapshot, 1_000, share);
  // A machine so busy that 10 ms pass between two reads of the clock.
  let clock = performance.now();
  const spied = jest.spyOn(performance, "now").mockImplementation(() => (clock += 10));
  const timers = jest.spyOn(global, "setTimeout");
  try {
    const dueAt = clock + 35;
    const condition = {
      needs: "both",
      dueAt: () => dueAt,
      check: () => ({ done: "done" }),
      timedOut: () => new Error(),
      isEnough: () => true,
    } as const;
    expect(await watch.wait(condition, new Deadline(MINUTE))).toBe("done");
    const pauses = timers.mock.calls.map(([, ms = 0]) => ms);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
    // The clock had passed it by the time the pause was set up.
    expect(clock).toBeGreaterThan(dueAt);
  } finally {
    spied.mockRestore();
    timers.mockRestore();
  }
});
