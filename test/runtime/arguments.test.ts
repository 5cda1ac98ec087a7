import { z } from "zod";
import type { Properties } from "../../src/contract/hiddenKeys";
import {
  checkArguments,
  compare,
  isOfType,
  problemText,
  sameArgument,
  specOf,
  UNKNOWN_NAME,
  type ArgumentSpecs,
} from "../../src/runtime/arguments";

const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

interface Args {
  base: string;
  home: string;
  size: number;
  label: string;
  mode: string;
  region: string;
  host: string;
  client: string;
  secret: string;
  settings: Record<string, string>;
  adopt: boolean;
}

const long = z.string().min(2, { error: "is too short" });
const noName = z.custom<never>(() => false, { error: "is no name", params: UNKNOWN_NAME });
const settings = z.object({ a: long.optional(), "": long.optional() }).catchall(noName);
const specs: ArgumentSpecs<Args> = {
  home: { schema: z.string(), required: true, replaces: true, container: "AuthIntegration" },
  base: { schema: z.string(), container: "AuthIntegration" },
  size: { schema: z.number(), form: Math.floor },
  label: { schema: z.string() },
  mode: { schema: z.string(), assumed: "plain" },
  region: { schema: z.string(), replaces: true, assumed: "here" },
  host: { schema: z.string(), unset: "update" },
  client: { schema: z.string(), unset: "replace" },
  secret: { schema: z.string(), unreadable: true },
  settings: { schema: settings as unknown as z.ZodType<Record<string, string>> },
  adopt: { schema: z.boolean(), createOnly: true },
};

/** As four lists of names. */
function compared(outs: Properties, managed: string[], news: Properties): Record<string, string[]> {
  const { changed, dropped, added, replaces } = compare(specs, { outs, managed: new Set(managed), news });
  return { changed: [...changed], dropped: [...dropped], added: [...added], replaces: [...replaces] };
}
const NOTHING = { changed: [], dropped: [], added: [], replaces: [] };

describe("compare", () => {
  test.each<[string, Properties, string[], Properties, object]>([
    ["nothing differs", { home: "a", size: 2 }, ["home", "size"], { home: "a", size: 2 }, {}],
    ["another value", { size: 2 }, ["size"], { size: 4 }, { changed: ["size"] }],
    ["another value that means the same", { size: 2 }, ["size"], { size: 2.5 }, {}],
    [
      "a value of a replacing argument",
      { region: "x" },
      ["region"],
      { region: "y" },
      { changed: ["region"], replaces: ["region"] },
    ],
    ["left out: no longer managed", { label: "x" }, ["label"], {}, { dropped: ["label"] }],
    ["left out, and never managed", { label: "x" }, [], {}, {}],
    ["given for the first time, as it stands", { label: "x" }, [], { label: "x" }, { added: ["label"] }],
    ["given for the first time, otherwise", { label: "x" }, [], { label: "y" }, { changed: ["label"] }],
    ["left out where the service's default stands", { mode: "plain" }, ["mode"], {}, { dropped: ["mode"] }],
    ["left out where another value than the default stands", { mode: "odd" }, ["mode"], {}, { changed: ["mode"] }],
    ["the default is given, and nothing stands", {}, [], { mode: "plain" }, { added: ["mode"] }],
    ["left out where that unsets it", { host: "h" }, ["host"], {}, { changed: ["host"] }],
    ["left out where that unsets it, and it was never managed", { host: "h" }, [], {}, { changed: ["host"] }],
    ["left out where that unsets it, and nothing stands", {}, ["host"], {}, {}],
    [
      "left out where that takes a replacement",
      { client: "c" },
      ["client"],
      {},
      { changed: ["client"], replaces: ["client"] },
    ],
    ["a new secret of which nothing is stored", {}, [], { secret: "s" }, { added: ["secret"] }],
    ["a secret that was managed, and is not stored", {}, ["secret"], { secret: "s" }, { changed: ["secret"] }],
    ["an argument of the creation", { adopt: false }, ["adopt"], { adopt: true }, {}],
    ["unknown", { size: 1 }, ["size"], { size: UNKNOWN }, { changed: ["size"] }],
    ["an unknown container", { home: "a" }, ["home"], { home: UNKNOWN }, { changed: ["home"], replaces: ["home"] }],
    ["another container that the object can move to", { base: "a" }, ["base"], { base: "b" }, { changed: ["base"] }],
    ["an unknown one", { base: "a" }, ["base"], { base: UNKNOWN }, { changed: ["base"], replaces: ["base"] }],
    [
      "an unknown replacing argument may turn out the same",
      { region: "x" },
      ["region"],
      { region: UNKNOWN },
      { changed: ["region"] },
    ],
    [
      "unknown inside",
      { settings: { a: "bc" } },
      ["settings"],
      { settings: { a: UNKNOWN } },
      { changed: ["settings"] },
    ],
  ])("%s", (_what, outs, managed, news, expected) => {
    expect(compared(outs, managed, news)).toEqual({ ...NOTHING, ...expected });
  });

  test("of two values that are left out only one may be assumed", () => {
    const same = (name: string, left: unknown, right: unknown): boolean => {
      const spec = specOf(specs, name);
      return spec !== undefined && sameArgument(spec, left, right);
    };
    expect(same("mode", undefined, "plain")).toBe(true);
    expect(same("mode", "odd", undefined)).toBe(false);
    expect(same("label", undefined, undefined)).toBe(true);
    expect(same("label", undefined, "x")).toBe(false);
    expect(same("label", "x", undefined)).toBe(false);
  });
});

test("the type of a value is not judged by members that every object has", () => {
  const size = z.strictObject({ min: z.number() });
  for (const name of ["constructor", "toString"])
    expect([isOfType(size, { min: 1, [name]: "x" }), isOfType(size, { min: "1", [name]: "x" })]).toEqual([true, false]);
});

describe("check", () => {
  const reasons = (given: Properties): string[] =>
    checkArguments("Toy", specs, { home: "a", ...given }).problems.map(problemText);

  test("names each problem by its path, with the name that is no name, and at most 200 characters of it", () => {
    expect(reasons({ settings: { a: "b", "": "c", other: "fg" } })).toEqual([
      "settings.a: is too short",
      'settings[""]: is too short',
      "settings.other: is no name",
    ]);
    expect(reasons({ ["x".repeat(200)]: 1 })[0]).toMatch(/^x{200}: is not an argument of Toy/);
    expect(reasons({ ["x".repeat(201)]: 1 })[0]).toMatch(/^x{200}…: is not an argument of Toy/);
  });

  test("says nothing of a value that is not known yet, but of a name beside it", () => {
    expect(reasons({ settings: UNKNOWN })).toEqual([]);
    expect(reasons({ settings: { a: UNKNOWN } })).toEqual([]);
    expect(reasons({ settings: { a: UNKNOWN, "": "c" } })).toEqual(['settings[""]: is too short']);
    expect(reasons({ settings: { other: UNKNOWN } })).toEqual(["settings.other: is no name"]);
    expect(reasons({ size: [UNKNOWN] })).toEqual([]);
  });

  test("refuses what is nested beyond measure, without looking into it", () => {
    let deep: unknown = "x";
    for (let level = 0; level <= 100; level++) deep = { deep };
    const { args, problems } = checkArguments("Toy", specs, { home: "a", settings: deep });
    expect(problems.map(problemText)).toEqual(["settings: must not be nested deeper than 100 levels"]);
    expect(args).toEqual({ home: "a" });
  });

  test("wants what is required", () => {
    expect(checkArguments("Toy", specs, {}).problems.map(problemText)).toEqual(["home: is required"]);
  });
});
