import { z } from "zod";
import {
  AuthenticationError,
  BadResponseError,
  Deadline,
  FateUnknownError,
  Gone,
  NotFoundError,
  NotKnownError,
  PermissionError,
  ServiceError,
  SvcError,
  TimeoutError,
} from "../../src/client";
import { Collection, type Expected } from "../../src/client/collection";
import { isRouteMissing, SteadyObservation, undefinedIfNotShown } from "../../src/client/reads/absence";
import { READ_MS } from "../../src/client/http/deadline";
import type { ChangeResponse } from "../../src/client/http/requests";
import { isErrorBody, isGoneStatus } from "../../src/client/http/responses";
import { SharedRead, SharedReads, type CachedReads } from "../../src/client/reads/sharedReads";
import type { Page, RecordKind } from "../../src/client/records";
import { fakeClock, pass } from "../support/fakeClock";
import { PROVEN } from "../support/proven";

// Lists alone, what is cached, when it is believed that something is gone, and who is charged: on a clock that only the tests move.
fakeClock({ startsAtMs: 10_000 });

const now = (): number => performance.now();

const LAG = 3_000;
const GATHER = 25;

/** The outcome of a promise, as soon as there is one. */
function watched<T>(promise: Promise<T>): { outcome?: unknown } {
  const seen: { outcome?: unknown } = {};
  void promise.then(
    (value) => (seen.outcome = value),
    (error: unknown) => (seen.outcome = error),
  );
  return seen;
}

/** What is thrown, with the time that it takes passing; undefined where nothing is. */
async function thrownIn(work: Promise<unknown>, ms = 2 * LAG): Promise<unknown> {
  const seen = watched(work.then(() => undefined));
  await pass(ms);
  expect(seen).toHaveProperty("outcome");
  return seen.outcome;
}

interface Thing {
  readonly name: string;
  readonly size?: string;
}

const KIND: RecordKind<Thing, Thing> = {
  path: "/things",
  page: z.array(z.object({ name: z.string() })).transform((items) => ({ items })),
  response: z.object({ name: z.string() }),
  itemOf: (thing) => thing,
  idOf: ({ name }) => name,
  thing: "the thing",
  touches: [],
};

/** What each change is answered with. */
type Send = () => Promise<{ value: Thing | undefined }>;

/** A collection whose nth read shows `lists[nth - 1]`, and the last one from then on; an error is thrown. */
function collection(
  lists: readonly (readonly (string | Thing)[] | Error)[],
  send: Send = async () => ({ value: undefined }),
  { isDeclaredGone = false, isOtherShown = false } = {},
) {
  const began = now();
  const reads = new SharedReads();
  const sentAt: number[] = [];
  const start = (delayMs: number): SharedRead<Page<Thing>> =>
    new SharedRead(
      "/things",
      async ({ onSend }) => {
        onSend();
        sentAt.push(now() - began);
        const list = lists[Math.min(sentAt.length, lists.length) - 1] ?? [];
        if (list instanceof Error) throw list;
        return { items: list.map((item) => (typeof item === "string" ? { name: item } : item)) };
      },
      delayMs,
    );
  // What the steps do with a response is all that counts here.
  const requests = { send: async <Body>() => (await send()) as unknown as ChangeResponse<Body> };
  const creator = { create: async () => Promise.reject(new Error("no creation")) };
  const readsSince = (since: number | undefined) => reads.get("things", start, since);
  const invalidating = () => () => undefined;
  const isProjectShown = async () => isOtherShown;
  const source = { lagMs: LAG, isDeclaredGone, isProjectShown, readsSince, invalidating, requests, creator };
  const things = new Collection<Thing, Thing>(KIND, "p", source);
  return { things, sentAt, change: () => reads.invalidating(["things"])() };
}

const [A, B, C] = ["a", "b", "c"].map((name): Thing => ({ name })) as [Thing, Thing, Thing];

const is =
  (wanted: string) =>
  ({ name }: Thing): boolean =>
    name === wanted;

describe("a list", () => {
  test("is read once, and again where a later one is needed or something has changed", async () => {
    const { things, sentAt, change } = collection([["a"], ["b"], ["c"]]);
    expect([await things.list(), await things.list(), await things.list({})]).toEqual([[A], [A], [A]]);
    await pass(100);
    expect(await things.list({ since: now() - 100 })).toEqual([A]);
    const later = watched(things.list({ since: now() }));
    const also = watched(things.list({ since: now() }));
    // Those that need one at about the same time share it.
    await pass(GATHER + 1);
    expect([later.outcome, also.outcome, sentAt]).toEqual([[B], [B], [0, 100 + GATHER + 1]]);
    expect(await things.list()).toEqual([B]);
    await pass(1);
    change();
    expect(await things.list()).toEqual([C]);
  });

  test("that is needed after the lag is read a lag after it was asked for, or after what it is to show", async () => {
    const { things, sentAt } = collection([["a"]]);
    const after = watched(things.listAfterLag());
    await pass(LAG);
    expect(sentAt).toEqual([]);
    await pass(GATHER + 2);
    expect([sentAt, after.outcome]).toEqual([[LAG + 1 + GATHER + 1], [A]]);
    const earlier = watched(things.listAfterLag({}, now() - LAG - 1));
    await pass(1);
    expect(earlier.outcome).toEqual([A]);
  });

  test("that does not come within the lag for want of time is an error that says so", async () => {
    const { things } = collection([["a"]]);
    const error = await thrownIn(things.listAfterLag({ deadline: new Deadline(1_000) }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(String(error)).toBe("TimeoutError: lists can be out of date, and a second one could not be read within 1 s");
  });
});

describe("an item", () => {
  test("that is listed is found at once", async () => {
    const { things, sentAt } = collection([["a", "b"]]);
    expect(await things.find(is("b"))).toEqual(B);
    expect(sentAt).toEqual([0]);
  });

  test("is gone when a second list lacks it, a lag after the first", async () => {
    const { things, sentAt } = collection([["a"], ["a"]]);
    const gone = watched(things.find(is("b")));
    await pass(LAG);
    expect("outcome" in gone).toBe(false);
    await pass(GATHER + 2);
    expect([gone.outcome, sentAt.length]).toEqual([expect.any(Gone), 2]);
    // Both are known by now: nobody waits again.
    expect(await things.find(is("b"))).toBeInstanceOf(Gone);
    expect(await things.find(is("c"))).toBeInstanceOf(Gone);
    expect(sentAt).toHaveLength(2);
  });

  test("that the second list has is found", async () => {
    const { things } = collection([["a"], ["a", "b"]]);
    const found = watched(things.find(is("b")));
    await pass(LAG + GATHER + 2);
    expect(found.outcome).toEqual(B);
  });

  test("that an earlier list had is missed from the latest one on", async () => {
    const { things, sentAt } = collection([["a", "b"], ["a"], ["a"]]);
    await things.list();
    await pass(2 * LAG);
    void things.list({ since: now() });
    await pass(GATHER + 1);
    const missed = watched(things.find(is("b")));
    await pass(LAG);
    expect("outcome" in missed).toBe(false);
    await pass(GATHER + 2);
    expect([missed.outcome, sentAt.length]).toEqual([expect.any(Gone), 3]);
  });

  test("that both lists lacked before one of our changes is searched again", async () => {
    const { things, sentAt, change } = collection([["a"]]);
    void things.find(is("b"));
    await pass(LAG + GATHER + 3);
    change();
    const again = watched(things.find(is("b")));
    await pass(LAG);
    expect("outcome" in again).toBe(false);
    await pass(GATHER + 2);
    expect(sentAt).toHaveLength(4);
  });
});

describe("what shows within the lag", () => {
  const found = (items: readonly Thing[]): Thing | undefined => items.find(is("b"));

  test("is polled for, with growing pauses, and returned as soon as it is listed", async () => {
    const { things, sentAt } = collection([["a"], ["a"], ["a"], ["a"], ["a", "b"]]);
    const seen = watched(things.pollWithinLag(found));
    await pass(LAG);
    expect(seen.outcome).toEqual(B);
    const pauses = sentAt.map((at, i) => at - (sentAt[i - 1] ?? 0));
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect(new Set(pauses).size).toBe(5);
  });

  test("or not at all: the last list is one of after the lag", async () => {
    const { things, sentAt } = collection([["a"]]);
    const seen = watched(things.pollWithinLag(found));
    await pass(2 * LAG);
    expect([seen.outcome, "outcome" in seen]).toEqual([undefined, true]);
    expect(sentAt.at(-1)).toBe(LAG + GATHER + 1);
  });
});

describe("a change that is accepted", () => {
  const small: Thing = { name: "a", size: "small" };
  const large: Thing = { name: "a", size: "large" };
  const expected: Expected<Thing> = { differing: ({ size }) => (size === "large" ? [] : ["size"]) };
  const update = (
    answer: Thing | undefined,
    lists: Parameters<typeof collection>[0],
    more: Partial<Expected<Thing>> = {},
  ) => {
    const { things, sentAt } = collection(lists, async () => ({ value: answer }));
    return { done: things.update({ id: "a", body: {}, expected: { ...expected, ...more } }, {}), sentAt };
  };
  const MESSAGE = 'the service still shows another "size" after it accepted the change';

  test("is done when its response shows what was sent", async () => {
    const { done, sentAt } = update(large, [[small]]);
    expect([await done, sentAt]).toEqual([large, []]);
  });

  test("is done when a list shows it within the lag, where the response shows what was there before", async () => {
    const { done } = update(small, [[small], ["c"], [{ name: "c", size: "large" }, large]]);
    const seen = watched(done);
    await pass(LAG);
    expect(seen.outcome).toEqual(large);
  });

  test("fails after the lag if it is never shown, and passes on what is shown before the error leaves", async () => {
    const onOther = jest.fn();
    const { done, sentAt } = update(small, [[{ name: "a", size: "other" }]], { onOther });
    const error = await thrownIn(done);
    expect(String(error)).toBe(`Error: ${MESSAGE}`);
    expect(onOther.mock.calls).toEqual([[{ name: "a", size: "other" }, ["size"], { name: "a", size: "small" }]]);
    expect(sentAt.at(-1)).toBeGreaterThanOrEqual(LAG);
  });

  test("fails at once where its response cannot be out of date", async () => {
    const { done, sentAt } = update(small, [[large]], { mayBeOld: () => false });
    await expect(done).rejects.toThrow(MESSAGE);
    expect(sentAt).toEqual([]);
  });

  test("is read where its response is empty, and then any list may be out of date", async () => {
    const onAccepted = jest.fn();
    const { done } = update(undefined, [["c"], [small], [large]], { onAccepted, mayBeOld: () => false });
    const seen = watched(done);
    await pass(LAG);
    expect([seen.outcome, onAccepted.mock.calls]).toEqual([large, [[small]]]);
    const unlisted = await thrownIn(update(undefined, [["c"]]).done);
    expect(unlisted).toBeInstanceOf(FateUnknownError);
    expect(String(unlisted)).toContain("the service accepted the request but does not list the thing");
  });

  test("has an unknown fate where its response shows another object, and something was sent that no list shows", async () => {
    const { done, sentAt } = update({ name: "b", size: "large" }, [[large]], { mayBeOld: () => false });
    const error = await thrownIn(done);
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toContain("the response shows another object, not the thing (PATCH");
    expect(sentAt).toEqual([]);
  });

  test("compares a list with the response, which may show more", async () => {
    const differing = jest.fn((now: Thing, response: Thing) =>
      (now.size ?? response.size) === "large" ? [] : ["size"],
    );
    const { done } = update(small, [["a"]], { differing });
    expect(String(await thrownIn(done))).toBe(`Error: ${MESSAGE}`);
  });

  describe("or may have been carried out", () => {
    const lost = new FateUnknownError("a web page came back; the request may have taken effect");
    const updateLost = (listed: Thing, more: Partial<Expected<Thing>> = {}) => {
      const { things } = collection([[listed]], async () => Promise.reject(lost));
      return thrownIn(things.update({ id: "a", body: {}, expected: { ...expected, ...more } }, {}));
    };

    test("is done if a list after the lag shows it, and has an unknown fate if not", async () => {
      expect(await updateLost(large)).toBeUndefined();
      expect(await updateLost(small)).toBe(lost);
      expect(await updateLost({ name: "c", size: "large" })).toBe(lost);
    });

    test("has an unknown fate if something was sent that no list shows", async () => {
      expect(await updateLost(large, { mayBeOld: () => false })).toBe(lost);
    });
  });

  test("has an unknown fate where the list that is to show it cannot be read", async () => {
    const error = await thrownIn(update(small, [new ServiceError("down", { status: 503 })]).done);
    expect(error).toBeInstanceOf(FateUnknownError);
    expect(String(error)).toContain("the service accepted the request, but reading the result failed: down");
  });
});

describe("deleting an item", () => {
  const noBody = { value: undefined };
  const deleting = (lists: Parameters<typeof collection>[0], send: Send) =>
    collection(lists, send).things.delete({ id: "b", thing: "thing b" }, PROVEN);

  test.each([
    ["is empty", noBody],
    ["shows it", { value: B }],
  ])("wants a list without it, where the answer %s", async (_, answer) => {
    const gone = watched(deleting([["b"], ["b"], ["a"]], async () => answer));
    await pass(LAG);
    expect("outcome" in gone).toBe(true);
    const error = await thrownIn(deleting([["b", "c"]], async () => answer));
    expect(error).toBeInstanceOf(BadResponseError);
    expect(String(error)).toBe("StillListedError: the deletion was accepted, but thing b is still listed");
  });

  test("wants none where the caller knows better", async () => {
    const { things, sentAt } = collection([["b"]]);
    const send = async () => ({ ...noBody, repeated: false });
    const deletion = { matches: is("b"), thing: "thing b", needsNoList: () => true };
    expect(await things.proveDeleted(send, deletion, {})).toMatchObject(noBody);
    expect(sentAt).toEqual([]);
  });

  test.each([
    ["a 500", new ServiceError("down", { status: 500 })],
    ["a missing permission", new PermissionError("no", { status: 403 })],
    ["a defect of ours", new TypeError("x")],
  ])("%s needs no list", async (_, error) => {
    const { things, sentAt } = collection([["b"]], async () => Promise.reject(error));
    const outcome = watched(things.delete({ id: "b" }, PROVEN));
    await pass();
    expect(outcome).toEqual({ outcome: error });
    expect(sentAt).toEqual([]);
  });

  describe("that the service answers with 404", () => {
    const missing = new NotFoundError("not found", { status: 404, method: "DELETE", path: "/things" });
    const send = async (): Promise<never> => Promise.reject(missing);

    test("is done with the first list that lacks it", async () => {
      const { things, sentAt } = collection([["a"]], send);
      const done = watched(things.delete({ id: "b" }, PROVEN));
      await pass(GATHER + 1);
      expect(done.outcome).toBeInstanceOf(Gone);
      expect(sentAt).toHaveLength(1);
    });

    test("is done although lists lag behind it, and fails when they show it after the lag", async () => {
      const done = watched(deleting([["b"], ["b"], ["a"]], send));
      await pass(LAG);
      expect(done.outcome).toBeInstanceOf(Gone);
      const still = await thrownIn(deleting([["b"]], send));
      expect(still).toBeInstanceOf(BadResponseError);
      expect(String(still)).toBe("StillListedError: not found; thing b is still listed (DELETE /things -> 404)");
    });

    test("is unknown where the whole list answers 404, unless a person has said that the project is gone", async () => {
      const lists = [new NotFoundError("project not found", { status: 404 })];
      expect(await thrownIn(deleting(lists, send))).toBeInstanceOf(NotKnownError);
      const isDeclaredGone = true;
      const declared = collection(lists, send, { isDeclaredGone }).things;
      expect(await thrownIn(declared.delete({ id: "b" }, PROVEN))).toBeUndefined();
      const shown = collection(lists, send, { isDeclaredGone, isOtherShown: true }).things;
      expect(String(await thrownIn(shown.delete({ id: "b" }, PROVEN)))).toContain("the service shows its project");
    });

    test("is unknown while the list cannot be read", async () => {
      const down = new ServiceError("down", { status: 503 });
      expect(await thrownIn(deleting([down], send))).toBe(down);
    });
  });

  test.each([200, 299, 404, 410])("a %i that says nothing is looked into after the lag", async (status) => {
    const odd = new BadResponseError("a web page came back", { status, method: "DELETE", path: "/things" });
    const send = async (): Promise<never> => Promise.reject(odd);
    expect(await thrownIn(deleting([["a"]], send))).toBeUndefined();
    const unseen = await thrownIn(deleting([new NotFoundError("project gone", { status: 404 })], send));
    expect(unseen).toBeInstanceOf(NotKnownError);
    const still = await thrownIn(deleting([["b"]], send));
    expect(still).toBeInstanceOf(BadResponseError);
    expect(String(still)).toBe(
      `StillListedError: a web page came back; thing b is still listed (DELETE /things -> ${status})`,
    );
    const down = new ServiceError("down", { status: 503 });
    expect(await thrownIn(deleting([down], send))).toBe(down);
  });

  test.each([199, 300, 400])("a %i that says nothing is its error", async (status) => {
    const odd = new BadResponseError("odd", { status });
    expect(await thrownIn(deleting([["a"]], async () => Promise.reject(odd)))).toBe(odd);
  });
});

describe("an observation is believed", () => {
  test("when every read of a lag has repeated it", () => {
    const steady = new SteadyObservation(LAG);
    const seen = (
      [
        [true, 0],
        [true, LAG - 1],
        [true, LAG],
        [true, LAG + 1],
        [false, LAG + 2],
        [true, LAG + 3],
        [true, 2 * LAG + 2],
        [true, 2 * LAG + 3],
      ] as const
    ).map(([holds, at]) => steady.observe(holds, at));
    expect(seen).toEqual([false, false, true, true, false, false, false, true]);
  });

  test("not by one read alone, also without a lag", () => {
    const steady = new SteadyObservation(0);
    expect([steady.observe(true, 5), steady.observe(true, 5), steady.observe(true, 6)]).toEqual([false, false, true]);
  });
});

describe("what a 404 is", () => {
  test("by its status, and by the body of the service", () => {
    expect([404, 410, 400, 405, 500].map(isGoneStatus)).toEqual([true, true, false, false, false]);
    const bodies: unknown[] = [
      { code: "a", message: "b" },
      { code: "", message: "", more: 1 },
      { code: 404, message: "b" },
      { code: "a", message: 5 },
      { code: "a" },
      { message: "b" },
      null,
      undefined,
      "code message",
      [],
    ];
    expect(bodies.map(isErrorBody)).toEqual([true, true, ...bodies.slice(2).map(() => false)]);
  });

  test("of a route that is missing", () => {
    expect(isRouteMissing(new NotFoundError("x", { status: 404 }))).toBe(true);
    expect(isRouteMissing(new SvcError("x", { status: 405 }))).toBe(true);
    expect(isRouteMissing(new BadResponseError("x", { status: 404 }))).toBe(false);
    expect(isRouteMissing({ status: 405 })).toBe(false);
  });

  test("where what was to be read is gone with its container", async () => {
    expect(await undefinedIfNotShown(async () => "there")).toBe("there");
    expect(await undefinedIfNotShown(async () => Promise.reject(new NotFoundError("x")))).toBeUndefined();
    const other = new PermissionError("x", { status: 403 });
    await expect(undefinedIfNotShown(async () => Promise.reject(other))).rejects.toBe(other);
  });
});

describe("a read that several wait for", () => {
  type Events = Parameters<ConstructorParameters<typeof SharedRead<string>>[1]>[0];
  /** A read that ends when the test says so. */
  function shared(delayMs = 0) {
    let events: Events | undefined;
    let end = { arrive: (_: string): void => undefined, fail: (_: Error): void => undefined };
    const read = new SharedRead<string>(
      "/things",
      (given) => {
        events = given;
        return new Promise((arrive, fail) => (end = { arrive, fail }));
      },
      delayMs,
    );
    return {
      read,
      events: () => events as Events,
      arrive: (v: string) => end.arrive(v),
      fail: (e: Error) => end.fail(e),
    };
  }

  test("reports its progress to all of them, and keeps what it has loaded", async () => {
    const { read, events, arrive } = shared();
    const told: string[] = [];
    const first = read.wait({ onProgress: (text) => told.push(`1 ${text}`) });
    const second = read.wait({ onProgress: (text) => told.push(`2 ${text}`) });
    void read.wait({});
    events().onProgress?.("wait");
    expect([told, read.loaded]).toEqual([["1 wait", "2 wait"], undefined]);
    arrive("list");
    expect(await Promise.all([first, second])).toEqual(["list", "list"]);
    expect(read.loaded).toEqual({ value: "list" });
    // A caller that has left is not notified.
    events().onProgress?.("more");
    expect(told).toHaveLength(2);
  });

  test("ends for each at his own deadline, with the last error of the read", async () => {
    const { read, events } = shared();
    const early = watched(read.wait({ deadline: new Deadline(500) }));
    await pass(500);
    expect(String(early.outcome)).toBe("TimeoutError: no response within 0.5 s (GET /things)");
    const late = watched(read.wait({ deadline: new Deadline(1_000) }));
    events().onError?.(new ServiceError("down", { method: "GET", path: "/things", status: 503 }));
    await pass(1_000);
    expect(String(late.outcome)).toBe("ServiceError: down; still failing after 1 s (GET /things -> 503)");
  });

  test("charges nobody while it is held off, also who comes meanwhile", async () => {
    const { read, events, arrive } = shared();
    const [before, during] = [new Deadline(1_000), new Deadline(1_000)];
    const first = read.wait({ deadline: before });
    const release = events().onThrottled(false);
    const second = read.wait({ deadline: during });
    // Who has no deadline is held off as well.
    const third = read.wait({});
    await pass(5_000);
    expect([before.remainingMs(), during.remainingMs()]).toEqual([1_000, 1_000]);
    release();
    const afterwards = new Deadline(1_000);
    void read.wait({ deadline: afterwards });
    await pass(400);
    expect([before, during, afterwards].map((deadline) => deadline.remainingMs())).toEqual([600, 600, 600]);
    const again = events().onThrottled(false);
    arrive("list");
    expect(await Promise.all([first, second, third])).toEqual(["list", "list", "list"]);
    // The clocks of the callers that have left run again, whatever the read returns.
    await pass(100);
    expect([before.remainingMs(), during.remainingMs()]).toEqual([500, 500]);
    again();
  });

  test("has its whole time once it starts, also if it starts later", async () => {
    const { events } = shared(100);
    await pass(101);
    expect(events().deadline.remainingMs()).toBeGreaterThanOrEqual(READ_MS - 1);
  });

  test("says only once what to do about a refused key", async () => {
    const refused = new AuthenticationError(
      "the key is wrong",
      { method: "GET", path: "/things", status: 401 },
      "Advice",
    );
    const { read, fail } = shared();
    const all = [read.wait({}), read.wait({}), read.wait({})].map(watched);
    fail(refused);
    await pass();
    expect(all[0]?.outcome).toBe(refused);
    for (const { outcome } of all.slice(1)) {
      expect(outcome).toBeInstanceOf(AuthenticationError);
      expect(String(outcome)).toBe("AuthenticationError: the key is wrong (GET /things -> 401)");
    }
    const other = shared();
    const down = new ServiceError("down");
    const both = [other.read.wait({}), other.read.wait({})].map(watched);
    other.fail(down);
    await pass();
    expect(both.map(({ outcome }) => outcome)).toEqual([down, down]);
  });

  test("started when it was sent last, and before that at its planned time, or later while it is held back", async () => {
    const began = now();
    const { read, events } = shared(100);
    expect(read.startedAt - began).toBe(100);
    await pass(101);
    expect(read.startedAt - began).toBe(100);
    const release = events().onThrottled(false);
    expect(read.startedAt - began).toBe(101);
    await pass(399);
    expect(read.startedAt - began).toBe(500);
    release();
    await pass(100);
    events().onSend();
    const sentAt = now();
    await pass(50);
    events().onThrottled(false);
    expect(read.startedAt).toBe(sentAt);
  });
});

describe("cached reads", () => {
  const keep = (reads: SharedReads, value: number, since?: number): CachedReads<number> =>
    reads.get("k", (delayMs) => new SharedRead("/k", async () => value, delayMs), since);

  test("a key has a list of its own, and a change drops those that it names", async () => {
    const reads = new SharedReads();
    const read = (key: string, value: number) =>
      reads.get(key, (delayMs) => new SharedRead("/k", async () => value, delayMs)).latest.result;
    await Promise.all([read("a", 1), read("b", 1)]);
    await pass(5);
    const over = reads.invalidating(["a"]);
    await pass(5);
    expect(await Promise.all([read("a", 2), read("b", 2)])).toEqual([2, 1]);
    await pass(5);
    over();
    expect(await Promise.all([read("a", 3), read("b", 3)])).toEqual([3, 1]);
  });

  test("the first one of since the last change is remembered beside the latest", async () => {
    const reads = new SharedReads();
    const { first } = keep(reads, 1);
    await pass(10);
    const later = keep(reads, 2, now());
    expect([later.first, later.latest === first]).toEqual([first, false]);
    await pass(50);
    reads.invalidating(["k"])();
    const after = keep(reads, 3);
    expect([after.first, after.first === first]).toEqual([after.latest, false]);
  });

  test("the first one is none of before a change, also if the latest was planned before the change and is sent after it", async () => {
    const reads = new SharedReads();
    keep(reads, 1);
    const over = reads.invalidating(["k"]);
    await pass(5_000);
    const planned = keep(reads, 2, now());
    over();
    await pass(1);
    const { first, latest } = keep(reads, 3, now());
    expect([first === planned.latest, latest === planned.latest]).toEqual([true, true]);
  });

  test("one that fails does not drop another one that has come since", async () => {
    const reads = new SharedReads();
    let fail: (error: Error) => void = () => undefined;
    const failing = new Promise<number>((_, reject) => (fail = reject));
    failing.catch(() => undefined);
    reads.get("k", () => new SharedRead("/k", async () => failing));
    await pass(10);
    const later = keep(reads, 2, now());
    await pass(50);
    fail(new ServiceError("down"));
    await pass(1);
    expect(keep(reads, 3).latest).toBe(later.latest);
  });
});
