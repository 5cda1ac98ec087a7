import { type Deadline, sleep } from "../http/deadline";
import { LockedError, saying } from "../http/errors";
import { jitteredMs } from "../http/retry";

/** One change of a project: it is sent, answered, and its operations are waited for. */
export interface Job<A, T> {
  deadline: Deadline;
  onProgress: (text: string) => void;
  /** Throws a LockedError when the project is locked. */
  send: () => Promise<A>;
  wait: (answer: A) => Promise<T>;
}

const seconds = (ms: number): number => Math.round(ms / 1000);

const heldBy = (locked: LockedError, { totalMs }: Deadline): Error =>
  saying(locked, `another operation held it for ${seconds(totalMs)} s`, totalMs);

/** Held by a change from before it is sent until its wait has ended. */
interface Lease {
  turn: number;
  sending: boolean;
  accepted: boolean;
}

interface Ticket {
  turn: number;
  enter: (lease: Lease) => void;
  onProgress: (text: string) => void;
}

/**
 * The line of one project; without it siblings of one command meet a 423 each, and the changes of a project that does not
 * lock go one by one. Whether a project locks while an operation runs (423) shows only when asked, so it is learned:
 * `unknown`: one request at a time, its wait beside the next request. `free`: side by side, once two computes were seen to
 * change at the same time. `locks`: from the first 423 on, one after the other, waits included.
 */
export class ProjectQueue {
  #learned: "unknown" | "free" | "locks" = "unknown";
  #turns = 0;
  readonly #line: Ticket[] = [];
  readonly #leases = new Set<Lease>();
  readonly #baseDelayMs: number;

  constructor(baseDelayMs: number) {
    this.#baseDelayMs = baseDelayMs;
  }

  async run<A, T>(job: Job<A, T>): Promise<T> {
    this.#turns += 1;
    let lease = await this.#enter(this.#turns, job);
    let locked: LockedError | undefined;
    try {
      for (let attempts = 1; ; attempts += 1) {
        try {
          return await job.wait(await this.#send(lease, job));
        } catch (error) {
          if (!(error instanceof LockedError) || lease.accepted) {
            // The time was over in what comes before the next attempt: what stood in the way is the lock.
            throw locked !== undefined && !lease.accepted && job.deadline.expired
              ? heldBy(locked, job.deadline)
              : error;
          }
          locked = error;
          if (this.#leases.size > 1) {
            this.#leave(lease);
            lease = await this.#enter(lease.turn, job);
          } else {
            await this.#waitForStranger(error, attempts, job);
          }
        }
      }
    } finally {
      this.#leave(lease);
    }
  }

  /** Two computes of the project are changing at the same time: it does not lock. */
  isFree(): void {
    if (this.#learned !== "unknown") return;
    this.#learned = "free";
    this.#admit();
  }

  async #send<A, T>(lease: Lease, job: Job<A, T>): Promise<A> {
    lease.sending = true;
    try {
      const answer = await job.send();
      lease.accepted = true;
      return answer;
    } catch (error) {
      // Learned before the next one is let in.
      if (error instanceof LockedError) this.#learned = "locks";
      throw error;
    } finally {
      lease.sending = false;
      this.#admit();
    }
  }

  /** The lock is not ours: nothing of ours is under way. Keeps its place, so that only one of us asks. */
  async #waitForStranger<A, T>(
    error: LockedError,
    attempts: number,
    { deadline, onProgress }: Job<A, T>,
  ): Promise<void> {
    const asked = error.retryAfterMs ?? 0;
    const delayMs = asked + jitteredMs(attempts, this.#baseDelayMs, Math.random());
    if (asked > 0 && asked >= deadline.remainingMs()) {
      throw saying(
        error,
        `the service asks to wait ${seconds(asked)} s, more than the ${seconds(deadline.remainingMs())} s left`,
        deadline.totalMs,
      );
    }
    if (delayMs >= deadline.remainingMs()) throw heldBy(error, deadline);
    onProgress("waiting for an operation of this project that somebody else started");
    await sleep(delayMs);
    // Timers may come late.
    if (deadline.expired) throw heldBy(error, deadline);
  }

  async #enter<A, T>(turn: number, { deadline, onProgress }: Job<A, T>): Promise<Lease> {
    const goOn = deadline.pause();
    const lease = await new Promise<Lease>((enter) => {
      const behind = this.#line.findIndex((ticket) => ticket.turn > turn);
      this.#line.splice(behind === -1 ? this.#line.length : behind, 0, { turn, enter, onProgress });
      this.#admit();
    });
    goOn();
    return lease;
  }

  #leave(lease: Lease): void {
    this.#leases.delete(lease);
    this.#admit();
  }

  #mayEnter(): boolean {
    if (this.#learned === "free") return true;
    if (this.#learned === "locks") return this.#leases.size === 0;
    return ![...this.#leases].some((lease) => lease.sending);
  }

  #admit(): void {
    while (this.#line.length > 0 && this.#mayEnter()) {
      const ticket = this.#line.shift();
      if (ticket === undefined) break;
      const lease: Lease = { turn: ticket.turn, sending: true, accepted: false };
      this.#leases.add(lease);
      ticket.enter(lease);
    }
    // Before a lock is known the line moves with every answer: not worth a word.
    if (this.#learned !== "locks") return;
    this.#line.forEach(({ onProgress }, place) => {
      const before = this.#leases.size + place;
      onProgress(`waiting for ${before} other change${before === 1 ? "" : "s"} of this project`);
    });
  }
}
