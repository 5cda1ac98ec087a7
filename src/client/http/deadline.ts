/** How long a read may take by default (without `customTimeouts.read`). */
export const READ_MS = 30_000;

/** With a longer delay setTimeout fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** The timer is ref'd on purpose: somebody awaits it. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS)));
}

/**
 * The clock of a step of a resource (docs/design/rules.md, 6). It stops while it is paused, and a change of the system
 * time does not affect it.
 */
export class Deadline {
  #totalMs: number;
  #attemptMs: number | undefined;
  #isOfRead = false;
  #leftMs: number;
  #pauses = 0;
  /** The changes that were sent with it and may have taken effect. */
  #changes = 0;
  #interruption: { readonly isStored: boolean } | undefined;
  #runningSince = performance.now();
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<() => void>();

  /** `canPause`: false for a short time limit that holds whatever the service asks for. */
  constructor(
    totalMs: number,
    private readonly canPause = true,
  ) {
    this.#totalMs = this.#leftMs = totalMs;
  }

  /**
   * For a read with this time: its attempts may take longer, too, and the reads that it shares continue as long
   * (`lengthenFor`).
   */
  static ofRead(totalMs: number): Deadline {
    const deadline = new Deadline(totalMs);
    deadline.#isOfRead = true;
    if (totalMs > READ_MS) deadline.#attemptMs = Math.min(totalMs / 3, LONGEST_TIMER_MS);
    return deadline;
  }

  get totalMs(): number {
    return this.#totalMs;
  }

  /** How long an attempt of a GET may take; undefined: the default. */
  get attemptMs(): number | undefined {
    return this.#attemptMs;
  }

  get expired(): boolean {
    return this.remainingMs() <= 0;
  }

  /** The run was interrupted: the time is over, also during a pause. */
  get isInterrupted(): boolean {
    return this.#interruption !== undefined && (this.#interruption.isStored || !this.hasChanged);
  }

  /** Whether a change that was sent with it may have taken effect. */
  get hasChanged(): boolean {
    return this.#changes > 0;
  }

  /** `isStored`: false if nothing holds yet what a change makes. Such a change is awaited. */
  interrupt(isStored = true): void {
    this.#interruption = { isStored };
    this.#arm();
  }

  /** Call in the tick in which a change is sent; call the returned function if it had no effect. */
  changeSent(): () => void {
    this.#changes += 1;
    return () => {
      this.#changes -= 1;
      this.#arm();
    };
  }

  remainingMs(): number {
    if (this.isInterrupted) return 0;
    return this.#pauses > 0 ? this.#leftMs : Math.max(0, this.#leftMs - (performance.now() - this.#runningSince));
  }

  /** Stops counting until the returned function is called, and every other pause has ended too. */
  pause(): () => void {
    if (!this.canPause) return () => undefined;
    if (this.#pauses === 0) this.#leftMs = this.remainingMs();
    this.#pauses += 1;
    this.#arm();
    let paused = true;
    return () => {
      if (!paused) return;
      paused = false;
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#runningSince = performance.now();
      this.#arm();
    };
  }

  /**
   * While the service asks to wait: for a read, whose time is short, that is a pause (docs/design/rules.md, 6). A change
   * has time enough.
   */
  pauseWhileThrottled(): () => void {
    return this.#isOfRead ? this.pause() : () => undefined;
  }

  /** How long a list may be throttled for the change that it is read for; for a read, which has its own limit, 0. */
  get throttledMs(): number {
    return this.#isOfRead ? 0 : this.remainingMs();
  }

  /** For a read that must continue for a caller that has more time. */
  lengthenFor(other: Deadline): void {
    if (other.#attemptMs === undefined) return;
    this.#attemptMs = Math.max(this.#attemptMs ?? 0, other.#attemptMs);
    const moreMs = Math.max(0, other.remainingMs() - this.remainingMs());
    this.#totalMs += moreMs;
    this.#leftMs += moreMs;
    this.#arm();
  }

  /** Calls `fn` once when the time is over (soon, if it is over already). Returns how to unsubscribe. */
  onExpire(fn: () => void): () => void {
    this.#listeners.add(fn);
    this.#arm();
    return () => {
      this.#listeners.delete(fn);
      if (this.#listeners.size === 0) clearTimeout(this.#timer);
    };
  }

  get #standsStill(): boolean {
    return this.#pauses > 0 && !this.isInterrupted;
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#standsStill || this.#listeners.size === 0) return;
    const ms = Math.min(LONGEST_TIMER_MS, Math.ceil(this.remainingMs()));
    this.#timer = setTimeout(() => this.#fire(), ms);
    this.#timer.unref();
  }

  #fire(): void {
    if (!this.expired || this.#standsStill) return this.#arm();
    const due = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of due) listener();
  }
}

/** The promise, or the error of `onLate` once the deadline has passed. The work behind the promise continues. */
export function withDeadline<T>(
  deadline: Deadline | undefined,
  promise: Promise<T>,
  onLate: (deadline: Deadline) => Error,
): Promise<T> {
  if (deadline === undefined) return promise;
  return new Promise((resolve, reject) => {
    const unsubscribe = deadline.onExpire(() => reject(onLate(deadline)));
    promise.then(resolve, reject).finally(unsubscribe);
  });
}
