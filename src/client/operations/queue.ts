import { type Deadline, sleep } from "../http/deadline";
import { inSeconds, LockedError, saying, tooLate } from "../http/errors";
import { verdictOn } from "../http/retry";

interface Job<A, T> {
  deadline: Deadline;
  onProgress: ((text: string) => void) | undefined;
  /** Throws a LockedError when the project is locked. */
  send: () => Promise<A>;
  wait: (answer: A) => Promise<T>;
}

const heldBy = (locked: LockedError, { totalMs }: Deadline): Error =>
  saying(locked, `another operation held it for ${inSeconds(totalMs)}`, totalMs);

type Clock = Pick<Job<unknown, unknown>, "deadline" | "onProgress">;

interface Ticket extends Pick<Clock, "onProgress"> {
  turn: number;
  enter: () => void;
}

/**
 * The line of one project (docs/design/decisions.md, Time, queues and speed): changes go side by side until the first 423,
 * and from then on one after the other, waits included.
 */
export class ProjectQueue {
  #locks = false;
  #turns = 0;
  /** Changes between the time before they are sent and the end of their wait. */
  #underWay = 0;
  readonly #line: Ticket[] = [];

  constructor(private readonly baseDelayMs: number) {}

  async run<A, T>(job: Job<A, T>): Promise<T> {
    const turn = (this.#turns += 1);
    await this.#enter(turn, job);
    try {
      return await job.wait(await this.#send(turn, job));
    } finally {
      this.#leave();
    }
  }

  /** A 423 means that nothing was executed, so it is sent again: by those that left together one after the other. */
  async #send<A, T>(turn: number, job: Job<A, T>): Promise<A> {
    let locked: LockedError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await job.send();
      } catch (error) {
        if (!(error instanceof LockedError)) {
          // The time was over in what comes before the next attempt: what stood in the way is the lock.
          throw locked !== undefined && job.deadline.expired ? heldBy(locked, job.deadline) : error;
        }
        locked = error;
        this.#locks = true;
        if (this.#underWay > 1) {
          this.#leave();
          await this.#enter(turn, job);
        } else {
          await this.#waitForStranger(error, attempts, job);
        }
      }
    }
  }

  /** The lock is not ours: nothing of ours is under way. Keeps its place, so that only one of us asks. */
  async #waitForStranger(error: LockedError, attempts: number, { deadline, onProgress }: Clock): Promise<void> {
    const remainingMs = deadline.remainingMs();
    const { baseDelayMs } = this;
    const tried = { error, repeatable: true, attempts, faults: 0, remainingMs, baseDelayMs, random: Math.random() };
    const verdict = verdictOn(tried);
    if (!verdict.retry)
      throw verdict.because === "too-late" ? tooLate(error, remainingMs, deadline.totalMs) : heldBy(error, deadline);
    onProgress?.("waiting for an operation of this project that somebody else started");
    await sleep(verdict.delayMs);
    // Timers may come late.
    if (deadline.expired) throw heldBy(error, deadline);
  }

  async #enter(turn: number, { deadline, onProgress }: Clock): Promise<void> {
    if (!this.#locks || this.#underWay === 0) {
      this.#underWay += 1;
      return;
    }
    const goOn = deadline.pause();
    await new Promise<void>((enter) => {
      const behind = this.#line.findIndex((ticket) => ticket.turn > turn);
      this.#line.splice(behind === -1 ? this.#line.length : behind, 0, { turn, enter, onProgress });
      this.#tell();
    });
    goOn();
  }

  /** The place of the last one under way goes to the first in line. */
  #leave(): void {
    const next = this.#underWay === 1 ? this.#line.shift() : undefined;
    if (next === undefined) this.#underWay -= 1;
    else next.enter();
    this.#tell();
  }

  #tell(): void {
    this.#line.forEach(({ onProgress }, place) => {
      const before = this.#underWay + place;
      onProgress?.(`waiting for ${before} other change${before === 1 ? "" : "s"} of this project`);
    });
  }
}
