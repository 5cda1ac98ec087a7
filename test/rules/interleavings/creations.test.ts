/**
 * Creations whose objects could be confused (docs/design/rules.md, 2, A creation whose response is lost), in any order
 * of calls, requests, responses and lists, which lag:
 *
 * 1. A creation ends with an object that a request of ours has created, and that shows what it sent.
 * 2. No two of them end with the same object, and one that was answered ends with its own.
 * 3. An object that no creation ends with is one of a creation that failed.
 * 4. The list right before a request began after the creation's turn had come.
 * 5. Every creation ends.
 */
import fc from "fast-check";
import { z } from "zod";
import { Creator } from "../../../src/client/createRecovery";
import { Deadline } from "../../../src/client/http/deadline";
import { BadRequestError, FateUnknownError } from "../../../src/client/http/errors";
import type { Request } from "../../../src/client/http/request";
import type { Requests } from "../../../src/client/http/requests";
import { inAnyOrder, interleavings } from "../../support/interleaving";

interleavings();

const LAG_MS = 3_000;
const FATES = ["answered", "empty response", "lost, made", "lost, not made", "refused"] as const;

interface Creation {
  /** What is sent, and what distinguishes its object from others; some have no name. */
  readonly name: string | undefined;
  readonly fate: (typeof FATES)[number];
  /** How often it is sent again because the service asked to wait. */
  readonly waits: number;
}

interface Thing {
  readonly id: string;
  readonly name: string | undefined;
  /** Undefined: a colleague's. */
  readonly creation: number | undefined;
  readonly createdAt: number;
}

const SCHEMA = z.looseObject({ id: z.string() });

test("each creation ends with an object of its own, or fails", async () => {
  const inputs = fc.record({
    creations: fc.array(
      fc.record<Creation>({
        name: fc.constantFrom(undefined, "a"),
        fate: fc.constantFrom(...FATES),
        waits: fc.constantFrom(0, 0, 0, 1),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    /** How far each list lags. */
    lags: fc.array(fc.integer({ min: 0, max: LAG_MS - 100 }), { maxLength: 12 }),
    theirs: fc.array(fc.constantFrom(undefined, "a", "theirs"), { maxLength: 2 }),
  });
  await inAnyOrder(
    250,
    inputs,
    async ({ creations, lags, theirs }, order) => {
      const things: Thing[] = [];
      const plans = [...lags];
      const make = (name: string | undefined, creation?: number): Thing => {
        const thing = { id: `thing-${things.length}`, name, creation, createdAt: performance.now() };
        things.push(thing);
        return thing;
      };
      // What existed before looks like one of ours.
      make("a");
      make(undefined);
      await jest.advanceTimersByTimeAsync(LAG_MS);

      const list = async (): Promise<readonly Thing[]> => {
        const shown = await order.event("a list arrives", () => {
          const until = performance.now() - (plans.shift() ?? 0);
          return things.filter(({ createdAt }) => createdAt <= until);
        });
        return order.event("a list responds", () => shown);
      };
      const lists = {
        list,
        listAfterLag: async (_: object, from: number) => {
          await new Promise((resolve) => setTimeout(resolve, from + LAG_MS - performance.now() + 1));
          return list();
        },
      };
      // Two requests may have the same body, but each has its deadline.
      const numbers = new Map<Deadline, number>();
      const send = async ({ deadline, beforeAttempt }: Request) => {
        const number = numbers.get(deadline) ?? 0;
        const { name, fate, waits } = creations[number] as Creation;
        for (let attempts = 0; ; attempts += 1) {
          await beforeAttempt?.();
          if (attempts === waits) break;
          await order.event(`${number} is asked to wait`, () => undefined);
        }
        const made = await order.event(`${number} arrives`, () =>
          fate === "lost, not made" || fate === "refused" ? undefined : make(name, number),
        );
        await order.event(`${number}: ${fate}`, () => undefined);
        if (fate === "refused") throw new BadRequestError("no", { method: "POST" });
        if (fate.startsWith("lost")) throw new FateUnknownError("lost", { method: "POST" });
        return { value: fate === "empty response" ? undefined : made, repeated: false };
      };
      // Only this method is used, whose response is what the schema would let pass.
      const creator = new Creator({ send } as unknown as Pick<Requests, "send">, { serviceNow: () => Number.NaN });
      const kind = {
        thing: "the thing",
        response: SCHEMA,
        idOf: ({ id }: Thing) => id,
        idOfResponse: ({ id }: { id: string }) => id,
      };
      const results = new Map<number, string>();
      const failed = new Set<number>();
      const create = async (number: number): Promise<void> => {
        const { name, fate } = creations[number] as Creation;
        const isOurs = (thing: Thing): boolean => thing.name === name;
        const recovery = { isOurs, isCandidate: isOurs, describe: ({ id }: Thing) => id, onFound: () => undefined };
        const deadline = new Deadline(36_000_000);
        numbers.set(deadline, number);
        const request: Request = {
          method: "POST",
          template: "/things",
          params: {},
          body: { name },
          deadline,
        };
        const made = await creator
          .create<Thing, { id: string }>({ kind, request, lists, recovery, similarityKey: "things" })
          .catch(() => undefined);
        if (made === undefined) return void failed.add(number);
        const id = "response" in made ? made.response.id : made.found.id;
        const thing = things.find((one) => one.id === id);
        expect({ ours: thing?.creation !== undefined, name: thing?.name }).toEqual({ ours: true, name });
        if (fate === "answered") expect(thing?.creation).toBe(number);
        results.set(number, id);
      };
      // If a request was not carried out, an equal one of a colleague is taken for its object: nothing distinguishes them.
      const isUncertain = creations.some(({ fate }) => fate === "lost, not made");
      const others = theirs.map((name) => (isUncertain ? "theirs" : name));
      const areAlike = others.some((name) => creations.some((one) => one.name === name));
      await order.everySettled([
        ...creations.map((_, number) => order.begin(`creation ${number}`, () => create(number))),
        ...others.map((name) => order.event("a colleague creates one", () => make(name))),
      ]);
      const ids = [...results.values()];
      expect(ids).toEqual([...new Set(ids)]);
      const orphans = things.filter(({ id, creation }) => creation !== undefined && !ids.includes(id));
      expect(orphans.length).toBeLessThanOrEqual(failed.size);
      const isSure = !isUncertain && !areAlike;
      const mustSucceed = creations.flatMap(({ fate }, number) =>
        fate === "answered" || (isSure && fate !== "refused") ? [number] : [],
      );
      expect(mustSucceed.filter((number) => !results.has(number))).toEqual([]);
    },
    { mostMs: 700 },
  );
});
