import { type Deadline, within } from "../http/deadline";
import { AuthenticationError, outOfTime, type SvcError } from "../http/errors";
import type { Request } from "../http/requests";

/** Who waits for an answer: by which clock, and who is told what it waits for. */
export interface Waiting {
  deadline?: Deadline | undefined;
  onProgress?: ((text: string) => void) | undefined;
}

type ReadEvents = Required<Pick<Request, "onProgress" | "onHeldOff" | "onTrouble">>;

/** One read that several may wait for, each by its own clock. All clocks stand still while the service holds the read off. */
export class SharedRead<T> {
  /** On the clock of performance.now. */
  readonly askedAt = performance.now();
  readonly answer: Promise<T>;
  answered: { value: T } | undefined;
  readonly #waiting = new Map<Waiting, (() => void) | undefined>();
  #heldOff = 0;
  #trouble: SvcError | undefined;
  #isTold = false;

  constructor(
    private readonly path: string,
    ask: (events: ReadEvents) => Promise<T>,
  ) {
    this.answer = ask({
      onProgress: (text) => {
        for (const { onProgress } of this.#waiting.keys()) onProgress?.(text);
      },
      onHeldOff: () => this.#holdOff(),
      onTrouble: (error) => (this.#trouble = error),
    });
    this.answer.then(
      (value) => (this.answered = { value }),
      () => undefined,
    );
  }

  async wait(waiting: Waiting): Promise<T> {
    this.#waiting.set(waiting, this.#heldOff > 0 ? waiting.deadline?.pause() : undefined);
    try {
      return await within(waiting.deadline, this.answer, ({ totalMs }) =>
        outOfTime(totalMs, { method: "GET", path: this.path }, this.#trouble),
      );
    } catch (error) {
      // What to do about a refused key is said once, not to each of those who share the answer.
      if (error instanceof AuthenticationError && this.#isTold) throw new AuthenticationError(error.what, error.facts);
      this.#isTold = true;
      throw error;
    } finally {
      this.#waiting.get(waiting)?.();
      this.#waiting.delete(waiting);
    }
  }

  #holdOff(): () => void {
    this.#heldOff += 1;
    for (const waiting of this.#waiting.keys()) this.#waiting.set(waiting, waiting.deadline?.pause());
    return () => {
      this.#heldOff -= 1;
      for (const [waiting, resume] of this.#waiting) {
        resume?.();
        this.#waiting.set(waiting, undefined);
      }
    };
  }
}

/** The first and the latest read of one thing since our last change of it. */
export interface Kept<T> {
  first: SharedRead<T>;
  latest: SharedRead<T>;
}

/** What several callers need is asked for once, and kept until a change of ours. */
export class SharedReads {
  readonly #kept = new Map<string, Kept<unknown>>();
  readonly #changedAt = new Map<string, number>();

  /** A read that was asked for at `since` or later. `key` stands for one type of answer. */
  get<T>(key: string, ask: () => SharedRead<T>, since = this.#changedAt.get(key) ?? 0): Kept<T> {
    // One key is only ever asked with one `ask`, so what is kept under it has that type.
    const kept = this.#kept.get(key) as Kept<T> | undefined;
    if (kept !== undefined && kept.latest.askedAt >= since) return kept;
    const latest = ask();
    const isCurrent = kept !== undefined && kept.first.askedAt >= (this.#changedAt.get(key) ?? 0);
    const now = { first: isCurrent ? kept.first : latest, latest };
    this.#kept.set(key, now);
    latest.answer.catch(() => this.#kept.get(key) === now && this.#kept.delete(key));
    return now;
  }

  /** Call before a change of these is sent; call the returned function when it ends, even on failure. */
  changing(keys: readonly string[]): () => void {
    const mark = (): void => keys.forEach((key) => this.#changedAt.set(key, performance.now()));
    mark();
    return mark;
  }
}
