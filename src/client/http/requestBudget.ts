import { LONGEST_TIMER_MS } from "./deadline";

/**
 * `proven`: a change that reads a list once it has its permit, and is sent right after that (docs/design/rules.md, 2).
 */
export type RequestKind = "read" | "change" | "proven";

/** What the service said about the rate: nothing, or a 429. */
export interface Refusal {
  /** What `Retry-After` asked for. */
  readonly retryAfterMs: number | undefined;
}

/** Permits one request. */
export interface Permit {
  /**
   * Call in the tick in which the request is sent; call the returned function when its response has arrived, or no
   * longer can. Undefined: there is no room any more, and the permit is given back.
   */
  leave: () => ((refusal?: Refusal) => void) | undefined;
  /** Call if the request is not sent. */
  release: () => void;
}

/** A timer, or the service's clock, may be slightly fast. */
const SAFETY = 1 / 200;
/** The part of the budget that poll loops may use, and the least that they get in a window. */
const POLLS = 1 / 4;
const LEAST_POLLS = 2;

/** The least that a refusal leaves in a window: a list and two changes. */
const LEAST = 3;
/** What each request that gets through adds: until the second refusal, and from then on. */
const FAST = 2;
const SLOW = 1 / 10;
/** After a pause, processes begin to change something within this part of it: not all at once. */
const SPREAD = 1 / 4;
/** The time that is left may stand still: it is asked no more often than this. */
const LEAST_LOOK_MS = 100;
/** A process that has sent so many requests within a second has met the limit of a second and a route. */
const MANY_IN_A_SECOND = 20;

interface Waiting {
  readonly kind: RequestKind;
  readonly enter: (permit: Permit) => void;
  /** Ends the wait if no time is left. */
  readonly look: () => void;
}

/** What the service's refusals have taught. */
interface Learned {
  /** The number of requests in a window; grows by fractions. */
  readonly allowed: number;
  readonly windowMs: number;
  /** After the second refusal. */
  readonly isSteady: boolean;
}

interface Answered {
  readonly at: number;
  readonly isRefused: boolean;
}

interface Limit {
  readonly limit: number;
  readonly windowMs: number;
  /** Which requests count. */
  readonly counts: (one: Answered) => boolean;
}

/** The service does not count what it refuses. */
const isThrough = ({ isRefused }: Answered): boolean => !isRefused;

/**
 * How many requests this process may send (docs/design/decisions.md, Time, queues and speed): a number of permits. A
 * request takes one before it is sent, and the permit is free again a window after the response has arrived. So
 * whenever the service counts the request, no window has more requests than there are permits. The number is the
 * smaller one of two:
 *
 * - The configured share, in a minute.
 * - What was learned. Nothing at first. After a 429 nothing is sent for the time that the service names, and then half of
 *   what got through, in the window that the service names. Each request that gets through adds a little.
 */
export class RequestBudget {
  #share: number | undefined;
  #learned: Learned | undefined;
  #pausedUntil = 0;
  /** The length of all pauses, with the present one to its end. */
  #pausesMs = 0;
  /** Changes begin later than reads, for which somebody waits or which end a wait. */
  #changesPausedUntil = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The requests in flight, or about to be sent. */
  #underWay = 0;
  /** The permits of changes that read their lists. */
  #preparing = 0;
  /** The requests of the last minute that were answered, the earliest first. */
  readonly #answered: Answered[] = [];
  readonly #waiting: Waiting[] = [];
  #nextPollAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly minuteMs: number) {}

  /** The configured share of a minute; undefined: none. A new one takes effect at once. */
  set limit(maxRequestsPerMinute: number | undefined) {
    if (maxRequestsPerMinute === this.#share) return;
    this.#share = maxRequestsPerMinute;
    this.#admit();
  }

  /** Whether the service has refused a request: a poll that may be in vain costs others a place. */
  get isTight(): boolean {
    return this.#learned !== undefined;
  }

  /** Whether it is the service's limit that makes a request wait now, not only the configured share. */
  get isThrottled(): boolean {
    if (this.#share === undefined) return this.isTight;
    return performance.now() < this.#changesPausedUntil || this.#freeOf(this.#learnedLimits) < 1;
  }

  /** How long the service has held back all reads so far. */
  get pausedMs(): number {
    return this.#pausesMs - Math.max(0, this.#pausedUntil - performance.now());
  }

  /** For a progress line. */
  get progressText(): string {
    if (this.isThrottled) return "the service limits the requests of this account (429); waiting";
    return `rate-limited by svc:maxRequestsPerMinute (${String(this.#share)}); waiting`;
  }

  /** A permit, if one is free; undefined if the request must wait. */
  take(kind: RequestKind): Permit | undefined {
    // Admits waiting requests first, so that nobody is overtaken.
    this.#admit();
    return this.#mayEnter(kind) ? this.#issue(kind) : undefined;
  }

  /**
   * Reads come first: a change that has its permit waits for its list. Otherwise the order is kept. Undefined if no time
   * was left before.
   * @param leftMs the time that is left, asked again when it is over: it may have become more
   */
  async wait(kind: RequestKind, leftMs: () => number = () => Number.POSITIVE_INFINITY): Promise<Permit | undefined> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const enter = (permit: Permit | undefined): void => {
        clearTimeout(timer);
        resolve(permit);
      };
      const look = (): void => {
        const index = this.#waiting.indexOf(waiting);
        // It has entered.
        if (index < 0) return;
        clearTimeout(timer);
        const ms = leftMs();
        if (ms === Number.POSITIVE_INFINITY) return;
        if (ms > 0) return void (timer = setTimeout(look, Math.min(Math.max(ms, LEAST_LOOK_MS), LONGEST_TIMER_MS)));
        this.#waiting.splice(index, 1);
        this.#admit();
        enter(undefined);
      };
      const waiting: Waiting = { kind, enter, look };
      this.#waiting.push(waiting);
      this.#admit();
      look();
    });
  }

  /** Ends the waits that have no time left, although they had some when they began. */
  endLate(): void {
    for (const { look } of [...this.#waiting]) look();
  }

  /**
   * When a poll loop may send the next request (performance.now): polls are spread evenly over their part of the
   * budget.
   */
  reservePoll(): number {
    const now = performance.now();
    const at = Math.max(now, this.#nextPollAt);
    const pauseOf = (limit: number, windowMs: number): number => windowMs / Math.max(limit * POLLS, LEAST_POLLS);
    const pauses = this.#limits.map(({ limit, windowMs }) => pauseOf(limit, windowMs));
    if (pauses.length === 0) return now;
    this.#nextPollAt = at + Math.max(...pauses);
    return at;
  }

  /** Whether a poll of so many requests can be sent now: nobody else needs a permit, and there is one for each. */
  hasRoom(requests: number): boolean {
    this.#admit();
    // Without a limit, a poll takes nothing from a change that reads its list, which may take minutes.
    if (this.#limits.length === 0) return true;
    return this.#waiting.length + this.#preparing === 0 && this.#hasRoom("read", requests);
  }

  get #learnedLimits(): readonly Limit[] {
    if (this.#learned === undefined) return [];
    const { allowed, windowMs } = this.#learned;
    return [{ limit: Math.floor(allowed), windowMs, counts: isThrough }];
  }

  get #limits(): readonly Limit[] {
    if (this.#share === undefined) return this.#learnedLimits;
    return [{ limit: this.#share, windowMs: this.minuteMs, counts: () => true }, ...this.#learnedLimits];
  }

  #hasRoom(kind: RequestKind, requests = 1): boolean {
    // A change that is preparing waits for its list: that read belongs to it.
    const isOfChange = kind !== "read" || this.#preparing > 0;
    const pausedUntil = isOfChange ? this.#changesPausedUntil : this.#pausedUntil;
    return performance.now() >= pausedUntil && this.#freeOf(this.#limits) >= requests;
  }

  /** If changes that read their lists held all permits, none would be left for the lists that they wait for. */
  get #mostPreparing(): number {
    return Math.min(...this.#limits.map(({ limit }) => Math.ceil(limit / 2)));
  }

  #freeOf(limits: readonly Limit[]): number {
    const free = limits.map(({ limit, windowMs, counts }) => limit - this.#countSince(windowMs, counts));
    return Math.min(...free) - this.#underWay - Math.min(this.#preparing, this.#mostPreparing);
  }

  #countSince(windowMs: number, counts: (one: Answered) => boolean): number {
    const from = performance.now() - windowMs * (1 + SAFETY);
    return this.#answered.filter((one) => one.at > from && counts(one)).length;
  }

  #mayEnter(kind: RequestKind): boolean {
    return this.#hasRoom(kind) && (kind !== "proven" || this.#preparing < this.#mostPreparing);
  }

  #issue(kind: RequestKind): Permit {
    if (kind === "proven") this.#preparing += 1;
    else this.#underWay += 1;
    const release = (): void => {
      if (kind === "proven") this.#preparing -= 1;
      else this.#underWay -= 1;
      this.#admit();
    };
    const leave = (): (() => void) | undefined => {
      if (kind === "proven") {
        this.#preparing -= 1;
        // Its list may have taught that there is less than before.
        const hasRoom = this.#hasRoom(kind);
        if (hasRoom) this.#underWay += 1;
        this.#admit();
        if (!hasRoom) return undefined;
      }
      const sentAt = performance.now();
      return (refusal?: Refusal) => {
        this.#underWay -= 1;
        this.#answered.push({ at: performance.now(), isRefused: refusal !== undefined });
        if (refusal !== undefined) this.#slowDown(sentAt, refusal);
        else if (sentAt > this.#refusedAt) this.#speedUp();
        this.#admit();
      };
    };
    return { leave, release };
  }

  #slowDown(sentAt: number, { retryAfterMs }: Refusal): void {
    const now = performance.now();
    const secondMs = this.minuteMs / 60;
    const unnamedMs = this.#countSince(secondMs, () => true) >= MANY_IN_A_SECOND ? secondMs : this.minuteMs;
    const namedMs = Math.min(retryAfterMs ?? unnamedMs, this.minuteMs);
    // Requests that were sent together are refused together: that is one lesson.
    if (sentAt <= this.#refusedAt) return this.#pause(namedMs);
    this.#refusedAt = now;
    const before = this.#learned;
    const namedWindowMs = namedMs > this.minuteMs / 6 ? this.minuteMs : Math.max(namedMs, secondMs);
    let windowMs = Math.max(before?.windowMs ?? 0, namedWindowMs);
    const through = this.#countSince(windowMs, isThrough);
    const rate = before === undefined ? Number.POSITIVE_INFINITY : before.allowed / before.windowMs;
    const half = Math.min(through, rate * windowMs) / 2;
    if (half < LEAST && before !== undefined) windowMs = Math.min(windowMs * 2, this.minuteMs);
    const allowed = Math.max(half, LEAST);
    this.#learned = { allowed, windowMs, isSteady: before !== undefined };
    // A service may name a time after which it refuses again, such as none.
    const pauseMs = before === undefined ? namedMs : Math.max(namedMs, windowMs / allowed);
    this.#pause(pauseMs, pauseMs * Math.random() * SPREAD);
  }

  #pause(ms: number, spreadMs = 0): void {
    const now = performance.now();
    const until = Math.max(this.#pausedUntil, now + ms);
    this.#pausesMs += until - Math.max(this.#pausedUntil, now);
    this.#pausedUntil = until;
    this.#changesPausedUntil = Math.max(this.#changesPausedUntil, this.#pausedUntil + spreadMs);
  }

  #speedUp(): void {
    if (this.#learned === undefined) return;
    const { allowed, isSteady, windowMs } = this.#learned;
    const step = isSteady ? (SLOW * (performance.now() - this.#refusedAt)) / windowMs : FAST;
    this.#learned = { ...this.#learned, allowed: allowed + step };
  }

  #admit(): void {
    const now = performance.now();
    const oldest = now - this.minuteMs * (1 + SAFETY);
    while ((this.#answered[0]?.at ?? Number.POSITIVE_INFINITY) <= oldest) this.#answered.shift();
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.enter(this.#issue(next.kind));
    }
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const windows = this.#limits.map(({ windowMs }) => windowMs * (1 + SAFETY));
    const times = [
      this.#pausedUntil,
      this.#changesPausedUntil,
      ...this.#answered.flatMap(({ at }) => windows.map((ms) => at + ms)),
    ];
    const nextAt = Math.min(...times.filter((time) => time > now));
    if (nextAt !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#admit(), Math.ceil(nextAt - now));
  }

  #next(): Waiting | undefined {
    const first = this.#waiting.find(({ kind }) => kind === "read") ?? this.#waiting[0];
    if (first === undefined || this.#mayEnter(first.kind)) return first;
    return this.#waiting.find(({ kind }) => this.#mayEnter(kind));
  }
}
