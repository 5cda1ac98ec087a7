/**
 * The poll loop of one project (docs/design/decisions.md, Time, queues and speed; rules.md, 1 and 6), in any order of
 * waits, polls, faults, deadlines and what is waited for:
 *
 * 1. A wait believes only a poll that began after it, sees each once, and none after its end.
 * 2. It ends when such a poll shows what it waits for, at its own deadline, or with an error that repeating does not mend.
 * 3. There is one poll at a time, and none without a wait.
 * 4. Every wait ends, and a later one finds the loop running.
 */
import fc from "fast-check";
import { Deadline } from "../../../src/client/http/deadline";
import { AuthenticationError, RateLimitError, ServiceError } from "../../../src/client/http/errors";
import { RequestBudget } from "../../../src/client/http/requestBudget";
import { type Condition, type Needs, ProjectWatch, type Snapshot } from "../../../src/client/operations/watch";
import type { OperationRecord } from "../../../src/client/records";
import { inAnyOrder, interleavings } from "../../support/interleaving";

interleavings();

const FAULTS = {
  "a fault": () => new ServiceError("down", { status: 503 }),
  "a 429": () => new RateLimitError("slow down", { status: 429, retryAfterMs: 3_000 }),
  "a refused key": () => new AuthenticationError("no", { status: 401 }),
};

interface Wait {
  readonly needs: Needs;
  /** When the first poll is due, and how long after each the next one. */
  readonly firstMs: number;
  readonly pauseMs: number;
  /** Undefined: what it waits for happens in the end. */
  readonly limitMs: number | undefined;
}

const wait: fc.Arbitrary<Wait> = fc.record({
  needs: fc.constantFrom("operations", "endpoints", "both"),
  firstMs: fc.constantFrom(0, 40, 700),
  pauseMs: fc.constantFrom(100, 2_000),
  limitMs: fc.constantFrom(undefined, undefined, 5, 900, 8_000),
});

test("a wait ends once, for a reason of its own, and the polls are shared", async () => {
  const inputs = fc.record({
    waits: fc.array(wait, { minLength: 1, maxLength: 6 }),
    faults: fc.array(fc.constantFrom(undefined, undefined, ...Object.keys(FAULTS)), { maxLength: 5 }),
    limit: fc.constantFrom(undefined, undefined, 60),
  });
  await inAnyOrder(120, inputs, async ({ waits, faults, limit }, order) => {
    const happened = new Set<string>();
    const waiting = new Set<string>();
    // Not thrown where they are found: the loop would take them for errors of a poll or a check.
    const wrong: string[] = [];
    let polls = 0;
    let isPolling = false;
    let refusedAt = Number.NEGATIVE_INFINITY;
    const plans = [...faults];
    const poll = async (needs: Needs): Promise<Snapshot> => {
      if (isPolling) wrong.push(`poll ${polls + 1} began before the one before it had ended`);
      if (waiting.size === 0) wrong.push(`poll ${polls + 1} is for nobody`);
      isPolling = true;
      const readAt = performance.now();
      const number = (polls += 1);
      // Only tests look for these.
      const listed = await order.event(`poll ${number} arrives`, () =>
        [...happened].map((id) => ({ id }) as OperationRecord),
      );
      const fault = plans.shift();
      await order.event(`poll ${number} ends with ${fault ?? "a response"}`, () => undefined);
      isPolling = false;
      if (fault === "a refused key") refusedAt = performance.now();
      if (fault !== undefined) throw FAULTS[fault as keyof typeof FAULTS]();
      return {
        readAt,
        operations: needs === "endpoints" ? undefined : { listed },
        endpoints: needs === "operations" ? undefined : (listed as never),
      };
    };
    const budget = new RequestBudget(60_000);
    budget.limit = limit;
    const watch = new ProjectWatch(poll, 2_000, budget);

    const begin = async (id: string, { needs, firstMs, pauseMs, limitMs }: Wait): Promise<void> => {
      const began = performance.now();
      const deadline = new Deadline(limitMs ?? 1);
      // It never ends.
      if (limitMs === undefined) deadline.pause();
      const seen: number[] = [];
      const condition: Condition<string> = {
        needs,
        dueAt: () => began + firstMs + pauseMs * seen.length,
        check: ({ readAt, operations, endpoints }) => {
          if (readAt < began) wrong.push(`wait ${id} got a poll of before it`);
          if (seen.includes(readAt)) wrong.push(`wait ${id} got a poll twice`);
          if (!waiting.has(id)) wrong.push(`wait ${id} got a poll after its end`);
          seen.push(readAt);
          const shown = [...(operations?.listed ?? []), ...(endpoints ?? [])];
          return shown.some((one) => one.id === id) ? { done: id } : undefined;
        },
        timedOut: () => new Error("late"),
        isEnough: () => true,
      };
      waiting.add(id);
      const outcome = await watch.wait(condition, deadline).catch((error: unknown) => error);
      waiting.delete(id);
      if (outcome === id) return expect(happened).toContain(id);
      if (outcome instanceof AuthenticationError) return expect(refusedAt).toBe(performance.now());
      expect(outcome).toEqual(new Error("late"));
      expect(deadline.expired && limitMs !== undefined).toBe(true);
    };
    await order.everySettled(
      waits.flatMap((one, index) => [
        order.begin(`wait ${index}`, () => begin(`${index}`, one)),
        order.event(`what wait ${index} is for happens`, () => one.limitMs === undefined && happened.add(`${index}`)),
      ]),
    );
    // Nothing keeps the process alive.
    expect({ wrong, timers: jest.getTimerCount() }).toEqual({ wrong: [], timers: 0 });
    plans.length = 0;
    happened.add("last");
    await order.everySettled([begin("last", { needs: "both", firstMs: 0, pauseMs: 100, limitMs: undefined })]);
  });
});
