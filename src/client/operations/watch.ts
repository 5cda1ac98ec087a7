import { type Deadline, LONGEST_TIMER_MS, withDeadline } from "../http/deadline";
import { AuthenticationError, BadRequestError, NotFoundError, PermissionError, SvcError } from "../http/errors";
import type { RequestBudget } from "../http/requestBudget";
import type { EndpointRecord, OperationRecord } from "../records";

const FIRST_PAUSE_MS = 100;
/** Waiters that are due within this time share a poll. */
const GATHER_MS = 50;
/** The most that the request budget may lengthen a pause at the expense of deadlines. */
const LONGEST_CHARGED_MS = 10_000;
/** How often a poll that waits longer, or for a permit, tries again, and after how long that is shown. */
const SHORT_PAUSE_MS = 100;
const SHOWN_AFTER_MS = 1_000;

/** The lists that a poll reads. */
export type Needs = "operations" | "endpoints" | "both";

export interface Snapshot {
  /** When reading began (performance.now). */
  readAt: number;
  /** Undefined: not read. `listed` undefined: the service has no such route. */
  operations: { readonly listed: readonly OperationRecord[] | undefined } | undefined;
  /** Undefined: not read. */
  endpoints: readonly EndpointRecord[] | undefined;
  /** Why the list of computes could not be read to its end: what it lacks may be there. */
  incomplete?: SvcError | undefined;
}

export interface Condition<T> {
  readonly needs: Needs;
  /** When the next poll should be made (performance.now), given how long a poll takes. */
  dueAt: (roundTripMs: number) => number;
  /** Undefined while the condition is not met; throws when it can never be met. */
  check: (snapshot: Snapshot) => { done: T } | undefined;
  /** The error for a deadline that has passed; `lastError` is why the last poll failed, if it did. */
  timedOut: (deadline: Deadline, lastError: SvcError | undefined) => Error;
  readonly onProgress?: ((text: string) => void) | undefined;
  /** Whether these operations, the newest ones of the project, go back far enough. */
  isEnough: (operations: readonly OperationRecord[]) => boolean;
}

interface Waiter {
  readonly condition: Pick<Condition<unknown>, "needs" | "dueAt" | "onProgress" | "isEnough">;
  deadline: Deadline;
  joinedAt: number;
  onSnapshot: (snapshot: Snapshot) => void;
  fail: (error: unknown) => void;
}

/** Reading again does not help. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof SvcError)) return true;
  const kinds = [AuthenticationError, PermissionError, NotFoundError, BadRequestError];
  return kinds.some((kind) => error instanceof kind);
}

/** One poll loop per project, shared by all waiters. It runs while somebody waits. */
export class ProjectWatch {
  readonly #waiters = new Set<Waiter>();
  #running = false;
  #roundTripMs = 0;
  #lastError: SvcError | undefined;
  #wake: () => void = () => undefined;

  /** `read` makes one attempt; the loop retries. `isEnough`: how far back it reads the operations. */
  constructor(
    private readonly read: (needs: Needs, isEnough: Condition<unknown>["isEnough"]) => Promise<Snapshot>,
    private readonly ceilingMs: number,
    private readonly budget: Pick<RequestBudget, "reservePoll" | "hasRoom" | "isTight" | "progressText">,
  ) {}

  async wait<T>(condition: Condition<T>, deadline: Deadline): Promise<T> {
    let leave = (): void => undefined;
    const done = new Promise<T>((resolve, reject) => {
      const waiter: Waiter = {
        condition,
        joinedAt: performance.now(),
        deadline,
        onSnapshot: (snapshot) => {
          try {
            const found = condition.check(snapshot);
            if (found === undefined) return;
            leave();
            resolve(found.done);
          } catch (error) {
            waiter.fail(error);
          }
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      leave = () => this.#waiters.delete(waiter);
      this.#waiters.add(waiter);
    });
    if (this.#running) this.#wake();
    else void this.#run();
    try {
      return await withDeadline(deadline, done, () => condition.timedOut(deadline, this.#lastError));
    } finally {
      leave();
      if (this.#waiters.size === 0) this.#wake();
    }
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#lastError = undefined;
    let failures = 0;
    let throttledUntil = 0;
    while (this.#waiters.size > 0) {
      const dueAt = Math.max(throttledUntil, this.#nextPollAt());
      if (dueAt > performance.now() && (await this.#isWokenBefore(dueAt))) continue;
      await this.#turn();
      if (this.#waiters.size === 0) break;
      const began = performance.now();
      const needs = this.#needsBy(began);
      // Two requests: the pause after it is that of two polls.
      if (needs === "both") this.budget.reservePoll();
      try {
        const waiting = [...this.#waiters].map(({ condition }) => condition);
        const snapshot = await this.read(needs, (listed) => waiting.every((one) => one.isEnough(listed)));
        this.#roundTripMs = performance.now() - began;
        for (const waiter of [...this.#waiters]) if (waiter.joinedAt <= began) waiter.onSnapshot(snapshot);
        // For those to whom it did not show enough.
        if (snapshot.incomplete !== undefined) throw snapshot.incomplete;
        this.#lastError = undefined;
        failures = 0;
      } catch (error) {
        // Waiters that joined meanwhile fail as well: a refusal concerns the whole project.
        if (isFinal(error)) for (const waiter of [...this.#waiters]) waiter.fail(error);
        else if (error instanceof SvcError) {
          this.#lastError = error;
          failures += 1;
          const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, this.ceilingMs);
          throttledUntil = performance.now() + Math.max(error.retryAfterMs ?? 0, pauseMs);
        }
      }
    }
    this.#running = false;
  }

  /**
   * Waits until the request budget allows a poll. The budget lengthens the pauses of a wait. Much longer pauses, and
   * those while others use the whole budget, are charged to no deadline.
   */
  async #turn(): Promise<void> {
    const turnAt = this.budget.reservePoll();
    const chargedUntil = Math.min(turnAt, performance.now() + LONGEST_CHARGED_MS);
    while (this.#waiters.size > 0 && chargedUntil > performance.now()) await this.#isWokenBefore(chargedUntil);
    const shownAt = performance.now() + SHOWN_AFTER_MS;
    while (this.#waiters.size > 0) {
      const now = performance.now();
      if (turnAt <= now && this.budget.hasRoom(this.#needsBy(now) === "both" ? 2 : 1)) return;
      if (now >= shownAt) for (const { condition } of this.#waiters) condition.onProgress?.(this.budget.progressText);
      const ends = [...this.#waiters].map(({ deadline }) => deadline.pause());
      await this.#isWokenBefore(now + SHORT_PAUSE_MS);
      ends.forEach((end) => end());
    }
  }

  /** A poll that shows only a part costs another one, for which a tight budget may have no place for a minute. */
  #needsBy(time: number): Needs {
    if (this.budget.isTight) return "both";
    const [only = "both", ...others] = new Set(this.#dueBy(time).map(({ condition }) => condition.needs));
    return others.length === 0 ? only : "both";
  }

  #nextPollAt(): number {
    const first = Math.min(...[...this.#waiters].map((waiter) => this.#dueAt(waiter)));
    return Math.max(...this.#dueBy(first + GATHER_MS).map((waiter) => this.#dueAt(waiter)));
  }

  #dueBy(time: number): Waiter[] {
    return [...this.#waiters].filter((waiter) => this.#dueAt(waiter) <= time);
  }

  /** For the same reason, a tight budget is not spent on the first moments of a wait. */
  #dueAt({ condition, joinedAt }: Waiter): number {
    const dueAt = condition.dueAt(this.#roundTripMs);
    return this.budget.isTight ? Math.max(dueAt, joinedAt + this.ceilingMs) : dueAt;
  }

  /** Sleeps until then; true if a waiter came, or the last one left, before. */
  async #isWokenBefore(time: number): Promise<boolean> {
    return new Promise<boolean>((resolve) => {
      // The time may be in the past, about which Node warns. A delay beyond the maximum of a timer would fire at once.
      const ms = Math.max(0, Math.ceil(time - performance.now()));
      const timer = setTimeout(() => resolve(false), Math.min(ms, LONGEST_TIMER_MS));
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
