import { dynamicProvider } from "../../src/doors/dynamic/provider";
import type { DynamicProvider } from "../../src/doors/dynamic/types";
import type { LogLine } from "../../src/host/progress";
import type { Lifecycle } from "../../src/host/lifecycle";
import type { Claim } from "../../src/contract/claims";
import type { Properties } from "../../src/contract/hiddenKeys";
import { Session } from "../../src/host/session";
import { type Gone, Granted, requireGranted } from "../../src/client";
import { GONE } from "../support/proven";
import { toyLifecycle, type ToyArgs, type ToyOutputs, URN } from "../support/toy";

const ID = "toy-1";
const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const urn = (name: string): string => URN.replace(/toy$/, name);

/** One process, in which every toy is the same object at the service. */
function oneProcess(changes: Partial<Lifecycle<ToyArgs, ToyOutputs>> = {}) {
  const log: LogLine[] = [];
  const deleted: string[] = [];
  const session = new Session((line) => log.push(line));
  const toy = dynamicProvider(
    toyLifecycle({
      delete: async (_call, { outs }) => {
        deleted.push(outs.label ?? "");
        return GONE;
      },
      ...changes,
    }),
    session,
  );
  const settings: Record<string, string> = { "svc:apiKey": "key", "svc:baseUrl": "http://127.0.0.1:9/api/v2" };
  void toy.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
  const takeOver = (name: string): void => session.memory.objects.setOwner(`toy ${ID}`, urn(name));
  return { toy, deleted, takeOver, said: () => log.map(({ message }) => message) };
}

const inputs = (name: string): Properties => ({ home: "a", label: name, __urn: urn(name) });
const outs = (name: string): Properties => ({ ...inputs(name), host: "h", __args: ["home", "label"], __version: 1 });

/** What the engine calls for a resource that is in the program and in the state. */
async function declared(toy: DynamicProvider, name: string, stored = outs(name)): Promise<void> {
  await toy.check(inputs(name), inputs(name));
  await toy.diff(ID, stored, inputs(name));
}

/** What the engine calls in addition before it deletes and creates it, whoever has planned that. */
const replaced = (toy: DynamicProvider, name: string): Promise<unknown> => toy.check({}, inputs(name));

test("what another resource has created or taken over in this process is not deleted", async () => {
  const { toy, deleted, said } = oneProcess();
  await toy.create(inputs("new"));
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
  expect(said()).toEqual([`ComputeEndpoint ${ID} is not deleted: "new" of this program manages it now`]);
});

test("nor under its own URN, which an alias may have left in the state of the old name", async () => {
  const { toy, deleted } = oneProcess();
  await toy.create(inputs("same"));
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual([]);
});

test("nor if both are in the state: an earlier run took it over and failed before the deletion", async () => {
  const { toy, deleted, said } = oneProcess();
  // Moved by an alias and back without one, the old entry has the URN of the new one in its outs.
  const adopted = { ...outs("same"), adopt: true, __args: ["adopt", "home", "label"] };
  await toy.check({ ...inputs("same"), adopt: true }, { ...inputs("same"), adopt: true });
  await toy.diff(ID, adopted, { ...inputs("same"), adopt: true });
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual([]);
  expect(said()).toEqual([`ComputeEndpoint ${ID} is not deleted: "same" of this program manages it now`]);
  await toy.update(ID, adopted, { ...inputs("same"), adopt: true, label: "more" });
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual([]);
});

test("nor if both have the same outs, as after `adopt` from the start; a replacement deletes its own", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "same");
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual([]);
  // The engine replaces it by itself, so `diff` has not said so.
  await replaced(toy, "same");
  await toy.delete(ID, outs("same"));
  expect(deleted).toEqual(["same"]);
});

test("what was deleted before it was created again is deleted", async () => {
  const { toy, deleted } = oneProcess();
  await toy.delete(ID, outs("same"));
  await toy.create(inputs("same"));
  expect(deleted).toEqual(["same"]);
});

test("an object that one resource gives up for another id is no second declaration of it", async () => {
  const { toy, said } = oneProcess();
  await toy.check(inputs("old"), { ...inputs("old"), region: "there" });
  await toy.diff(ID, outs("old"), { ...inputs("old"), region: "there" });
  await toy.create(inputs("new"));
  await declared(toy, "new");
  expect(said()).toEqual([`ComputeEndpoint ${ID} ("old") is replaced, because "region" changes: it is made anew`]);
});

test("nor is what another resource of the program held before this process began", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "new");
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
});

test("nor what another resource holds although its creation did not finish", async () => {
  const { toy, deleted } = oneProcess({
    create: async (call) => {
      call.checkpoint(ID, { host: "h" });
      throw new Error("not ready");
    },
  });
  await expect(toy.create(inputs("new"))).rejects.toThrow("not ready");
  await toy.delete(ID, outs("old"));
  expect(deleted).toEqual([]);
});

test("a resource's own object is deleted: replaced, renamed by an alias and replaced, or alone", async () => {
  const { toy, deleted } = oneProcess();
  await toy.delete(ID, outs("alone"));
  await declared(toy, "same");
  await replaced(toy, "same");
  await toy.delete(ID, outs("same"));
  // By an alias the state keeps the old URN until something changes.
  await declared(toy, "later", outs("earlier"));
  await replaced(toy, "later");
  await toy.delete(ID, outs("earlier"));
  expect(deleted).toEqual(["alone", "same", "earlier"]);
});

test("an update carries the object over to the URN of now", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "later", outs("earlier"));
  await toy.update(ID, outs("earlier"), inputs("later"));
  await toy.delete(ID, outs("earlier"));
  expect(deleted).toEqual([]);
});

test("an object is not changed once another resource has taken it over, also while the change was about to be sent", async () => {
  const sent: string[] = [];
  const { toy, takeOver } = oneProcess({
    update: async (call, _stored, { label = "" }) => {
      if (label === "late") takeOver("new");
      call.sending(["label"]);
      sent.push(label);
      return { host: "h" };
    },
  });
  await toy.update(ID, outs("first"), inputs("first"));
  const message = /^Could not update .*: "new" of this program took over toy toy-1 in the same run/;
  await expect(toy.update(ID, outs("late"), inputs("late"))).rejects.toThrow(message);
  await expect(toy.update(ID, outs("later"), inputs("later"))).rejects.toThrow(message);
  expect(sent).toEqual(["first"]);
});

test("one object in the state of two resources is an error of the plan, and neither takes it from the other", async () => {
  const { toy, deleted } = oneProcess();
  await declared(toy, "one");
  await expect(declared(toy, "two")).rejects.toThrow(
    `ComputeEndpoint ${ID} is managed by both "two" and "one", which would undo each other's changes`,
  );
  await toy.delete(ID, outs("two"));
  expect(deleted).toEqual([]);
});

test("a refresh and a destroy, which run no program, hold nothing", async () => {
  const { toy, deleted } = oneProcess();
  await toy.diff(ID, outs("one"), inputs("one"));
  await toy.delete(ID, outs("two"));
  expect(deleted).toEqual(["two"]);
});

describe("a resource that manages several objects", () => {
  const letters = (label = ""): string[] => [...label].map((letter) => `letter ${letter}`);

  test("is told of each whether another one has it, and leaves those alone", async () => {
    const kept: string[][] = [];
    const { toy } = oneProcess({
      objects: (_id, { label }) => letters(label),
      delete: async ({ run, mayDelete }, { outs: { label } }) => {
        requireGranted(mayDelete());
        kept.push(letters(label).filter((object) => !(run.mayDelete(object) instanceof Granted)));
        return GONE;
      },
    });
    await declared(toy, "abc");
    await toy.delete("toy-2", outs("bcd"));
    expect(kept).toEqual([["letter b", "letter c"]]);
  });

  test("deletes nothing when others have them all", async () => {
    const { toy, deleted, said } = oneProcess({ objects: (_id, { label }) => letters(label) });
    await declared(toy, "abc");
    await toy.delete("toy-2", outs("bc"));
    expect(deleted).toEqual([]);
    expect(said()).toEqual(['ComputeEndpoint toy-2 is not deleted: "abc" of this program manages it now']);
  });
});

describe("what the program declares", () => {
  const claim = (changes: Partial<Claim> = {}) =>
    oneProcess({
      declares: ({ home }) => (home === undefined ? [] : [{ object: `home ${home}`, what: '"home"', ...changes }]),
    });
  const check = async (toy: DynamicProvider, name: string, news: Properties = inputs(name)) =>
    (await toy.check({}, news)).failures;

  test("twice is a failure of the second one, which names the first and no value", async () => {
    const { toy } = claim();
    expect(await check(toy, "one")).toEqual([]);
    expect(await check(toy, "two")).toEqual([
      { property: "", reason: '"one" of this program declares "home" too. Declare it once' },
    ]);
  });

  test("is what was declared last: one resource that is checked again is one", async () => {
    const { toy } = claim();
    await check(toy, "one");
    expect(await check(toy, "one")).toEqual([]);
    await check(toy, "one", { ...inputs("one"), home: "elsewhere" });
    expect(await check(toy, "two")).toEqual([]);
  });

  test("is not known of a value that is not, or of a resource without a URN", async () => {
    const { toy } = claim();
    await check(toy, "one");
    expect(await check(toy, "two", { ...inputs("two"), home: UNKNOWN })).toEqual([]);
    expect(await check(toy, "two", { home: "a" })).toEqual([]);
  });

  test("may be shared by those that say so, but not with one that declares it alone", async () => {
    const shared = { object: "whitelist", what: "the whitelist", shared: true };
    const { toy } = oneProcess({ declares: ({ label }) => [{ ...shared, shared: label !== "all" }] });
    expect(await check(toy, "one")).toEqual([]);
    expect(await check(toy, "two")).toEqual([]);
    expect(await check(toy, "all")).toHaveLength(1);
  });
});

describe("what a refresh of this process has found in the state", () => {
  const claim: Partial<Lifecycle<ToyArgs, ToyOutputs>> = {
    declares: ({ home }) => (home === undefined ? [] : [{ object: `home ${home}`, what: '"home"' }]),
  };
  const warning =
    '"new" declares an object that the stack holds as "old". If this plan deletes "old", the resource was renamed or moved: ' +
    'add aliases: [{ name: "old" }] to the options of "new", and nothing is created or deleted';

  test("and the program declares under another name, the plan says with the alias to give, once", async () => {
    const { toy, said } = oneProcess(claim);
    await toy.read(ID, outs("old"));
    await toy.check({}, inputs("new"));
    await toy.check({}, inputs("new"));
    expect(said()).toEqual([warning]);
  });

  test("is compared as the service shows it", async () => {
    const { toy, said } = oneProcess({
      ...claim,
      read: async () => ({ args: { home: "elsewhere" }, outputs: { host: "h" }, ready: true }),
    });
    await toy.read(ID, outs("old"));
    await toy.check({}, inputs("new"));
    expect(said()).toEqual([]);
    await toy.check({}, { ...inputs("new"), home: "elsewhere" });
    expect(said()).toEqual([warning]);
  });

  test.each([
    ["what the state holds under this name", inputs("new"), outs("old"), {}],
    ["what is only looked up", {}, { ...outs("old"), __args: undefined }, {}],
    ["what is gone", {}, outs("old"), { read: async () => GONE }],
    ["what several may declare", {}, outs("old"), { declares: () => [{ object: "list", what: "it", shared: true }] }],
  ])("nothing is reported of %s", async (_, olds, read, changes: Partial<Lifecycle<ToyArgs, ToyOutputs>>) => {
    const { toy, said } = oneProcess({ ...claim, ...changes });
    await toy.read(ID, read);
    await toy.check(olds, inputs("new"));
    expect(said()).toEqual([]);
  });
});

describe("while an object is being deleted", () => {
  const OBJECT = `toy ${ID}`;
  /** A deletion that the test ends, in parallel with a creation of another resource that adopts. */
  const leaving = (fails: boolean) => {
    let end: () => void = () => undefined;
    const seen: unknown[] = [];
    const process = oneProcess({
      delete: async () => {
        await new Promise<void>((resolve) => (end = resolve));
        if (fails) throw new Error("refused");
        return GONE;
      },
      create: async ({ run }) => {
        seen.push(run.release(OBJECT) === undefined ? "free" : "leaving");
        seen.push((await run.waitUntilFree(OBJECT)) ? "deleted" : "still there");
        run.takeOver(OBJECT);
        return { id: ID, outputs: { host: "h" } };
      },
    });
    return { ...process, seen, end: () => end() };
  };

  test.each([
    [false, "deleted"],
    [true, "still there"],
  ])("another resource waits for it to end (it fails: %s), and finds it %s", async (fails, found) => {
    const { toy, seen, end } = leaving(fails);
    const deletion = toy.delete(ID, outs("old")).then(
      () => "ended",
      () => "failed",
    );
    const creation = toy.create(inputs("new"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(["leaving"]);
    end();
    expect(await deletion).toBe(fails ? "failed" : "ended");
    await creation;
    expect(seen).toEqual(["leaving", found]);
  });
});

describe("what begins to leave", () => {
  test("is noticed by who waits for that, however short it takes", async () => {
    const seen: boolean[] = [];
    const { toy } = oneProcess({
      create: async ({ run }) => {
        seen.push(await run.leavesSoon(`toy ${ID}`));
        return { id: "toy-2", outputs: { host: "h" } };
      },
    });
    const creation = toy.create(inputs("new"));
    await new Promise((resolve) => setImmediate(resolve));
    await toy.delete(ID, outs("old"));
    await creation;
    expect(seen).toEqual([true]);
  });

  test("is not waited for beyond the deadline, and the error names it", async () => {
    let end: () => void = () => undefined;
    const { toy } = oneProcess({
      delete: () => new Promise<Gone>((resolve) => (end = () => resolve(GONE))),
      create: async ({ run }) => ({ id: ID, outputs: { host: String(await run.waitUntilFree(`toy ${ID}`)) } }),
    });
    const deletion = toy.delete(ID, outs("old"));
    const creation = toy.create({ ...inputs("new"), __timeouts: { create: 0.1 } });
    await expect(creation).rejects.toThrow(
      `toy ${ID} was still being deleted after 0.1 s. To wait longer, raise "customTimeouts.create".`,
    );
    end();
    await deletion;
  });

  test("is over when both of two deletions have ended, also when the second one fails", async () => {
    const ends: ((fails: boolean) => void)[] = [];
    const { toy } = oneProcess({
      delete: () =>
        new Promise<Gone>((resolve, reject) => {
          ends.push((fails) => (fails ? reject(new Error("refused")) : resolve(GONE)));
        }),
      create: async ({ run }) => ({ id: ID, outputs: { host: String(await run.waitUntilFree(`toy ${ID}`)) } }),
    });
    const deletions = [toy.delete(ID, outs("old")), toy.delete(ID, outs("older"))];
    await new Promise((resolve) => setImmediate(resolve));
    ends[0]?.(false);
    await deletions[0];
    ends[1]?.(true);
    await expect(deletions[1]).rejects.toThrow("refused");
    expect((await toy.create(inputs("new"))).outs).toMatchObject({ host: "true" });
  });
});

describe("what is taken over", () => {
  const taking = (fails = false) =>
    oneProcess({
      create: async ({ run }) => {
        run.takeOver(`toy ${ID}`);
        if (fails) throw new Error("refused");
        return { id: ID, outputs: { host: "h" } };
      },
    });

  test("is nobody else's of this program", async () => {
    const { toy } = taking();
    await declared(toy, "holder");
    const words = `toy ${ID} is already managed by "holder" of this program. Declare it once`;
    await expect(toy.create(inputs("new"))).rejects.toThrow(words);
  });

  test("is taken by one of two", async () => {
    const { toy } = taking();
    const outcomes = await Promise.allSettled([toy.create(inputs("one")), toy.create(inputs("two"))]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("is not deleted by who had it, nor if taking it over failed: then nobody knows what the program declares", async () => {
    const taken = taking();
    await taken.toy.create(inputs("new"));
    await taken.toy.delete(ID, outs("old"));
    expect(taken.deleted).toEqual([]);
    const refused = taking(true);
    await expect(refused.toy.create(inputs("new"))).rejects.toThrow("refused");
    await expect(refused.toy.delete(ID, outs("old"))).rejects.toThrow(
      'it is not known whether the program still declares it: "new" has failed in this run',
    );
    expect(refused.deleted).toEqual([]);
  });

  test("is not deleted by a deletion under way, which asks right before its request", async () => {
    let begin: () => void = () => undefined;
    const { toy, deleted, said } = oneProcess({
      delete: async ({ mayDelete }, { outs: { label } }) => {
        await new Promise<void>((resolve) => (begin = resolve));
        requireGranted(mayDelete());
        deleted.push(label ?? "");
        return GONE;
      },
    });
    const deletion = toy.delete(ID, outs("old"));
    await declared(toy, "new");
    begin();
    await deletion;
    expect(deleted).toEqual([]);
    expect(said()).toEqual([`ComputeEndpoint ${ID} is not deleted: "new" of this program manages it now`]);
  });
});
