import type { PageSnapshot } from "./snapshot";

/** Changes within this time are sent together: a human reader needs no more. */
const TOGETHER_MS = 100;
/** For what changes without a call of `changed`. */
const LOOK_MS = 1_000;
/** An empty message, so that nothing in between considers the connection dead. */
const SILENCE_MS = 15_000;
/** Each open page keeps at most one snapshot. */
const MOST_READERS = 50;

const encoder = new TextEncoder();

/**
 * Changes as server-sent events. Without a reader, nothing is computed. A reader takes a message after it has sent the
 * previous one: a slow reader gets the combined changes later, so that nothing queues up.
 */
export class Feed {
  private current: PageSnapshot = new Map();
  /** Functions that end the readers' streams. */
  private readonly readers = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly look: () => PageSnapshot,
    /** Whether something may change silently. */
    private readonly isMoving = (): boolean => false,
  ) {}

  get isFull(): boolean {
    return this.readers.size >= MOST_READERS;
  }

  /** Something may have changed. */
  changed(): void {
    if (this.readers.size === 0) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const next = this.look();
      if (isSame(this.current, next)) return;
      this.current = next;
      for (const wake of [...this.waiting]) wake();
    }, TOGETHER_MS).unref();
  }

  /** Ends every stream. A client that reconnects is authorised again. */
  end(): void {
    for (const end of [...this.readers]) end();
  }

  /** Sends everything first, then the changes, until the reader disconnects or `end` is called. */
  stream(): ReadableStream<Uint8Array> {
    let seen: PageSnapshot | undefined;
    let isOver = false;
    let wake = (): void => undefined;
    let close = (): void => undefined;
    const leave = (): void => {
      isOver = true;
      this.leave(end);
      wake();
    };
    const end = (): void => {
      leave();
      close();
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => (close = () => controller.close()),
        pull: async (controller) => {
          if (seen === undefined) this.enter(end);
          else if (seen === this.current) await new Promise<void>((resolve) => (wake = this.waitFor(resolve)));
          if (isOver) return;
          const { current } = this;
          controller.enqueue(encoder.encode(seen === current ? ":\n\n" : message(seen, current)));
          seen = current;
        },
        cancel: leave,
      },
      // Nothing is produced before it is read.
      { highWaterMark: 0 },
    );
  }

  private enter(end: () => void): void {
    if (this.readers.size === 0) {
      this.current = this.look();
      this.looking = setInterval(() => {
        if (this.isMoving()) this.changed();
      }, LOOK_MS).unref();
    }
    this.readers.add(end);
  }

  private leave(end: () => void): void {
    if (!this.readers.delete(end) || this.readers.size > 0) return;
    clearTimeout(this.timer);
    clearInterval(this.looking);
    this.timer = undefined;
    this.current = new Map();
  }

  /** Calls back at the next change, or after some silence. Returns a function that ends the wait. */
  private waitFor(resolve: () => void): () => void {
    const wake = (): void => {
      clearTimeout(timer);
      this.waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, SILENCE_MS).unref();
    this.waiting.add(wake);
    return wake;
  }
}

const isSame = (before: PageSnapshot, after: PageSnapshot): boolean =>
  before.size === after.size && [...after].every(([key, json]) => before.get(key) === json);

/** One event. The records are already JSON. `fresh`: it is complete, and the page removes everything else. */
function message(before: PageSnapshot | undefined, after: PageSnapshot): string {
  const set = [...after].filter(([key, json]) => before?.get(key) !== json);
  const gone = before === undefined ? [] : [...before.keys()].filter((key) => !after.has(key));
  const pairs = set.map(([key, json]) => `[${JSON.stringify(key)},${json}]`);
  const rest = JSON.stringify({ gone, fresh: before === undefined, now: Date.now() });
  return `data: {"set":[${pairs.join(",")}],${rest.slice(1)}\n\n`;
}
