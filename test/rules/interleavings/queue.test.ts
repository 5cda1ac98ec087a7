/**
 * The queue of one project (docs/design/decisions.md, Time, queues and speed; rules.md, 6), in any order of calls,
 * responses, locks, failures and deadlines:
 *
 * 1. Once one change has met a 423, no change is sent while another one is under way: sent, or waited for.
 * 2. Those that wait go in the order in which they came.
 * 3. A change is repeated only after a 423, so it is carried out at most once, and a failure reaches its own caller only.
 * 4. The time in the queue is charged to no deadline.
 * 5. Every change ends, and the queue is free afterwards.
 */
import fc from "fast-check";
import { Deadline } from "../../../src/client/http/deadline";
import { LockedError } from "../../../src/client/http/errors";
import { ProjectQueue } from "../../../src/client/operations/queue";
import { inAnyOrder, interleavings } from "../../support/interleaving";

interleavings();

const SHORT_MS = 1_000;
const LONG_MS = 600_000;

interface Change {
  /** What happens to it if the project is not locked. */
  readonly ends: "is done" | "is refused" | "fails later";
  readonly limitMs: number;
  readonly retryAfterMs: number | undefined;
}

const change: fc.Arbitrary<Change> = fc.record({
  ends: fc.constantFrom("is done", "is done", "is refused", "fails later"),
  limitMs: fc.constantFrom(SHORT_MS, LONG_MS),
  retryAfterMs: fc.constantFrom(undefined, 0, 700, 5_000),
});
const inputs = fc.record({
  changes: fc.array(change, { minLength: 2, maxLength: 7 }),
  /** Somebody else locks the project, for so many of our requests. */
  strangers: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  locks: fc.boolean(),
});

/** A time in which a change was under way. `number`: the changes in the order of their calls. */
interface Turn {
  readonly number: number;
  readonly queuedAt: number;
  readonly sentAt: number;
  endedAt: number;
}

/** What the callers of the queue saw. */
class Line {
  readonly turns: Turn[] = [];
  readonly #queuedAt = new Map<number, number>();
  #serialSince = Number.POSITIVE_INFINITY;

  queue(number: number): void {
    this.#queuedAt.set(number, performance.now());
  }

  send(number: number): void {
    const queuedAt = this.#queuedAt.get(number);
    if (queuedAt === undefined) return;
    this.#queuedAt.delete(number);
    this.turns.push({ number, queuedAt, sentAt: performance.now(), endedAt: Number.POSITIVE_INFINITY });
  }

  /** If no other change is under way, somebody else has the lock, and this one keeps its place. */
  meetLock(number: number): void {
    this.#serialSince = Math.min(this.#serialSince, performance.now());
    if (!this.turns.some((turn) => turn.number !== number && turn.endedAt > performance.now())) return;
    this.end(number);
    this.queue(number);
  }

  end(number: number): void {
    const turn = this.turns.findLast((one) => one.number === number);
    if (turn !== undefined) turn.endedAt = Math.min(turn.endedAt, performance.now());
  }

  queuedMs(number: number): number {
    const own = this.turns.filter((turn) => turn.number === number);
    return own.reduce((ms, { queuedAt, sentAt }) => ms + sentAt - queuedAt, 0);
  }

  /** Turns that began although another change was under way, or had waited longer. */
  get wrong(): object[] {
    const serial = this.turns.filter(({ sentAt }) => sentAt >= this.#serialSince);
    return serial.flatMap((turn) =>
      this.turns
        .filter(({ number }) => number !== turn.number)
        .filter(
          (other) =>
            (other.sentAt <= turn.sentAt && other.endedAt > turn.sentAt) ||
            (other.number < turn.number && other.queuedAt < turn.sentAt && other.sentAt > turn.sentAt),
        )
        .map((other) => ({ turn, other })),
    );
  }
}

test("after the first 423 changes follow one another, each is carried out at most once, and all end", async () => {
  await inAnyOrder(300, inputs, async ({ changes, strangers, locks }, order) => {
    const queue = new ProjectQueue(250);
    const line = new Line();
    const carryingOut = new Set<number>();
    const carriedOut: number[] = [];
    let lockedFor = 0;
    let calls = 0;
    const run = async ({ ends, limitMs, retryAfterMs }: Change): Promise<void> => {
      const number = (calls += 1);
      const deadline = new Deadline(limitMs);
      const began = performance.now();
      line.queue(number);
      const send = async (): Promise<string> => {
        line.send(number);
        const isLocked = await order.event(`change ${number} arrives`, () => {
          const locked = lockedFor > 0 || (locks && carryingOut.size > 0);
          lockedFor = Math.max(0, lockedFor - 1);
          if (locked || ends === "is refused") return locked;
          carryingOut.add(number);
          carriedOut.push(number);
          return false;
        });
        await order.event(`change ${number} is answered`, () => undefined);
        if (isLocked) {
          line.meetLock(number);
          throw new LockedError("locked", { retryAfterMs });
        }
        if (ends === "is refused") throw new Error(`${number} ${ends}`);
        return `${number} was accepted`;
      };
      const wait = async (accepted: string): Promise<string> => {
        expect(accepted).toBe(`${number} was accepted`);
        await order.event(`change ${number} ends`, () => carryingOut.delete(number));
        if (ends === "fails later") throw new Error(`${number} ${ends}`);
        return `${number} ${ends}`;
      };
      const outcome = await queue
        .run({ deadline, onProgress: undefined, send, wait })
        .catch((error: unknown) => (error instanceof LockedError ? "locked" : error instanceof Error && error.message));
      line.end(number);
      if (outcome === "locked") expect(limitMs).toBe(SHORT_MS);
      else expect(outcome).toBe(`${number} ${ends}`);
      const countedMs = performance.now() - began - line.queuedMs(number);
      expect(deadline.remainingMs()).toBe(Math.max(0, limitMs - countedMs));
    };
    await order.everySettled([
      ...changes.map((change, index) => order.begin(`call of changes[${index}]`, () => run(change))),
      ...strangers.map((requests) => order.event("somebody locks it", () => (lockedFor = requests))),
    ]);
    expect(line.wrong).toEqual([]);
    expect(carriedOut).toEqual([...new Set(carriedOut)]);
    lockedFor = 0;
    await order.everySettled([run({ ends: "is done", limitMs: LONG_MS, retryAfterMs: undefined })]);
  });
});
