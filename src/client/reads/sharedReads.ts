import { Deadline, READ_MS, sleep, withDeadline } from "../http/deadline";
import { AuthenticationError, deadlineExceeded, RateLimitError, type SvcError } from "../http/errors";
import type { Request } from "../http/request";

/** The deadline of a wait, and where its progress is reported. */
export interface WaitOptions {
  deadline?: Deadline | undefined;
  onProgress?: ((text: string) => void) | undefined;
  /** Called with the error of each failed attempt: a waiter may give up before the deadline. */
  onError?: ((error: SvcError) => void) | undefined;
}

type ReadOptions = Required<
  Pick<Request, "deadline" | "onProgress" | "onThrottled" | "throttledMs" | "onError" | "onSend">
>;

/**
 * One read that several callers wait for, each with its own deadline. The read has its own deadline, which is extended
 * to that of a caller with more time for a read. While a request waits for the configured share, all deadlines pause;
 * while the service makes it wait, those of reads do, and it waits as long as a change that needs it has time.
 */
export class SharedRead<T> {
  readonly result: Promise<T>;
  loaded: { value: T } | undefined;
  readonly #deadline: Deadline;
  readonly #waiters = new Map<WaitOptions, (() => void) | undefined>();
  /** While it is throttled: pauses the deadline of a waiter. */
  #throttled: ((deadline: Deadline) => () => void) | undefined;
  #lastError: SvcError | undefined;
  #hasThrown = false;
  readonly #plannedAt: number;
  #sentAt: number | undefined;

  constructor(
    private readonly path: string,
    read: (options: ReadOptions) => Promise<T>,
    delayMs = 0,
    readMs = READ_MS,
  ) {
    this.#deadline = new Deadline(readMs + delayMs);
    const options: ReadOptions = {
      deadline: this.#deadline,
      onProgress: (text) => {
        for (const { onProgress } of this.#waiters.keys()) onProgress?.(text);
      },
      onThrottled: (byService) => this.#throttle(byService),
      throttledMs: () => Math.max(0, ...[...this.#waiters.keys()].map(({ deadline }) => deadline?.throttledMs ?? 0)),
      onError: (error) => {
        this.#lastError = error;
        for (const { onError } of this.#waiters.keys()) onError?.(error);
      },
      onSend: () => (this.#sentAt = performance.now()),
    };
    this.#plannedAt = performance.now() + delayMs;
    // A timer may fire a moment early.
    this.result = delayMs === 0 ? read(options) : sleep(delayMs + 1).then(async () => read(options));
    this.result.then(
      (value) => (this.loaded = { value }),
      () => undefined,
    );
  }

  /**
   * When the latest attempt was sent (performance.now). Before the first one, which may be throttled: a lower bound.
   */
  get startedAt(): number {
    if (this.#sentAt !== undefined || this.#throttled === undefined) return this.#sentAt ?? this.#plannedAt;
    return Math.max(this.#plannedAt, performance.now());
  }

  async wait(options: WaitOptions): Promise<T> {
    this.#waiters.set(options, options.deadline && this.#throttled?.(options.deadline));
    if (options.deadline !== undefined) this.#deadline.lengthenFor(options.deadline);
    try {
      return await withDeadline(options.deadline, this.result, ({ totalMs }) =>
        deadlineExceeded(totalMs, { method: "GET", path: this.path }, this.#lastError),
      );
    } catch (error) {
      // Only one of the callers that share the read gets the advice on a refused key.
      if (error instanceof AuthenticationError && this.#hasThrown)
        throw new AuthenticationError(error.what, error.facts);
      this.#hasThrown = true;
      throw error;
    } finally {
      this.#waiters.get(options)?.();
      this.#waiters.delete(options);
    }
  }

  #throttle(byService: boolean): () => void {
    if (byService) this.#lastError ??= new RateLimitError("too many requests", { method: "GET", path: this.path });
    this.#throttled = (deadline) => (byService ? deadline.pauseWhileThrottled() : deadline.pause());
    const goOn = this.#deadline.pause();
    for (const options of this.#waiters.keys())
      this.#waiters.set(options, options.deadline && this.#throttled(options.deadline));
    return () => {
      this.#throttled = undefined;
      goOn();
      for (const [options, resume] of this.#waiters) {
        resume?.();
        this.#waiters.set(options, undefined);
      }
    };
  }
}

/** The first and the latest read of one list since our last change of it. */
export interface CachedReads<T> {
  first: SharedRead<T>;
  latest: SharedRead<T>;
}

/** How long a read that must be fresh waits for others that need one too. */
const GATHER_MS = 25;

/** Reads that several callers need are made once and cached until a change of ours. */
export class SharedReads {
  readonly #cached = new Map<string, CachedReads<unknown>>();
  readonly #changedAt = new Map<string, number>();

  /**
   * The reads of this key, the latest of which started at `fresh` or later; if omitted, after our last change of it. A
   * key has one type of result.
   */
  get<T>(key: string, startRead: (delayMs: number) => SharedRead<T>, fresh?: number): CachedReads<T> {
    const changedAt = this.#changedAt.get(key) ?? 0;
    const since = fresh ?? changedAt;
    // A key always has the same `startRead`, so the value cached under it has that type.
    const cached = this.#cached.get(key) as CachedReads<T> | undefined;
    const first = cached !== undefined && cached.first.startedAt >= changedAt ? cached.first : undefined;
    if (cached !== undefined && cached.latest.startedAt >= since) {
      const { latest } = cached;
      // The latest may be planned for a time after a change that ended since then, and the first is of before it.
      return { first: first ?? latest, latest };
    }
    const latest = startRead(fresh === undefined ? 0 : GATHER_MS);
    const now = { first: first ?? latest, latest };
    this.#cached.set(key, now);
    latest.result.catch(() => this.#cached.get(key) === now && this.#cached.delete(key));
    return now;
  }

  /** Every list is read anew from now on. */
  forget(): void {
    this.#cached.clear();
  }

  /** Call before a change of these is sent; call the returned function when it ends, even on failure. */
  invalidating(keys: readonly string[]): () => void {
    const invalidate = (): void => keys.forEach((key) => this.#changedAt.set(key, performance.now()));
    invalidate();
    return invalidate;
  }
}
