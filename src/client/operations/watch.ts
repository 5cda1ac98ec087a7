import { type Deadline, LONGEST_TIMER_MS, within } from "../http/deadline";
import { AuthenticationError, BadRequestError, NotFoundError, PermissionError, SvcError } from "../http/errors";
import type { EndpointRecord, OperationRecord } from "../api/records";

const FIRST_PAUSE_MS = 200;
const GROWTH = 1.5;

export interface Snapshot {
  /** When the asking began (performance.now). */
  lookedAt: number;
  endpoints: readonly EndpointRecord[];
  /** Undefined: the service has no such route. */
  operations: readonly OperationRecord[] | undefined;
}

export interface Condition<T> {
  /** Undefined while it is not there yet; throws when it will never be. */
  see: (snapshot: Snapshot) => { done: T } | undefined;
  /** The error for a deadline that has passed; `trouble` is why the last look failed, if it did. */
  timedOut: (deadline: Deadline, trouble: SvcError | undefined) => Error;
}

interface Waiter {
  joinedAt: number;
  see: (snapshot: Snapshot) => void;
  fail: (error: unknown) => void;
}

/** Another look will not mend it. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof SvcError)) return true;
  const kinds = [AuthenticationError, PermissionError, NotFoundError, BadRequestError];
  return kinds.some((kind) => error instanceof kind);
}

/** One poll loop for a project, however many wait in it. It runs while somebody waits. */
export class ProjectWatch {
  readonly #waiters = new Set<Waiter>();
  #running = false;
  #pauseMs = FIRST_PAUSE_MS;
  #trouble: SvcError | undefined;
  #wake: () => void = () => undefined;

  /** `look` makes one attempt: the loop makes the next one. */
  constructor(
    private readonly look: () => Promise<Snapshot>,
    private readonly ceilingMs: number,
  ) {}

  /** Looks at once, then after a pause that grows. */
  async wait<T>(condition: Condition<T>, deadline: Deadline): Promise<T> {
    let leave = (): void => undefined;
    const seen = new Promise<T>((resolve, reject) => {
      const see = (snapshot: Snapshot): void => {
        try {
          const found = condition.see(snapshot);
          if (found !== undefined) resolve(found.done);
        } catch (error) {
          reject(error);
        }
      };
      const waiter = { joinedAt: performance.now(), see, fail: reject };
      leave = () => this.#waiters.delete(waiter);
      this.#waiters.add(waiter);
    });
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#running) this.#wake();
    else void this.#run();
    try {
      return await within(deadline, seen, () => condition.timedOut(deadline, this.#trouble));
    } finally {
      leave();
      if (this.#waiters.size === 0) this.#wake();
    }
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiters.size > 0) {
      const began = performance.now();
      let askedFor = 0;
      try {
        const snapshot = await this.look();
        this.#trouble = undefined;
        for (const waiter of [...this.#waiters]) if (waiter.joinedAt <= began) waiter.see(snapshot);
      } catch (error) {
        // What joined meanwhile hears of it as well: a refusal concerns the whole project.
        if (isFinal(error)) for (const waiter of [...this.#waiters]) waiter.fail(error);
        else if (error instanceof SvcError) {
          this.#trouble = error;
          askedFor = error.retryAfterMs ?? 0;
        }
      }
      const newcomer = [...this.#waiters].some(({ joinedAt }) => joinedAt > began);
      if (this.#waiters.size > 0 && (!newcomer || askedFor > 0)) await this.#pause(askedFor);
    }
    this.#running = false;
  }

  async #pause(askedForMs: number): Promise<void> {
    const ms = Math.max(askedForMs, Math.min(this.#pauseMs, this.ceilingMs));
    this.#pauseMs = Math.min(this.#pauseMs * GROWTH, this.ceilingMs);
    await new Promise<void>((resolve) => {
      // Beyond what a timer can hold it would fire at once.
      const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      this.#wake = () => {
        // A pause that the service asked for is kept, unless nobody waits any more.
        if (askedForMs > 0 && this.#waiters.size > 0) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => undefined;
  }
}
