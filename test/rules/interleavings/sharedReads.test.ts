/**
 * Reads that several callers share (docs/design/rules.md, 3 and 6; docs/design/decisions.md, Time, queues and speed), in any
 * order of calls, changes, responses, failures and deadlines:
 *
 * 1. A list shows every change of ours that had ended when the caller asked, and with `since` all that had happened by
 *    then.
 * 2. A caller gets no error of a read that had failed before it asked.
 * 3. A caller's deadline ends no other caller's wait, and no wait ends before its caller's time is over, or before 30 s
 *    if that is less. The time in which the service makes the read wait does not count.
 * 4. An object that this process has created is found, however old the lists are, if they lag no longer than they may.
 * 5. Every caller is answered.
 */
import fc from "fast-check";
import { z } from "zod";
import { Gone } from "../../../src/client";
import { Collection } from "../../../src/client/collection";
import { Deadline, READ_MS, withDeadline } from "../../../src/client/http/deadline";
import { SvcError, TimeoutError } from "../../../src/client/http/errors";
import type { Page, RecordKind } from "../../../src/client/records";
import { SharedRead, SharedReads } from "../../../src/client/reads/sharedReads";
import { inAnyOrder, type Interleaving, interleavings } from "../../support/interleaving";

interleavings();

const LAG_MS = 3_000;

/** How an attempt of a read ends. */
type Attempt = "responds" | "fails" | "is sent again" | "is throttled";

const attempt = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Attempt>("responds") },
  { weight: 1, arbitrary: fc.constantFrom<Attempt>("fails", "is sent again", "is throttled") },
);

type Call =
  | { readonly does: "list"; readonly isFresh: boolean; readonly limitMs: number | undefined }
  | { readonly does: "change"; readonly isOurs: boolean };

const limitMs = fc.constantFrom(undefined, 10, 5_000, READ_MS, 40_000, 90_000);
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant("list" as const), isFresh: fc.boolean(), limitMs }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("change" as const), isOurs: fc.boolean() }) },
);

class ReadError extends SvcError {
  readonly failedAt = performance.now();
}

interface Pause {
  readonly from: number;
  to: number;
}

type ReadOptions = Parameters<ConstructorParameters<typeof SharedRead>[1]>[0];

/** A service whose list is the numbers of the changes that it has carried out. */
class Service {
  readonly carriedOut = new Set<number>();
  readonly reads = new SharedReads();
  /** When the service made each read wait. */
  readonly #pauses = new Map<SharedRead<readonly number[]>, Pause[]>();
  #sent = 0;

  constructor(
    private readonly order: Interleaving,
    private readonly attempts: readonly Attempt[],
  ) {}

  list(since: number | undefined): SharedRead<readonly number[]> {
    const start = (delayMs: number): SharedRead<readonly number[]> => {
      const pauses: Pause[] = [];
      const read = new SharedRead("/list", (options) => this.#read(options, pauses), delayMs);
      this.#pauses.set(read, pauses);
      return read;
    };
    return this.reads.get("list", start, since).latest;
  }

  /** How much of this time was not spent in waiting for the service's permission. */
  countedMs(read: SharedRead<readonly number[]>, from: number, to: number): number {
    const pauses = this.#pauses.get(read) ?? [];
    return pauses.reduce(
      (ms, pause) => ms - Math.max(0, Math.min(pause.to, to) - Math.max(pause.from, from)),
      to - from,
    );
  }

  async #read(options: ReadOptions, pauses: Pause[]): Promise<readonly number[]> {
    const late = ({ totalMs }: Deadline): Error => new LateRead(`no response within ${totalMs} ms`);
    return withDeadline(options.deadline, this.#attempts(options, pauses), late);
  }

  async #attempts({ onSend, onThrottled }: ReadOptions, pauses: Pause[]): Promise<readonly number[]> {
    for (;;) {
      onSend?.();
      const number = (this.#sent += 1);
      const how = this.attempts[number - 1] ?? "responds";
      if (how === "is throttled") {
        const goOn = onThrottled?.(false);
        const pause: Pause = { from: performance.now(), to: Number.POSITIVE_INFINITY };
        pauses.push(pause);
        await this.order.event(`read ${number} may go on`, () => goOn?.());
        pause.to = performance.now();
        continue;
      }
      const list = await this.order.event(`read ${number} arrives`, () => [...this.carriedOut]);
      await this.order.event(`read ${number} ${how}`, () => undefined);
      if (how === "fails") throw new ReadError("the read failed");
      if (how === "responds") return list;
    }
  }
}

/** The deadline of the read itself has passed. */
class LateRead extends SvcError {}

test("a list is as new as its caller needs it, and no caller suffers from another one", async () => {
  const inputs = fc.record({
    calls: fc.array(call, { minLength: 2, maxLength: 8 }),
    attempts: fc.array(attempt, { maxLength: 8 }),
  });
  await inAnyOrder(600, inputs, async ({ calls, attempts }, order) => {
    const service = new Service(order, attempts);
    const ended = new Set<number>();
    const change = async (number: number, isOurs: boolean): Promise<void> => {
      const end = isOurs ? service.reads.invalidating(["list"]) : undefined;
      await order.event(`change ${number} arrives`, () => service.carriedOut.add(number));
      if (!isOurs) return;
      await order.event(`change ${number} is answered`, () => undefined);
      end?.();
      ended.add(number);
    };
    const list = async (isFresh: boolean, totalMs: number | undefined): Promise<void> => {
      const began = performance.now();
      const expected = isFresh ? [...service.carriedOut] : [...ended];
      const deadline = totalMs === undefined ? undefined : Deadline.ofRead(totalMs);
      const read = service.list(isFresh ? began : undefined);
      try {
        expect(await read.wait({ deadline })).toEqual(expect.arrayContaining(expected));
      } catch (error) {
        if (error instanceof ReadError) return expect(error.failedAt).toBeGreaterThanOrEqual(began);
        const countedMs = service.countedMs(read, began, performance.now());
        // Timers count whole milliseconds, and time passes before an event.
        const hadItsTime = totalMs !== undefined && countedMs >= totalMs - 2;
        if (error instanceof LateRead) return expect(hadItsTime || (totalMs ?? READ_MS) <= READ_MS).toBe(true);
        if (error instanceof TimeoutError) return expect({ hadItsTime, countedMs }).toMatchObject({ hadItsTime: true });
        throw error;
      }
    };
    await order.everySettled(
      calls.map((one, number) =>
        order.begin(`call ${number}`, () =>
          one.does === "change" ? change(number, one.isOurs) : list(one.isFresh, one.limitMs),
        ),
      ),
    );
  });
});

interface Thing {
  readonly id: string;
}

test("what this process has created is found while lists lag", async () => {
  const step = fc.record({
    does: fc.constantFrom("find", "find now", "create"),
    lagMs: fc.integer({ min: 0, max: LAG_MS - 1 }),
    isSentAgain: fc.boolean(),
  });
  await inAnyOrder(300, fc.array(step, { minLength: 2, maxLength: 6 }), async (steps, order) => {
    const reads = new SharedReads();
    const createdAt = new Map<string, number>();
    const ended: string[] = [];
    const plans = [...steps];
    const read = async ({ onSend }: ReadOptions): Promise<Page<Thing>> => {
      const { lagMs, isSentAgain } = plans.shift() ?? { lagMs: 0, isSentAgain: false };
      onSend?.();
      if (isSentAgain) {
        await order.event("a read fails", () => undefined);
        onSend?.();
      }
      const shown = await order.event("a read arrives", () =>
        [...createdAt].filter(([, at]) => at <= performance.now() - lagMs).map(([id]) => ({ id })),
      );
      return order.event("a read responds", () => ({ items: shown }));
    };
    const kind: RecordKind<Thing, never> = {
      path: "/things",
      page: z.array(z.object({ id: z.string() })).transform((items) => ({ items })),
      thing: "the thing",
      touches: [],
      idOf: ({ id }) => id,
    };
    const things = new Collection(kind, "p", {
      lagMs: LAG_MS,
      isDeclaredGone: false,
      isProjectShown: () => Promise.resolve(true),
      readsSince: (since) => reads.get("list", (delayMs) => new SharedRead("/things", read, delayMs), since),
      invalidating: () => reads.invalidating(["list"]),
      requests: { send: () => Promise.reject(new Error("nothing is sent here")) },
      creator: { create: () => Promise.reject(new Error("nothing is created here")) },
    });
    const create = (id: string): Promise<void> =>
      things
        .changing(async () => {
          await order.event(`${id} is created`, () => createdAt.set(id, performance.now()));
          await order.event(`the creation of ${id} is answered`, () => undefined);
        })
        .then(() => void ended.push(id));
    const find = async (isFresh: boolean): Promise<void> => {
      const [id] = ended;
      const found = await things.find((thing) => thing.id === (id ?? "another"), {
        since: isFresh ? performance.now() : undefined,
      });
      expect(found).toEqual(id === undefined ? expect.any(Gone) : { id });
    };
    await order.everySettled(
      steps.map(({ does }, index) =>
        order.begin(`steps[${index}]`, () =>
          does === "create" ? create(`thing ${index}`) : find(does === "find now"),
        ),
      ),
    );
  });
});
