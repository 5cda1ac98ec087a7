import { type Deadline, LONGEST_TIMER_MS, withDeadline } from "../http/deadline";
import { AuthenticationError, BadRequestError, NotFoundError, PermissionError, SvcError } from "../http/errors";
import type { EndpointRecord, OperationRecord } from "../api/records";

const FIRST_PAUSE_MS = 200;
const GROWTH = 1.5;

export interface Snapshot {
  /** When reading began (performance.now). */
  readAt: number;
  endpoints: readonly EndpointRecord[];
  /** Undefined: the service has no such route. */
  operations: readonly OperationRecord[] | undefined;
}

export interface Condition<T> {
  /** Undefined while the condition is not met; throws when it can never be met. */
  check: (snapshot: Snapshot) => { done: T } | undefined;
  /** The error for a deadline that has passed; `lastError` is why the last read failed, if it did. */
  timedOut: (deadline: Deadline, lastError: SvcError | undefined) => Error;
}

interface Waiter {
  joinedAt: number;
  onSnapshot: (snapshot: Snapshot) => void;
  fail: (error: unknown) => void;
}

/** Reading again will not help. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof SvcError)) return true;
  const kinds = [AuthenticationError, PermissionError, NotFoundError, BadRequestError];
  return kinds.some((kind) => error instanceof kind);
}

/** One poll loop for each project, shared by all that wait. It runs while somebody waits. */
export class ProjectWatch {
  readonly #waiters = new Set<Waiter>();
  #running = false;
  #pauseMs = FIRST_PAUSE_MS;
  #lastError: SvcError | undefined;
  #wake: () => void = () => undefined;

  /** `readSnapshot` makes one attempt; the loop makes the next one. */
  constructor(
    private readonly readSnapshot: () => Promise<Snapshot>,
    private readonly ceilingMs: number,
  ) {}

  /** Checks at once, then after pauses that grow. */
  async wait<T>(condition: Condition<T>, deadline: Deadline): Promise<T> {
    let leave = (): void => undefined;
    const done = new Promise<T>((resolve, reject) => {
      const onSnapshot = (snapshot: Snapshot): void => {
        try {
          const found = condition.check(snapshot);
          if (found !== undefined) resolve(found.done);
        } catch (error) {
          reject(error);
        }
      };
      const waiter = { joinedAt: performance.now(), onSnapshot, fail: reject };
      leave = () => this.#waiters.delete(waiter);
      this.#waiters.add(waiter);
    });
    this.#pauseMs = FIRST_PAUSE_MS;
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
    while (this.#waiters.size > 0) {
      const began = performance.now();
      let retryAfterMs = 0;
      try {
        const snapshot = await this.readSnapshot();
        this.#lastError = undefined;
        for (const waiter of [...this.#waiters]) if (waiter.joinedAt <= began) waiter.onSnapshot(snapshot);
      } catch (error) {
        // Those that joined meanwhile fail as well: a refusal concerns the whole project.
        if (isFinal(error)) for (const waiter of [...this.#waiters]) waiter.fail(error);
        else if (error instanceof SvcError) {
          this.#lastError = error;
          retryAfterMs = error.retryAfterMs ?? 0;
        }
      }
      const hasNewWaiter = [...this.#waiters].some(({ joinedAt }) => joinedAt > began);
      if (this.#waiters.size > 0 && (!hasNewWaiter || retryAfterMs > 0)) await this.#pause(retryAfterMs);
    }
    this.#running = false;
  }

  async #pause(retryAfterMs: number): Promise<void> {
    const ms = Math.max(retryAfterMs, Math.min(this.#pauseMs, this.ceilingMs));
    this.#pauseMs = Math.min(this.#pauseMs * GROWTH, this.ceilingMs);
    await new Promise<void>((resolve) => {
      // Beyond what a timer can hold it would fire at once.
      const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      this.#wake = () => {
        // A pause that the service asked for is kept, unless nobody waits any more.
        if (retryAfterMs > 0 && this.#waiters.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
