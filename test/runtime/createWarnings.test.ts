import { hosted, URN, type ToyArgs } from "../support/toy";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

describe("warnings about what the program declares", () => {
  test("show on the resource's own line at check, once", async () => {
    const { toy, log } = hosted({ createWarnings: () => ["think twice"] });
    await toy.check({}, { home: "a", __urn: URN });
    await toy.check({}, { home: "a", __urn: URN });
    expect(log).toEqual([{ severity: "warning", message: "think twice", urn: URN, ephemeral: false }]);
  });

  test("stay away without a URN, of which nothing is known", async () => {
    const { toy, log } = hosted({ createWarnings: () => ["think twice"] });
    await toy.check({}, { home: "a" });
    expect(log).toEqual([]);
  });

  test("are told whether the resource is new, and the arguments that are known and well formed", async () => {
    const seen: [boolean, Partial<ToyArgs>][] = [];
    const { toy } = hosted({ createWarnings: ({ isNew, args }) => (seen.push([isNew, args]), []) });
    await toy.check({}, { home: "a", size: UNKNOWN, secret: "short", __urn: URN });
    await toy.check({ home: "a" }, { home: "b", __urn: URN });
    expect(seen).toEqual([
      [true, { home: "a" }],
      [false, { home: "b" }],
    ]);
  });

  test("tell a replacement, for which the engine checks again without old inputs, from what was never there", async () => {
    const seen: [boolean, boolean][] = [];
    const { toy } = hosted({ createWarnings: ({ isNew, isReplacement }) => (seen.push([isNew, isReplacement]), []) });
    await toy.check({ home: "a" }, { home: "b", __urn: URN });
    await toy.check({}, { home: "b", __urn: URN });
    await toy.check({}, { home: "b", __urn: `${URN}-other` });
    await toy.check({}, { home: "b", __urn: `${URN}-other` });
    expect(seen).toEqual([
      [false, false],
      [true, true],
      [true, false],
      [true, false],
    ]);
  });
});

test("what a creation may do to an existing object is reported by a plan that has not read it, and not by an update", async () => {
  const { toy, log } = hosted({ createEffects: () => ["it is overwritten"] });
  await toy.check({}, { home: "a", __urn: URN });
  expect(log).toEqual([]);
  await toy.check({}, { home: "a", __urn: URN, __preview: true });
  expect(log.map(({ message }) => message)).toEqual(["it is overwritten"]);
});

test("rules are told what is given, so that a value that is not known yet is no missing one", async () => {
  const seen: string[][] = [];
  const { toy } = hosted({ rules: (_args, given) => (seen.push([...given].sort()), []) });
  await toy.check({}, { home: "a", size: UNKNOWN, secret: "short", label: null, __urn: URN });
  expect(seen).toEqual([["home", "secret", "size"]]);
});
