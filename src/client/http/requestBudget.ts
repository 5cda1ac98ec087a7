/**
 * `proven`: a change that reads a list once it has its permit, and is sent right after that (docs/design/rules.md, 2).
 */
export type RequestKind = "read" | "change" | "proven";

/** Permits one request. */
export interface Permit {
  /**
   * Call in the tick in which the request is sent; call the returned function when its response has arrived, or no
   * longer can.
   */
  leave: () => () => void;
  /** Call if the request is not sent. */
  release: () => void;
}

/** A timer, or the service's clock, may be slightly fast. */
const SAFETY = 1 / 200;
/** The part of the budget that poll loops may use. */
const POLLS = 1 / 4;

const UNLIMITED: Permit = { leave: () => () => undefined, release: () => undefined };

interface Waiting {
  readonly kind: RequestKind;
  readonly enter: (permit: Permit) => void;
}

/**
 * This process's share of the account's request rate (docs/design/decisions.md, Time, queues and speed). There are as
 * many permits as requests in a minute. A request takes one before it is sent, and the permit is free again a minute
 * after the response has arrived. So whenever the service counts the request, no minute has more requests than there
 * are permits.
 */
export class RequestBudget {
  #limit: number | undefined;
  /** The permits of requests that are in flight, or about to be sent. */
  #taken = 0;
  /** Those whose request reads its list first. */
  #preparing = 0;
  /** When the permits of answered requests become free (performance.now), the earliest first. */
  readonly #freeAt: number[] = [];
  readonly #waiting: Waiting[] = [];
  #nextPollAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly minuteMs: number) {}

  /** Undefined: no limit. A new limit takes effect at once. */
  set limit(maxRequestsPerMinute: number | undefined) {
    if (maxRequestsPerMinute === this.#limit) return;
    this.#limit = maxRequestsPerMinute;
    this.#admit();
  }

  /** For a progress line. */
  get progressText(): string {
    const limit = this.#limit;
    return `rate-limited by svc:maxRequestsPerMinute (${String(limit)}); waiting`;
  }

  /** A permit, if one is free; undefined if the request must wait. */
  take(kind: RequestKind): Permit | undefined {
    if (this.#limit === undefined) return UNLIMITED;
    // Admits waiting requests first, so that nobody is overtaken.
    this.#admit();
    return this.#mayEnter(kind) ? this.#issue(kind) : undefined;
  }

  /** Reads come first: a change that has its permit waits for its list. Otherwise the order is kept. */
  async wait(kind: RequestKind): Promise<Permit> {
    return new Promise((enter) => {
      this.#waiting.push({ kind, enter });
      this.#admit();
    });
  }

  /**
   * When a poll loop may send the next request (performance.now): polls are spread evenly over their part of the
   * budget.
   */
  reservePoll(): number {
    const now = performance.now();
    if (this.#limit === undefined) return now;
    const at = Math.max(now, this.#nextPollAt);
    this.#nextPollAt = at + this.minuteMs / (this.#limit * POLLS);
    return at;
  }

  /** Whether a poll of so many requests can be sent now: nobody waits, and there is a permit for each. */
  hasRoom(requests: number): boolean {
    this.#admit();
    return this.#waiting.length === 0 && this.#free >= requests;
  }

  get #free(): number {
    return (this.#limit ?? Number.POSITIVE_INFINITY) - this.#taken - this.#freeAt.length;
  }

  #mayEnter(kind: RequestKind): boolean {
    if (this.#free < 1) return false;
    // If such changes held all permits, none would be left for the lists that they wait for.
    return kind !== "proven" || this.#limit === undefined || this.#preparing < Math.floor(this.#limit / 2);
  }

  #issue(kind: RequestKind): Permit {
    const preparing = kind === "proven" ? 1 : 0;
    this.#taken += 1;
    this.#preparing += preparing;
    return {
      leave: () => {
        this.#preparing -= preparing;
        this.#admit();
        return () => {
          this.#taken -= 1;
          this.#freeAt.push(performance.now() + this.minuteMs * (1 + SAFETY));
          this.#admit();
        };
      },
      release: () => {
        this.#preparing -= preparing;
        this.#taken -= 1;
        this.#admit();
      },
    };
  }

  #admit(): void {
    const now = performance.now();
    while ((this.#freeAt[0] ?? Number.POSITIVE_INFINITY) <= now) this.#freeAt.shift();
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.enter(this.#issue(next.kind));
    }
    clearTimeout(this.#timer);
    const [freeAt] = this.#freeAt;
    if (this.#waiting.length === 0 || freeAt === undefined) return;
    this.#timer = setTimeout(() => this.#admit(), Math.ceil(freeAt - now));
  }

  #next(): Waiting | undefined {
    const first = this.#waiting.find(({ kind }) => kind === "read") ?? this.#waiting[0];
    if (first === undefined || this.#mayEnter(first.kind)) return first;
    return this.#waiting.find(({ kind }) => this.#mayEnter(kind));
  }
}
