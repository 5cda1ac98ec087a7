import type { PageSnapshot } from "./snapshot";

/** Changes within this time are sent together: a page that is read by a person needs no more. */
const TOGETHER_MS = 100;
/** A line that says nothing, so that nothing between the two takes the connection for dead. */
const SILENCE_MS = 15_000;
/** Each open page keeps one snapshot at most. */
const MOST_READERS = 50;

const encoder = new TextEncoder();

/**
 * What changed, as server-sent events. Nothing is looked at without a reader. A reader takes a message when it has sent the
 * one before: whoever is slow gets the sum of the changes later, so that nothing piles up.
 */
export class Feed {
  private current: PageSnapshot = new Map();
  /** What ends the stream of each. */
  private readonly readers = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly look: () => PageSnapshot) {}

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

  /** Ends every stream. Who asks again is checked again. */
  end(): void {
    for (const end of [...this.readers]) end();
  }

  /** Everything first, then the changes, until the reader goes away or `end` is called. */
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
      // Nothing is made before it is read.
      { highWaterMark: 0 },
    );
  }

  private enter(end: () => void): void {
    if (this.readers.size === 0) this.current = this.look();
    this.readers.add(end);
  }

  private leave(end: () => void): void {
    if (!this.readers.delete(end) || this.readers.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.current = new Map();
  }

  /** Calls back with the next change, or after some silence. Returns what ends the waiting at once. */
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

/** One event. The records are JSON already. `fresh`: it holds everything, and what the page has besides is gone. */
function message(before: PageSnapshot | undefined, after: PageSnapshot): string {
  const set = [...after].filter(([key, json]) => before?.get(key) !== json);
  const gone = before === undefined ? [] : [...before.keys()].filter((key) => !after.has(key));
  const pairs = set.map(([key, json]) => `[${JSON.stringify(key)},${json}]`);
  const rest = JSON.stringify({ gone, fresh: before === undefined, now: Date.now() });
  return `data: {"set":[${pairs.join(",")}],${rest.slice(1)}\n\n`;
}
