import { type Deadline, sleep, withDeadline } from "../http/deadline";
import { inSeconds, LockedError, withDetail, pauseTooLong } from "../http/errors";
import { decideRetry } from "../http/retry";

interface Job<A, T> {
  deadline: Deadline;
  onProgress: ((text: string) => void) | undefined;
  /** Throws a LockedError when the project is locked. */
  send: () => Promise<A>;
  wait: (accepted: A) => Promise<T>;
}

const lockTimeout = (locked: LockedError, { totalMs }: Deadline): Error =>
  withDetail(locked, `still locked after ${inSeconds(totalMs)}`, totalMs);

type WaitOptions = Pick<Job<unknown, unknown>, "deadline" | "onProgress">;

interface QueuedChange extends Pick<WaitOptions, "onProgress"> {
  arrival: number;
  enter: () => void;
}

/**
 * The queue of one project (docs/design/decisions.md, Time, queues and speed): changes run in parallel until the first
 * 423, and from then on one after the other, including their waits.
 */
export class ProjectQueue {
  #isSerial = false;
  #arrivals = 0;
  /** The number of changes that are about to be sent, sent, or waited for. */
  #underWay = 0;
  readonly #queue: QueuedChange[] = [];

  constructor(private readonly baseDelayMs: number) {}

  /** Whether changes are sent one after the other. */
  get isSerial(): boolean {
    return this.#isSerial;
  }

  async run<A, T>(job: Job<A, T>): Promise<T> {
    const arrival = (this.#arrivals += 1);
    let locked: LockedError | undefined;
    await this.#enter(arrival, job);
    try {
      for (let attempts = 1; ; attempts += 1) {
        let accepted: A;
        try {
          accepted = await job.send();
        } catch (error) {
          if (!(error instanceof LockedError)) {
            // The deadline passed before the next attempt; the lock was the reason.
            throw locked !== undefined && job.deadline.expired ? lockTimeout(locked, job.deadline) : error;
          }
          locked = error;
          // Nothing was executed, so it is sent again.
          this.#isSerial = true;
          if (this.#underWay > 1) {
            // Changes that were sent in parallel follow one another.
            this.#leave();
            await this.#enter(arrival, job);
          } else await this.#waitForForeignLock(error, attempts, job);
          continue;
        }
        return await job.wait(accepted);
      }
    } finally {
      this.#leave();
    }
  }

  /**
   * No change of ours is running, so somebody else holds the lock. Keeps its position, so that only one change retries.
   */
  async #waitForForeignLock(
    error: LockedError,
    attempts: number,
    { deadline, onProgress }: WaitOptions,
  ): Promise<void> {
    const remainingMs = deadline.remainingMs();
    const { baseDelayMs } = this;
    const tried = { error, repeatable: true, attempts, faults: 0, remainingMs, baseDelayMs, random: Math.random() };
    const verdict = decideRetry(tried);
    if (!verdict.retry)
      throw verdict.because === "too-late"
        ? pauseTooLong(error, remainingMs, deadline.totalMs)
        : lockTimeout(error, deadline);
    onProgress?.("waiting for an operation of this project that was started outside this run");
    await withDeadline(deadline, sleep(verdict.delayMs), () => lockTimeout(error, deadline));
    // Timers may fire late.
    if (deadline.expired) throw lockTimeout(error, deadline);
  }

  async #enter(arrival: number, { deadline, onProgress }: WaitOptions): Promise<void> {
    if (!this.#isSerial || this.#underWay === 0) {
      this.#underWay += 1;
      return;
    }
    const goOn = deadline.pause();
    await new Promise<void>((enter) => {
      const behind = this.#queue.findIndex((queued) => queued.arrival > arrival);
      this.#queue.splice(behind === -1 ? this.#queue.length : behind, 0, { arrival, enter, onProgress });
      this.#reportPositions();
    });
    goOn();
  }

  /** After the last change in progress, the first in the queue follows. */
  #leave(): void {
    const next = this.#underWay === 1 ? this.#queue.shift() : undefined;
    if (next === undefined) this.#underWay -= 1;
    else next.enter();
    this.#reportPositions();
  }

  #reportPositions(): void {
    this.#queue.forEach(({ onProgress }, place) => {
      const before = this.#underWay + place;
      onProgress?.(`waiting for ${before} other change${before === 1 ? "" : "s"} of this project`);
    });
  }
}
