/** The longest delay that setTimeout takes; above it fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** How long a call may take in all. It stands still while the call waits in the queue, and is counted on a clock that no one can set back. */
export class Deadline {
  readonly #totalMs: number;
  #endsAt: number | undefined;
  #leftWhilePaused: number;
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(ms: number) {
    this.#totalMs = ms;
    this.#leftWhilePaused = ms;
    this.#endsAt = performance.now() + ms;
  }

  get totalMs(): number {
    return this.#totalMs;
  }

  get expired(): boolean {
    return this.remainingMs() <= 0;
  }

  remainingMs(): number {
    return this.#endsAt === undefined ? this.#leftWhilePaused : Math.max(0, this.#endsAt - performance.now());
  }

  /** Stops counting: nothing expires until `restart`. */
  pause(): void {
    this.#leftWhilePaused = this.remainingMs();
    this.#endsAt = undefined;
    this.#arm();
  }

  /** Counts the whole time anew, from now. */
  restart(): void {
    this.#endsAt = performance.now() + this.#totalMs;
    this.#arm();
  }

  /** Calls `fn` once when the time is over (soon, when it is over already). Returns how to unsubscribe. */
  onExpire(fn: () => void): () => void {
    const listener = (): void => fn();
    this.#listeners.add(listener);
    this.#arm();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearTimeout(this.#timer);
    };
  }

  #arm(): void {
    clearTimeout(this.#timer);
    if (this.#endsAt === undefined || this.#listeners.size === 0) return;
    const ms = Math.min(LONGEST_TIMER_MS, Math.ceil(this.remainingMs()));
    this.#timer = setTimeout(() => this.#fire(), ms);
    this.#timer.unref();
  }

  #fire(): void {
    if (!this.expired) return this.#arm();
    const due = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of due) listener();
  }
}
