/**
 * Properties in which fast-check's scheduler decides what happens next: a call begins, a request reaches the service, a
 * response arrives, or time goes on to the next timer. Nothing depends on how fast the machine is.
 */
import fc from "fast-check";
import { fakeAbortTimeout } from "./fakeClock";

/** All that follows from an event without another one has happened. */
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const { PULUMI_SVC_CHANCE_RUNS: RUNS, PULUMI_SVC_CHANCE_SEED: SEED, PULUMI_SVC_CHANCE_PATH: PATH } = process.env;
/** A run with more events than this has no end. */
const MOST_EVENTS = 5_000;
const LONG_RUN_MS = 3_600_000;

/** How time goes on. */
interface Pace {
  /** Between two events. With 0, events have the same time until time goes on by itself. @default 1 */
  readonly stepMs?: number;
  /** The most at once while something else may happen. @default until the next timer, so any time limit may pass */
  readonly mostMs?: number;
}

/** What happens in one run. */
export class Interleaving {
  /** What has begun and takes several turns of the event loop. */
  #busy = 0;
  #isTicking = false;
  /** How many have happened. */
  events = 0;

  constructor(
    private readonly scheduler: fc.Scheduler,
    private readonly pace: Pace,
  ) {}

  /** An event: runs `work` when the scheduler has chosen it. */
  event<T>(label: string, work: () => T | Promise<T>): Promise<T> {
    return this.scheduler.schedule(Promise.resolve(), label).then(async () => {
      this.#busy += 1;
      try {
        return await work();
      } finally {
        this.#busy -= 1;
      }
    });
  }

  /** The same if its work waits for other events: the next one may follow meanwhile. */
  begin<T>(label: string, work: () => Promise<T>): Promise<T> {
    return this.scheduler.schedule(Promise.resolve(), label).then(work);
  }

  /** Goes on until all have settled. @throws the first error, or if nothing is left that could settle one. */
  async everySettled(calls: readonly Promise<unknown>[]): Promise<void> {
    let unsettled = calls.length;
    for (const call of calls) void call.catch(() => undefined).finally(() => (unsettled -= 1));
    await quiet();
    for (; unsettled > 0; this.events += 1) {
      if (this.events > MOST_EVENTS) throw new Error(`no end: ${unsettled} calls have not settled`);
      this.#scheduleTick();
      if (this.scheduler.count() === 0) throw new Error(`stuck: ${unsettled} calls wait for nothing`);
      jest.advanceTimersByTime(this.pace.stepMs ?? 1);
      await this.scheduler.waitNext(1);
      do await quiet();
      while (this.#busy > 0);
    }
    await Promise.all(calls);
  }

  #scheduleTick(): void {
    if (this.#isTicking || jest.getTimerCount() === 0) return;
    this.#isTicking = true;
    void this.scheduler.schedule(Promise.resolve(), "time").then(() => {
      this.#isTicking = false;
      const { mostMs } = this.pace;
      if (mostMs !== undefined && this.scheduler.count() > 0) jest.advanceTimersByTime(mostMs);
      else jest.advanceTimersToNextTimer();
    });
  }
}

/** What a scenario begins with: events follow at once, and time goes on when nothing else happens. */
export const inTurn: Pick<Interleaving, "event" | "begin" | "everySettled"> = {
  event: async (_, work) => work(),
  begin: async (_, work) => work(),
  async everySettled(calls) {
    let unsettled = calls.length;
    for (const call of calls) void call.catch(() => undefined).finally(() => (unsettled -= 1));
    for (let turns = 0; unsettled > 0 && turns < MOST_EVENTS; turns += 1) {
      await quiet();
      if (turns % 5 === 4) jest.advanceTimersToNextTimer();
    }
    await Promise.all(calls);
  },
};

/**
 * Runs the property for random inputs in random orders: `runs` times, or as often as PULUMI_SVC_CHANCE_RUNS says. A
 * failure prints its seed and path, for PULUMI_SVC_CHANCE_SEED and PULUMI_SVC_CHANCE_PATH. Call it within a test.
 */
export async function inAnyOrder<Input>(
  runs: number,
  inputs: fc.Arbitrary<Input>,
  property: (input: Input, order: Interleaving) => Promise<void>,
  pace: Pace = {},
): Promise<void> {
  const numRuns = RUNS === undefined ? runs : Number(RUNS);
  const replay = { ...(SEED !== undefined && { seed: Number(SEED) }), ...(PATH !== undefined && { path: PATH }) };
  await fc.assert(
    fc.asyncProperty(inputs, fc.scheduler(), async (input, scheduler) => {
      jest.clearAllTimers();
      await property(input, new Interleaving(scheduler, pace));
    }),
    { numRuns, ...replay },
  );
}

/** Fakes the timers of the file's tests, but for `setImmediate`, which is no matter of time. Call it at the top. */
export function interleavings(): void {
  if (RUNS !== undefined) jest.setTimeout(LONG_RUN_MS);
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ["setImmediate"] });
    fakeAbortTimeout();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });
}
