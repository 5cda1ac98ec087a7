import fc from "fast-check";
import { KINDS, type Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { load } from "../../src/provider";
import { EACH_CASE, KIND_CASES } from "../kinds";
import type { ArgumentCase, Rule } from "../kinds/KindCase";
import { canary, CANARY, numbers } from "../kinds/rules";
import { anyCharacter } from "../support/characters";
import { UNKNOWN } from "../support/harness";
import { Service } from "../support/service";

/*
 * Passes anything that an engine may send through the real provider of each kind. The valid and invalid values are
 * defined in test/kinds, from docs/design/api.md and not from the schemas.
 */

const LONGEST_REASON = 600;
const LONGEST_CHECK_MS = 2_000;

const rulesOf = (kind: Kind): (readonly [string, Rule])[] =>
  Object.entries<ArgumentCase>(KIND_CASES[kind].arguments).map(([name, { rule }]) => [name, rule]);

const ARGUMENTS = EACH_CASE.flatMap(({ kind }) => rulesOf(kind).map(([name, rule]) => [kind, name, rule] as const));

test.each([
  ["settings", "settings"],
  ["settings", "settings.pgSettings"],
  ["settings", "settings.preloadLibraries"],
  ["size", "size"],
  ["scaleToZero", "scaleToZero"],
])('a property "__proto__" of %s, in %s, is refused, and not left out without a word', async (name, at) => {
  const good = {
    settings: { pgSettings: { work_mem: "4MB" }, preloadLibraries: { useDefaults: true } },
    size: { min: 1, max: 2 },
    scaleToZero: { afterSeconds: 60 },
  };
  // A literal would set the prototype.
  const withIt = JSON.parse(JSON.stringify(good)) as typeof good;
  const holder = at.split(".").reduce<object>((value, key) => Reflect.get(value, key) as object, withIt);
  Object.defineProperty(holder, "__proto__", { value: CANARY, enumerable: true });
  expect((await check("ComputeEndpoint", { [name]: Reflect.get(good, name) })).filter(about(name))).toEqual([]);
  const reasons = await check("ComputeEndpoint", { [name]: Reflect.get(withIt, name) });
  expect(reasons.filter(about(name))).toEqual([expect.stringContaining(`${at}.__proto__: `)]);
});

/** Everything else: any depth, any shape, names with a meaning in JavaScript, unknown values. */
const names = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "length", "", "min", "max"),
  fc.constantFrom("afterSeconds", "pgSettings", "preloadLibraries", "enabledLibraries", "useDefaults", "__unfinished"),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
);
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(numbers, canary, fc.boolean(), fc.constant(null), fc.constant(UNKNOWN), fc.constant("")),
    fc.array(tie("anything"), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie("anything")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

function nested(levels: number, inList: boolean): unknown {
  let value: unknown = CANARY;
  for (let level = 0; level < levels; level += 1) value = inList ? [value] : { pgSettings: value };
  return value;
}

let service: Service;
const providers = new Map(KINDS.map((kind) => [kind, load(kind)]));

beforeAll(async () => {
  service = await Service.start({});
  const settings: Record<string, string> = {
    "svc:apiKey": service.emulator.apiKey,
    "svc:baseUrl": service.emulator.baseUrl,
  };
  for (const provider of providers.values())
    await provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
});

afterEach(async () => expect(await service.requests()).toEqual([]));
afterAll(async () => service.emulator.close());

function providerOf(kind: Kind) {
  const provider = providers.get(kind);
  if (provider === undefined) throw new Error(`no provider of ${kind}`);
  return provider;
}

/** The reasons of a refusal, each safe for a terminal. */
async function check(kind: Kind, given: Properties, olds: Properties = {}): Promise<string[]> {
  const began = performance.now();
  const { failures = [], inputs } = await providerOf(kind).check(olds, given);
  expect(performance.now() - began).toBeLessThan(LONGEST_CHECK_MS);
  expect(JSON.parse(JSON.stringify(inputs))).toEqual(inputs);
  for (const { property, reason } of failures) {
    expect(property).toBe("");
    // The path of an argument, then words. The name of one may be empty, or anything.
    expect(reason).toMatch(/: \S+ \S+/u);
    expect(reason).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]|undefined|\[object|Invalid input|Cannot read/u);
    expect(reason).not.toContain(CANARY);
    expect(reason.length).toBeLessThanOrEqual(LONGEST_REASON);
  }
  return failures.map(({ reason }) => reason);
}

const about =
  (name: string) =>
  (reason: string): boolean =>
    /^[:.[]/.test(reason.slice(name.length)) && reason.startsWith(name);

test("every argument of every kind has its rule here", () => {
  for (const { kind, declaration } of EACH_CASE) {
    expect(declaration.kind).toBe(kind);
    const ruled = rulesOf(kind).map(([name]) => name);
    expect([kind, ruled.sort()]).toEqual([kind, Object.keys(declaration.args).sort()]);
  }
});

test.each(ARGUMENTS)(
  "%s.%s: what the service takes passes, and what it cannot take is refused",
  async (kind, name, rule) => {
    await fc.assert(
      fc.asyncProperty(rule.good, async (value) => {
        expect((await check(kind, { [name]: value })).filter(about(name))).toEqual([]);
      }),
      { numRuns: 25 },
    );
    await fc.assert(
      fc.asyncProperty(rule.bad, async (value) => {
        const reasons = await check(kind, { [name]: value });
        expect({ value, refused: reasons.some(about(name)) }).toEqual({ value, refused: true });
      }),
      { numRuns: 50 },
    );
  },
);

test.each(ARGUMENTS)(
  "%s.%s: anything at all is answered with a message, also far down and with unknowns",
  async (kind, name) => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => void (await check(kind, { [name]: value }))),
      { numRuns: 60 },
    );
    expect((await check(kind, { [name]: UNKNOWN })).filter(about(name))).toEqual([]);
    // Values that zod compares with a number.
    await check(kind, { [name]: { length: { toString: 1 } } });
    for (const inList of [true, false])
      expect((await check(kind, { [name]: nested(100_000, inList) })).filter(about(name))).not.toEqual([]);
  },
);

test.each(KINDS)("%s: names that nobody declares, and hidden keys with anything in them, do no harm", async (kind) => {
  const declared = rulesOf(kind).map(([name]) => name);
  const hidden = fc.constantFrom(
    "__urn",
    "__timeouts",
    "__surplus",
    "__args",
    "__version",
    "__unfinished",
    "__sent",
    "__proto__",
  );
  // A hidden value is not the user's; a surplus name is shown.
  const shown = fc.oneof(numbers, fc.constant(null), fc.constant(UNKNOWN), fc.array(names), fc.object(), names);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.oneof(fc.constantFrom(...declared), names), anything), { maxLength: 6 }),
      fc.array(fc.tuple(hidden, shown), { maxLength: 6 }),
      anything,
      async (given, secretly, olds) => {
        const inputs = Object.fromEntries([...given, ...secretly]);
        await check(kind, inputs, typeof olds === "object" && olds !== null ? (olds as Properties) : {});
      },
    ),
    { numRuns: 100 },
  );
});

test.each(KINDS)("%s: an argument whose name is a book does not hold up a plan", async (kind) => {
  const name = "x".repeat(1_000_000);
  await check(kind, { [name]: true, __surplus: [name, `size.${name}`] });
  await check(kind, { settings: { pgSettings: { [name]: 7 }, [name]: 7 }, size: { [name]: 7 } });
});

test.each(KINDS)(
  "%s: a plan of anything that has passed, with unknowns, sends nothing and ends with a message",
  async (kind) => {
    const rules = rulesOf(kind);
    const some = fc.record(Object.fromEntries(rules.map(([name, { good }]) => [name, good])), { requiredKeys: [] });
    const open = fc.subarray(rules.map(([name]) => name));
    // The arguments of a state have passed `check`; the rest came from the service.
    const others = fc.dictionary(fc.constantFrom("url", "authProviderProjectId", "createdAt", "other"), anything);
    const stored = fc.tuple(others, some).map(([more, args]) => ({ ...more, ...args }));
    await fc.assert(
      fc.asyncProperty(some, open, stored, fc.boolean(), async (news, unknown, outs, deep) => {
        const given = {
          ...news,
          ...Object.fromEntries(unknown.map((name) => [name, deep ? [{ a: UNKNOWN }] : UNKNOWN])),
        };
        const olds = { ...outs, __args: Object.keys(outs), __version: 1 };
        const { replaces = [] } = await providerOf(kind).diff("prj-1/a/b", olds, given);
        expect(replaces.filter((name) => !(name in given) && !(name in outs))).toEqual([]);
        const { changes } = await providerOf(kind).diff("prj-1/a/b", { ...news, __args: Object.keys(news) }, news);
        expect(changes).toBe(false);
      }),
      { numRuns: 60 },
    );
  },
);
