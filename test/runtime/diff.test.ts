import type { Properties } from "../../src/contract/hiddenKeys";
import { hosted, toyLifecycle, URN } from "../support/toy";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const OLDS = { home: "a", size: 1, host: "h", label: "seen", __args: ["home", "size"], __version: 1, __provider: "p" };

const diff = (news: object, olds: object = OLDS) => hosted().toy.diff("toy-1", { ...olds }, { ...news });

describe("diff", () => {
  test("equal arguments are no change, whatever the hidden keys say", async () => {
    expect(await diff({ home: "a", size: 1, __urn: URN, __timeouts: {} })).toEqual({
      changes: false,
      replaces: [],
      deleteBeforeReplace: false,
    });
  });

  test("a change leaves the verdict to the engine, which then knows the changed keys", async () => {
    const result = await diff({ home: "a", size: 2 });
    expect(result).toEqual({ replaces: [], deleteBeforeReplace: false });
    expect(result.changes).toBeUndefined();
  });

  test.each([
    ["its address in the stack, after an alias", { __urn: `${URN}-before` }, {}, true],
    ["that address, which an import does not bring", {}, {}, true],
    ["its timeouts", { __urn: URN }, { __timeouts: { create: 9 } }, true],
    ["nothing hidden", { __urn: URN }, {}, undefined],
    [
      "its address, and replaceOnChanges needs the keys",
      { __urn: `${URN}-before` },
      { __replaceOnChanges: ["size"] },
      undefined,
    ],
  ])(
    "beside a change of %s the engine compares nothing, since it would show hidden keys",
    async (_, was, is, changes) => {
      const { toy } = hosted();
      const news = { home: "a", size: 2, __provider: "p", __urn: URN, ...is };
      const { inputs = {} } = await toy.check({ home: "a", size: 1, __provider: "p", ...was }, news);
      expect(inputs).not.toHaveProperty("__replaceOnChanges");
      expect((await toy.diff("toy-1", OLDS, inputs)).changes).toBe(changes);
    },
  );

  test("outs without the pointer of the program are a change, and replace nothing", async () => {
    const news = { home: "a", size: 1, __provider: "p" };
    expect((await diff(news)).changes).toBe(false);
    const { __provider: _pointer, ...olds } = OLDS;
    expect(await diff(news, olds)).toEqual({ changes: true, replaces: [], deleteBeforeReplace: false });
  });

  test("an argument that is left out is no difference, whatever stands at the service", async () => {
    expect((await diff({ home: "a", size: 1 }, { ...OLDS, label: "other" })).changes).toBe(false);
  });

  test("an argument taken out of the program is a change, and a replacing one does not replace", async () => {
    const olds = { ...OLDS, region: "here", __args: ["home", "size", "region"] };
    expect(await diff({ home: "a" }, olds)).toEqual({ replaces: [], deleteBeforeReplace: false });
  });

  test("taking out a value other than the assumed one is a change of value", async () => {
    const olds = { ...OLDS, region: "there", __args: ["home", "size", "region"] };
    expect((await diff({ home: "a", size: 1 }, olds)).replaces).toEqual(["region"]);
  });

  test("an argument that is newly given with the value that stands is managed from then on, and replaces nothing", async () => {
    const olds = { ...OLDS, region: "there" };
    expect(await diff({ home: "a", size: 1, region: "there" }, olds)).toEqual({
      replaces: [],
      deleteBeforeReplace: false,
    });
  });

  test("a replacing argument replaces", async () => {
    expect((await diff({ home: "b", size: 1 })).replaces).toEqual(["home"]);
  });

  test("an unknown container replaces; another unknown replacing argument does not", async () => {
    const olds = { ...OLDS, region: "there", __args: ["home", "size", "region"] };
    expect((await diff({ home: UNKNOWN, size: 1, region: "there" }, olds)).replaces).toEqual(["home"]);
    expect((await diff({ home: "a", size: 1, region: UNKNOWN }, olds)).replaces).toEqual([]);
  });

  test("an argument for creation only is never a change", async () => {
    expect((await diff({ home: "a", size: 1, adopt: true })).changes).toBe(false);
  });

  test("an unfinished object is changed although nothing differs, so that update looks after it", async () => {
    expect((await diff({ home: "a", size: 1 }, { ...OLDS, __unfinished: "not ready" })).changes).toBe(true);
  });

  test("a difference that stands in the outs only is said to the engine, which cannot see it", async () => {
    const { toy } = hosted();
    const news = { home: "a", size: 1, __urn: URN };
    await toy.check({ home: "a", size: 1 }, news);
    expect((await toy.diff("toy-1", { ...OLDS, size: 3 }, news)).changes).toBe(true);
  });
});

describe("warnings of a plan", () => {
  const warned = (changes: Parameters<typeof hosted>[0] = {}) =>
    hosted({ warnings: () => ["mind the gap"], ...changes });
  const news = { home: "a", size: 2, __urn: URN };

  test("show on the resource's own line, once for each text", async () => {
    const { toy, log } = warned();
    await toy.check({ home: "a", size: 1 }, news);
    await toy.diff("toy-1", OLDS, news);
    await toy.diff("toy-1", OLDS, news);
    expect(log).toEqual([{ severity: "warning", message: "mind the gap", urn: URN, ephemeral: false }]);
  });

  test("stay away in a refresh, where check never runs", async () => {
    const { toy, log } = warned();
    await toy.diff("toy-1", OLDS, news);
    expect(log).toEqual([]);
  });

  test("name an argument that is no longer managed", async () => {
    const { toy, log } = hosted();
    await toy.check({ home: "a", size: 1 }, { home: "a", __urn: URN });
    await toy.diff("toy-1", OLDS, { home: "a", __urn: URN });
    expect(log.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^"size" of ComputeEndpoint toy-1 \("toy"\) is no longer managed/),
    ]);
  });
});

describe("what a plan says by itself", () => {
  const says = (olds: object, news: Properties, args: object = {}): readonly string[] =>
    hosted({ args: { ...toyLifecycle().args, ...args } }).toy.repair("toy-1", { ...OLDS, ...olds }, news)?.messages ??
    [];

  test("a replacing argument that is not known yet may replace, and one that is not given cannot", () => {
    const olds = { region: "there", __args: ["home", "size", "region"] };
    expect(says(olds, { home: "a", size: 1, region: UNKNOWN })).toEqual([
      'ComputeEndpoint toy-1 may be replaced when "region" is known: it is made anew',
    ]);
    expect(says(olds, { home: "a", size: UNKNOWN, region: "there" })).toEqual([]);
    expect(says(olds, { home: "b", size: UNKNOWN, region: UNKNOWN })).toEqual([
      'ComputeEndpoint toy-1 is replaced, because "home" changes: it is made anew',
    ]);
  });

  test("an argument that is no longer given stays at the service, where it stands there", () => {
    const plain = '"size" of ComputeEndpoint toy-1 is no longer managed';
    const shown = `${plain}: the value is unchanged, and drift is no longer detected`;
    const { size } = toyLifecycle().args;
    expect(says({}, { home: "a" })).toEqual([shown]);
    expect(says({}, { home: "a" }, { size: { ...size, unreadable: true } })).toEqual([plain]);
    expect(says({}, { home: "a" }, { size: { ...size, local: true } })).toEqual([plain]);
  });
});

describe("a repair", () => {
  const found = { ...OLDS, size: 3 };
  const declared = { home: "a", size: 1, __urn: URN };
  const restarts: NonNullable<Parameters<typeof hosted>[0]>["restarts"] = ({ changes }) => changes.changed.has("size");

  test("is what a plan would do and say, without telling the engine", () => {
    const { toy, log } = hosted({ restarts, warnings: () => ["mind the gap"] });
    expect(toy.repair("toy-1", found, declared)).toEqual({
      action: "update",
      restarts: true,
      messages: ["mind the gap"],
    });
    expect(toy.repair("toy-1", { ...OLDS, home: "b" }, { ...declared, size: OLDS.size })).toEqual({
      action: "replace",
      restarts: false,
      messages: [expect.stringContaining("it is made anew")],
    });
    expect(log).toEqual([]);
  });

  test("says what every plan says of the arguments, also where the object is still there", () => {
    const { toy } = hosted({
      createWarnings: ({ isNew, isReplacement, args }) => [`${args.home} ${isNew} ${isReplacement}`],
    });
    expect(toy.repair("toy-1", found, declared)?.messages).toEqual(["a false false"]);
    expect(toy.repair("toy-1", { ...OLDS, home: "b" }, { ...declared, size: OLDS.size })?.messages).toEqual([
      expect.stringContaining("it is made anew"),
      "a true true",
    ]);
  });

  test("of what is gone is a creation, with what is new in it and its warnings", () => {
    const { toy } = hosted({
      recreation: "it has another face",
      createWarnings: ({ isNew, args }) => (isNew ? [`a new one in ${args.home}`] : []),
    });
    expect(toy.repair("toy-1", undefined, declared)).toEqual({
      action: "create",
      restarts: false,
      messages: [expect.stringMatching(/^\w+ toy-1.* is created again: it has another face$/), "a new one in a"],
    });
  });
});
