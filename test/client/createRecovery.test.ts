import { z } from "zod";
import {
  BadRequestError,
  type CreationRecovery,
  Deadline,
  FateUnknownError,
  PermissionError,
  ServiceError,
} from "../../src/client";
import type { Request } from "../../src/client/http/request";
import type { Requests } from "../../src/client/http/requests";
import { Creator, readEffect } from "../../src/client/createRecovery";
import { fakeClock, pass } from "../support/fakeClock";

// The search alone, what is taken for the object of a lost POST: with a service that does what the test says, on a clock that only the tests move.
fakeClock();

const LAG = 1_000;
const AT = Date.parse("2026-01-01T00:00:10Z");
const SCHEMA = z.looseObject({ id: z.string() });
const FACTS = { method: "POST", path: "/things", status: 502 };
const LOST = "the service failed; the request may have taken effect";

interface Item {
  id: string;
  name?: string | undefined;
  created_at?: string;
}

/** What happens to a POST: `make` adds the object, and what it returns or throws is the response. */
type Behaviour = (make: (more?: Partial<Item>) => Item, body: Item) => Promise<Item | undefined> | Item | undefined;

const answered: Behaviour = (make) => make();
const lost = (): FateUnknownError => new FateUnknownError(LOST, FACTS);
const lostAndMade: Behaviour = (make) => {
  make();
  throw lost();
};
const lostAndNotMade: Behaviour = () => {
  throw lost();
};

interface More extends Pick<Request, "onProgress"> {
  deadline?: Deadline;
  /** Null: the route answers without a body. */
  schema?: typeof SCHEMA | null;
  key?: string;
  thing?: string;
  project?: string;
}

function service(listed: Item[] = [], serviceNow = AT) {
  const sent: Item[] = [];
  let lists = 0;
  let lookFails: Error | undefined;
  const make =
    (body: Item) =>
    (more: Partial<Item> = {}): Item => {
      const item = { ...body, id: `new-${listed.length}`, ...more };
      listed.push(item);
      return item;
    };
  let behaviour: Behaviour = answered;
  const requests = {
    send: async ({ beforeAttempt, body }: Request) => {
      await beforeAttempt?.();
      sent.push(body as Item);
      const value = await behaviour(make(body as Item), body as Item);
      return { value, repeated: false };
    },
  };
  const collection = {
    list: async ({ since = Number.NaN }) => {
      // Requested again.
      expect(since).toBe(performance.now());
      lists += 1;
      return [...listed];
    },
    listAfterLag: async (_options: unknown, from: number) => {
      await new Promise((resolve) => setTimeout(resolve, LAG - (performance.now() - from)));
      if (lookFails !== undefined) throw lookFails;
      return [...listed];
    },
  };
  const creator = new Creator(requests as unknown as Pick<Requests, "send">, { serviceNow: () => serviceNow });
  const create = (
    body: Partial<Item>,
    how: Partial<CreationRecovery<Item>> = {},
    { deadline, onProgress, schema = SCHEMA, key = "", thing = "the thing", project = "p" }: More = {},
  ) => {
    const params = { project_id: project };
    const isOurs = ({ name }: Item): boolean => body.name === undefined || name === body.name;
    return creator.create({
      kind: {
        thing,
        ...(schema && { response: schema }),
        idOf: ({ id }: Item) => id,
        idOfResponse: ({ id }: { id: string }) => id,
      },
      request: { method: "POST", template: "/things", params, body, deadline, onProgress } as Request,
      lists: collection,
      similarityKey: key,
      recovery: {
        isOurs,
        isCandidate: () => true,
        describe: ({ id }) => `thing ${id}`,
        onFound: () => undefined,
        ...how,
      },
    });
  };
  return {
    create,
    listed,
    sent,
    lists: () => lists,
    does: (next: Behaviour) => (behaviour = next),
    lookFails: (error: Error) => (lookFails = error),
  };
}

/** The value or error of a promise, with the time that it takes passing. */
async function endOf(work: Promise<unknown>, ms = 10 * LAG): Promise<unknown> {
  const end = work.catch((error: unknown) => error);
  await pass(ms);
  return end;
}
const wordsOf = async (work: Promise<unknown>): Promise<string> => String(await endOf(work));

describe("an answer", () => {
  test("that names a new object is the outcome", async () => {
    const given = service([{ id: "old" }]);
    expect(await endOf(given.create({ name: "a" }))).toEqual({ response: { id: "new-1", name: "a" } });
    expect(given.lists()).toBe(1);
  });

  test("about an object that existed before does not count: the object is searched like a lost one", async () => {
    const given = service([{ id: "old", name: "a" }]);
    given.does(() => ({ id: "old" }));
    expect(await wordsOf(given.create({ name: "a" }))).toMatch(
      /^FateUnknownError: the response names old, which existed before; a later check did not find the thing/,
    );
    given.does((make) => {
      make();
      return { id: "old" };
    });
    expect(await endOf(given.create({ name: "a" }))).toEqual({ found: given.listed[1], wasLost: true });
  });

  test("about an object of another creation does not count either", async () => {
    const given = service();
    await endOf(given.create({ name: "a" }));
    given.listed.splice(0);
    given.does(() => ({ id: "new-0" }));
    expect(await wordsOf(given.create({ name: "a" }))).toContain("the response names new-0, which existed before");
  });

  test("without a body is the outcome of a route that has none", async () => {
    const given = service();
    given.does(() => undefined);
    expect(await endOf(given.create({}, {}, { schema: null }))).toEqual({ response: undefined });
  });

  test("without a body, where the route has one, is looked for, by what a response would have shown", async () => {
    const given = service();
    given.does((make) => {
      make({ name: "another" });
      return undefined;
    });
    expect(await endOf(given.create({ name: "a" }, { isOursIfAccepted: () => true }))).toEqual({
      found: given.listed[0],
      wasLost: false,
    });
    expect(await wordsOf(given.create({ name: "a" }))).toMatch(
      /^FateUnknownError: the creation of the thing was answered with an empty response; these new objects may or may not be the result: thing new-1/,
    );
    given.does(() => undefined);
    expect(await wordsOf(given.create({ name: "a" }))).toContain("with an empty response; a later check did not");
  });

  test("that refuses it is an error as it is, and the next one is sent", async () => {
    const given = service();
    const refused = new BadRequestError("no", { status: 400 });
    given.does(() => {
      throw refused;
    });
    expect(await endOf(given.create({}))).toBe(refused);
    given.does(answered);
    expect(await endOf(given.create({}))).toMatchObject({ response: { id: "new-0" } });
  });
});

test("the list that is taken right before the request can end the creation", async () => {
  const given = service([{ id: "old" }]);
  const seen: Item[][] = [];
  const reason = new Error("it is there already");
  const checkListed = (listed: readonly Item[]): void => {
    seen.push([...listed]);
    throw reason;
  };
  expect(await endOf(given.create({}, { checkListed }))).toBe(reason);
  expect([seen, given.sent]).toEqual([[[{ id: "old" }]], []]);
});

describe("a lost answer", () => {
  test("is found after the lag, once, and distinguished from what existed before", async () => {
    const given = service([{ id: "old", name: "a" }]);
    given.does(lostAndMade);
    const work = given.create({ name: "a" });
    const early = await endOf(work, LAG);
    expect(early).toEqual({ found: given.listed[1], wasLost: true });
    // The next one claims none of these.
    given.does(lostAndNotMade);
    expect(await wordsOf(given.create({ name: "a" }))).toContain("a later check did not find the thing");
  });

  test("that made nothing says so, with the way on", async () => {
    const given = service();
    given.does(lostAndNotMade);
    expect(await wordsOf(given.create({}))).toBe(
      `FateUnknownError: ${LOST}; a later check did not find the thing (POST /things -> 502). ` +
        "Run pulumi up again: if it exists by then, the error names it",
    );
    expect(await wordsOf(given.create({}, { adviceIfLate: "Ask the service" }))).toMatch(/502\)\. Ask the service$/);
  });

  test("is not taken for what nobody proves, and all candidates are named", async () => {
    const given = service();
    given.does((make) => {
      make({ name: "b" });
      make({ name: "c", created_at: "2026-01-01T00:00:00Z" });
      make({ name: "no candidate" });
      throw lost();
    });
    const isCandidate = ({ name }: Item): boolean => name !== "no candidate";
    expect(await wordsOf(given.create({ name: "a" }, { isCandidate }))).toBe(
      `FateUnknownError: ${LOST}; these new objects may or may not be the result: thing new-0; ` +
        "thing new-1, which is older than this request (POST /things -> 502). " +
        "If none of them is yours, run pulumi up again",
    );
    const advice = (items: readonly Item[]): string => `Delete ${items.map(({ id }) => id).join(" and ")}`;
    expect(await wordsOf(given.create({ name: "a" }, { isCandidate, advice }))).toMatch(
      /\. Delete new-3 and new-4, run pulumi up again$/,
    );
    const ours = { isCandidate: () => false, isOurs: () => true };
    expect(await wordsOf(given.create({ name: "a" }, ours))).toContain("a later check did not find ");
  });

  test("is not taken for one of two that may be it", async () => {
    const given = service();
    given.does((make) => {
      make();
      make();
      throw lost();
    });
    expect(await wordsOf(given.create({ name: "a" }))).toContain(
      "may or may not be the result: thing new-0; thing new-1",
    );
  });

  test.each([
    ["2026-01-01T00:00:08Z", AT, false],
    ["2026-01-01T00:00:09Z", AT, true],
    ["2026-01-01T00:00:11Z", AT, true],
    [undefined, AT, true],
    ["2020-01-01T00:00:00Z", Number.NaN, true],
  ])("is taken for what was made at %s, when it left at %d: %s", async (created_at, serviceNow, isFound) => {
    const given = service([], serviceNow);
    given.does((make) => {
      make(created_at === undefined ? {} : { created_at });
      throw lost();
    });
    const outcome = await endOf(given.create({}));
    if (isFound) expect(outcome).toMatchObject({ wasLost: true });
    else expect(String(outcome)).toContain("thing new-0, which is older than this request");
  });

  test("that cannot be looked for says why", async () => {
    const given = service();
    given.does(lostAndMade);
    given.lookFails(new PermissionError("not allowed", { status: 403 }));
    expect(await wordsOf(given.create({}))).toContain(`${LOST}; checking for the thing failed: not allowed (POST`);
    const defect = new TypeError("x");
    given.lookFails(defect);
    expect(await endOf(given.create({}))).toBe(defect);
  });
});

describe("creations that look alike", () => {
  test("wait while a lost one is looked for, at nobody's expense; others do not", async () => {
    const given = service();
    given.does(lostAndMade);
    const first = given.create({ name: "a" });
    await pass();
    given.does(answered);
    const deadline = new Deadline(500);
    const told: string[] = [];
    const second = given.create({ name: "a" }, {}, { deadline, onProgress: (text: string) => told.push(text) });
    const others = [{ key: "k" }, { thing: "the other" }, { project: "q" }].map((more) =>
      given.create({ name: "b" }, {}, more),
    );
    await pass(LAG - 1);
    expect(given.sent).toHaveLength(4);
    expect(told).toEqual(["waiting: checking whether a creation with a lost response took effect"]);
    expect(deadline.remainingMs()).toBe(500);
    await pass(1);
    expect(given.sent).toHaveLength(5);
    await pass(100);
    expect(deadline.remainingMs()).toBe(400);
    expect(await Promise.all([first, second, ...others])).toHaveLength(5);
    // They are free again.
    expect(await endOf(given.create({}))).toMatchObject({ response: {} });
  });

  test("wait for a lost one also where nobody is told", async () => {
    const given = service();
    given.does(lostAndMade);
    const first = given.create({ name: "a" });
    await pass();
    given.does(answered);
    const second = given.create({ name: "a" });
    expect(await endOf(Promise.all([first, second]))).toMatchObject([{ found: {} }, { response: {} }]);
  });

  test("are looked for when all that are under way have ended, whose time is not that of the lost one", async () => {
    const given = service();
    given.does(async (make) => {
      make();
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return given.listed[0];
    });
    const slow = given.create({ name: "a" });
    await pass(10);
    given.does(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new BadRequestError("no", { status: 400 });
    });
    const refused = given.create({ name: "a" }).catch(String);
    await pass();
    given.does(lostAndMade);
    const deadline = new Deadline(2_000);
    const gone = given.create({ name: "a" }, {}, { deadline });
    await pass(4_990 + LAG - 1);
    expect(deadline.remainingMs()).toBe(2_000 - LAG + 1);
    await pass(1);
    expect(await slow).toEqual({ response: given.listed[0] });
    expect(await refused).toContain("BadRequestError");
    expect(await gone).toEqual({ found: given.listed[1], wasLost: true });
  });

  test("share what has appeared, as many as were lost, one each", async () => {
    const given = service();
    given.does(lostAndMade);
    const outcomes = await endOf(Promise.all([given.create({}), given.create({}), given.create({})]));
    expect((outcomes as { found: Item }[]).map(({ found }) => found.id).sort()).toEqual(["new-0", "new-1", "new-2"]);
    const more = service();
    more.does((make) => {
      if (more.listed.length === 0) make();
      make();
      throw lost();
    });
    const ends = await Promise.all([wordsOf(more.create({})), wordsOf(more.create({}))]);
    for (const end of ends)
      expect(end).toContain("may or may not be the result: thing new-0; thing new-1; thing new-2");
  });

  test("one that may be less objects than another one comes first, whichever was lost first", async () => {
    for (const order of [
      ["a", undefined],
      [undefined, "a"],
    ]) {
      const given = service();
      given.does(lostAndMade);
      const [first, second] = (await endOf(Promise.all(order.map((name) => given.create({ name }))))) as {
        found: Item;
      }[];
      expect([first?.found.name, second?.found.name]).toEqual(order);
    }
    // One of them was made: it shows which of the two it is.
    for (const made of ["a", undefined]) {
      for (const order of [
        ["a", undefined],
        [undefined, "a"],
      ]) {
        const given = service();
        given.does((make, { name }) => {
          if (name === made) make();
          throw lost();
        });
        const ends = await Promise.all(order.map(async (name) => endOf(given.create({ name }))));
        expect(ends.map((end) => !(end instanceof Error))).toEqual(order.map((name) => name === made));
      }
    }
  });
});

describe("of lost creations that sent different things", () => {
  const any = { isOurs: (): boolean => true };

  test("the one with the narrowest choice comes first", async () => {
    const given = service();
    given.does(lostAndMade);
    const ends = await endOf(Promise.all([given.create({ id: "a long body" }, any), given.create({ name: "b" })]));
    expect((ends as { found: Item }[]).map(({ found }) => found.id)).toEqual(["new-0", "new-1"]);
  });

  test("each counts its own: two objects that may be one's are not shared with one that fits neither", async () => {
    const given = service();
    given.does((make, { name }) => {
      if (name === "a") {
        make();
        make();
      }
      throw lost();
    });
    const ends = await Promise.all([wordsOf(given.create({ name: "a" })), wordsOf(given.create({ name: "b" }))]);
    expect(ends[0]).toContain("may or may not be the result: thing new-0; thing new-1");
  });

  test("what one has found is not named to another", async () => {
    const given = service();
    given.does((make, { name }) => {
      if (name === "a") make();
      throw lost();
    });
    const ends = await Promise.all([endOf(given.create({ name: "a" })), wordsOf(given.create({ name: "b" }))]);
    expect(ends[0]).toMatchObject({ found: { id: "new-0" } });
    expect(ends[1]).toContain("a later check did not find ");
  });
});

test("what an accepted change led to has an unknown fate where it cannot be read", async () => {
  expect(await readEffect(async () => "shown")).toBe("shown");
  const facts = { method: "GET", path: "/things", status: 503 };
  const error = await endOf(readEffect(async () => Promise.reject(new ServiceError("down", facts))));
  expect(error).toBeInstanceOf(FateUnknownError);
  expect(String(error)).toBe(
    "FateUnknownError: the service accepted the request, but reading the result failed: down (503)",
  );
  for (const other of [lost(), new TypeError("x")])
    expect(await endOf(readEffect(async () => Promise.reject(other)))).toBe(other);
});
