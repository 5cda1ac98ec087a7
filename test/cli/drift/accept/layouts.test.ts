/** Programs in any layout: the edited one declares what was found, and what is not edited stays byte for byte. */
import vm from "node:vm";
import fc from "fast-check";
import ts from "typescript";
import { anyCharacter } from "../../../support/characters";
import { edit, IMPORT, type Change } from "../../../support/editedPrograms";

/** The arguments that a program gives to the one resource that it creates. */
function argumentsOf(text: string): Record<string, unknown> {
  const given: unknown[] = [];
  const created = class {
    constructor(_name: string, args: unknown) {
      given.push(args);
    }
  };
  const compiled = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const require = (): object => ({ ComputeEndpoint: created, Whitelist: created });
  vm.runInNewContext(compiled.outputText, { require, exports: {} });
  expect(given).toHaveLength(1);
  // Out of the other context, whose objects have other prototypes.
  return JSON.parse(JSON.stringify(given[0])) as Record<string, unknown>;
}

/** Comments, each with a number of its own, so that a lost one is seen. */
let count = 0;
const comment = (): string => `note ${count++}`;
const BLANKS = ["", " ", "  ", "\n", "\n  ", "\r\n\t", "\n\n    "] as const;
/** What may stand between two tokens. */
const gap = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...BLANKS) },
  fc.constantFrom(...BLANKS).map((blank) => `${blank}/* ${comment()} */ `),
  fc.constantFrom(...BLANKS).map((blank) => `${blank}// ${comment()}\n  `),
  fc.constantFrom(...BLANKS).map((blank) => `${blank}/* ${comment()}\n   lines */${blank}`),
);

/** Tokens with something between each two of them. */
const laidOut = (tokens: readonly string[]): fc.Arbitrary<string> =>
  fc
    .array(gap, { minLength: tokens.length - 1, maxLength: tokens.length - 1 })
    .map((gaps) => tokens.map((token, at) => token + (gaps[at] ?? "")).join(""));

/** Elements with commas between them, and one behind the last of them or not. */
const listed = (open: string, elements: readonly string[], close: string): fc.Arbitrary<string> =>
  fc.boolean().chain((endsWithComma) => {
    const tokens = elements.flatMap((element, at) =>
      at < elements.length - 1 || endsWithComma ? [element, ","] : [element],
    );
    return laidOut([open, ...tokens, close]);
  });

const origin = fc.integer({ min: 0, max: 9 }).map((at) => `https://app-${at}.example.com`);
const origins = fc.uniqueArray(origin, { maxLength: 6 });
const RUNS = { numRuns: 60 };

/** Each line that holds none of the texts keeps its comments. */
function expectComments(before: string, after: string, removed: readonly string[]): void {
  const kept = before.split("\n").filter((line) => !removed.some((text) => line.includes(text)));
  for (const [note] of kept.join("\n").matchAll(/note \d+(?!\d)/g)) expect(after).toMatch(new RegExp(`${note}(?!\\d)`));
}

describe("lists", () => {
  const program = (list: string): string =>
    `${IMPORT}new svc.Whitelist("api", {\n  projectId: "prj-demo",\n  domains: ${list}, // these\n});\n`;

  test("have the found elements, in order", async () => {
    const cases = fc.record({ declared: origins, found: origins }).chain(({ declared, found }) =>
      listed(
        "[",
        declared.map((text) => `'${text}'`),
        "]",
      ).map((list) => {
        const kept = declared.filter((one) => found.includes(one));
        return { list, declared, found: [...kept, ...found.filter((one) => !kept.includes(one))] };
      }),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ({ list, declared, found }) => {
        const before = program(list);
        const { text, told } = await edit(before, [["domains", declared, found]], { kind: "Whitelist" });
        expect(told).toEqual([]);
        expect(argumentsOf(text)["domains"]).toEqual(found);
        const [head, tail] = program("|").split("|");
        expect(text.startsWith(head ?? "")).toBe(true);
        expect(text.endsWith(tail ?? "")).toBe(true);
        const removed = declared.filter((one) => !found.includes(one));
        if (removed.length === 0 || removed.length < declared.length) expectComments(before, text, removed);
        // Once more: it is as it was found.
        const again = await edit(text, [["domains", declared, found]], { kind: "Whitelist" });
        expect(again.told).toEqual([]);
        expect(again.files.size).toBe(0);
      }),
      RUNS,
    );
  });

  test("of one element in each line stay so", async () => {
    const cases = fc.record({
      declared: fc.uniqueArray(origin, { minLength: 1, maxLength: 6 }),
      found: origins,
      indent: fc.constantFrom("  ", "    ", "\t"),
      newLine: fc.constantFrom("\n", "\r\n"),
      endsWithComma: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ declared, found: others, indent, newLine, endsWithComma }) => {
        const inLines = (values: readonly string[]): string =>
          `[${newLine}${values.map((value) => `${indent}"${value}"`).join(`,${newLine}`)}${endsWithComma ? "," : ""}${newLine}]`;
        const kept = declared.filter((one) => others.includes(one));
        const found = [...kept, ...others.filter((one) => !kept.includes(one))];
        const { text } = await edit(program(inLines(declared)), [["domains", declared, found]], { kind: "Whitelist" });
        expect(text).toBe(program(found.length === 0 ? "[]" : inLines(found)));
      }),
      RUNS,
    );
  });
});

describe("objects", () => {
  const program = (args: string): string =>
    `${IMPORT}export const api = new svc.ComputeEndpoint(\n  "api",\n  ${args},\n  { protect: true },\n);\n`;
  const keyed = (key: string): string => (/^[a-z_]+$/.test(key) ? key : JSON.stringify(key));

  const key = fc.constantFrom("work_mem", "app.name", "a-b", "jit", "toString", "9", 'say "x"');
  /** Texts that would end a literal, begin an expression or turn the reading. */
  const value = fc.oneof(
    fc.constantFrom("'", '"', "`", "${x}", "\\", "\n", "\r\n", "\u2028", "*/", "//", "\u202e", "", "64MB", "💡"),
    fc.string({ maxLength: 6, unit: anyCharacter }),
  );
  const settings = fc.dictionary(key, value, { maxKeys: 5, noNullPrototype: true });
  const own = (object: Record<string, string>, name: string): string | null =>
    Object.hasOwn(object, name) ? (object[name] ?? null) : null;
  const pathOf = (name: string): string =>
    /^\w+$/.test(name) ? `settings.pgSettings.${name}` : `settings.pgSettings["${name.replaceAll('"', '\\"')}"]`;

  test("have the found properties, and no others", async () => {
    const cases = fc.record({ declared: settings, found: settings }).chain(({ declared, found }) =>
      listed(
        "{",
        Object.entries(declared).map(([name, text]) => `${keyed(name)}: ${JSON.stringify(text)}`),
        "}",
      ).map((object) => ({ object, declared, found })),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ({ object, declared, found }) => {
        const args = (pgSettings: string): string =>
          `{ projectId: "prj-demo", branchId: "br-dev", settings: { pgSettings: ${pgSettings} }, size: 2 }`;
        const names = [...new Set([...Object.keys(declared), ...Object.keys(found)])];
        const changes = names
          .map((name): Change => [pathOf(name), own(declared, name), own(found, name)])
          .filter(([, one, other]) => one !== other);
        const before = program(args(object));
        const { text, told, accepted } = await edit(before, changes);
        expect(told).toEqual([]);
        expect(accepted).toHaveLength(changes.length);
        expect(argumentsOf(text)["settings"]).toEqual({ pgSettings: found });
        const [head, tail] = program(args("|")).split("|");
        expect(text.startsWith(head ?? "")).toBe(true);
        expect(text.endsWith(tail ?? "")).toBe(true);
      }),
      RUNS,
    );
  });

  test("in any order and layout: the values of what differs change, and nothing else", async () => {
    const cu = fc.constantFrom(0.25, 1, 2, 4, 8);
    const size = fc.oneof(
      cu,
      fc.tuple(cu, cu).map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) })),
    );
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const values = fc.record({
      name: word,
      size,
      scaleToZero: fc.oneof(
        fc.boolean(),
        fc.integer({ min: 60, max: 604_800 }).map((afterSeconds) => ({ afterSeconds })),
      ),
      disabled: fc.boolean(),
      poolerEnabled: fc.boolean(),
      provisioner: word,
    });
    const codeOf = (given: unknown, quote: string): string => {
      if (typeof given === "string") return `${quote}${given}${quote}`;
      if (typeof given !== "object" || given === null) return String(given);
      return `{ ${Object.entries(given)
        .map(([name, inner]) => `${name}: ${String(inner)}`)
        .join(", ")} }`;
    };
    const cases = fc
      .record({
        declared: values,
        found: values,
        names: fc.shuffledSubarray(
          ["name", "size", "scaleToZero", "disabled", "poolerEnabled", "provisioner"] as const,
          { minLength: 1 },
        ),
        quote: fc.constantFrom("'", '"', "`"),
        key: fc.constantFrom("", "'", '"'),
      })
      .chain((model) => {
        // A mark replaces each value, so that two programs have the same layout.
        const tokens = ["projectId", ":", '"prj-demo"', ",", "branchId", ":", '"br-dev"'];
        for (const name of model.names) tokens.push(",", `${model.key}${name}${model.key}`, ":", `<${name}>`);
        return laidOut(["{", ...tokens, "}"]).map((layout) => ({ ...model, layout }));
      });
    await fc.assert(
      fc.asyncProperty(cases, async ({ layout, declared, found, names, quote }) => {
        const filled = (given: typeof declared): string =>
          program(layout.replace(/<(\w+)>/g, (_mark, name: keyof typeof given) => codeOf(given[name], quote)));
        const changes = names
          .filter((name) => JSON.stringify(declared[name]) !== JSON.stringify(found[name]))
          .map((name): Change => [name, declared[name], found[name]]);
        const { text, told } = await edit(filled(declared), changes);
        expect(told).toEqual([]);
        expect(text).toBe(filled(found));
        expect(argumentsOf(text)).toMatchObject(Object.fromEntries(names.map((name) => [name, found[name]])));
      }),
      RUNS,
    );
  });
});
