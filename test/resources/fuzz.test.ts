import fc from "fast-check";
import { KINDS, type Kind } from "../../src/contract/pointer";
import type { Properties } from "../../src/contract/hiddenKeys";
import { load } from "../../src/provider";
import { DECLARATIONS } from "../support/declarations";
import { UNKNOWN } from "../support/harness";
import { Service } from "../support/service";

/*
 * Anything that an engine may hand over goes through the real provider of each kind. What must pass and what must not is
 * written here after docs/design/api.md, not after the schemas.
 */

/** docs/design/api.md, Compute sizes. */
const SIZES = [
  0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42,
  44, 46, 48, 50, 52, 54, 56,
];

/** In each string value that is no rule's own: it must turn up in no reason. */
const CANARY = "cAnArYq";
const LONGEST_REASON = 600;
const LONGEST_CHECK_MS = 2_000;

/** Values for one argument: those that the service surely takes, and those that it surely does not. */
interface Rule {
  good: fc.Arbitrary<unknown>;
  bad: fc.Arbitrary<unknown>;
}

const letters = (most: number) => fc.stringMatching(new RegExp(`^[a-z][a-z0-9]{0,${most - 1}}$`));
const canary = fc.string({ unit: "binary", maxLength: 40 }).map((text) => CANARY + text);
const huge = fc.constantFrom(20_000, 1_000_000).map((length) => CANARY.repeat(Math.ceil(length / CANARY.length)));
const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 2 ** 53, 1e308),
);
const objects = fc.dictionary(fc.constantFrom("a", "min", "__proto__", "constructor"), canary);
const lists = fc.array(fc.oneof(canary, numbers, objects), { maxLength: 3 });
const notText = fc.oneof(numbers, fc.boolean(), lists, objects);
const notFlag = fc.oneof(numbers, canary, lists, objects);
const notList = fc.oneof(numbers, canary, fc.boolean(), objects);

const text = (good: fc.Arbitrary<string>, ...bad: fc.Arbitrary<string>[]): Rule => ({
  good,
  bad: fc.oneof(notText, fc.constant(""), ...bad),
});
const flag: Rule = { good: fc.boolean(), bad: notFlag };
const free: Rule = { good: lists, bad: notList };
const oneOf = (...words: string[]): Rule => text(fc.constantFrom(...words), canary, huge);
/** What would leave its place in a path. */
const PATHS = ["..", ".", "a/b", "../x", "%2f", "a b", "a\nb", "a?b", "a#b", "\u202ea", "a\u0000"].map(
  (odd) => odd + (odd.includes(".") ? "/" : "") + CANARY,
);
const segment = text(letters(30), fc.constantFrom(...PATHS, "..", "."), huge);
const branch = text(
  letters(30).map((id) => `br-${id}`),
  canary,
  fc.constantFrom("br-", ...PATHS),
);
const counted = (longest: number): Rule =>
  text(
    fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: longest }),
    fc
      .oneof(fc.constant(longest + 1), fc.integer({ min: longest + 1, max: longest + 20 }))
      .map((length) => CANARY.repeat(length).slice(0, length)),
    huge,
  );
const address = text(
  fc.tuple(letters(20), letters(20)).map(([name, host]) => `${name}@${host}.example`),
  fc.constantFrom(CANARY, `@${CANARY}`, `${CANARY}@`, `a b@${CANARY}`, `a@b@${CANARY}`),
  huge,
);
const origins = fc
  .tuple(fc.constantFrom("http", "https"), letters(20), fc.constantFrom("", ":8080", "/"))
  .map(([scheme, host, rest]) => `${scheme}://${host}.example${rest}`);
const notOrigin = fc.oneof(
  canary,
  huge,
  fc
    .constantFrom(
      "javascript:",
      "ftp://",
      "//",
      "https://",
      "http:// ",
      ["https://u", "p@h/"].join(":"),
      "https://h?",
      "https://h#",
    )
    .map((start) => `${start}/${CANARY}`),
);
const sizes = fc.constantFrom(...SIZES);
const limits = fc.constantFrom(...SIZES.filter((size) => size <= 16));

const projectId = segment;
const authProvider = segment;

const RULES: Record<Kind, Record<string, Rule>> = {
  AuthIntegration: {
    projectId,
    authProvider,
    branchId: branch,
    databaseName: counted(63),
    roleName: counted(63),
    adopt: flag,
  },
  AuthKeys: { projectId, authProvider, rotationTriggers: free },
  AuthOwnershipTransfer: { projectId, authProvider, triggers: free },
  AuthUser: { projectId, authProvider, email: address, name: counted(255) },
  ComputeEndpoint: {
    projectId,
    branchId: branch,
    type: oneOf("read_write", "read_only"),
    name: counted(64),
    size: {
      good: fc.oneof(
        sizes,
        fc.tuple(limits, limits).map((two) => ({ min: Math.min(...two), max: Math.max(...two) })),
      ),
      bad: fc.oneof(
        fc.boolean(),
        canary,
        lists,
        objects,
        numbers.filter((size) => !SIZES.includes(size)),
        fc.constantFrom({ min: 4, max: 2 }, { min: 1, max: 18 }, { min: 1 }, { max: 1 }, { min: Number.NaN, max: 1 }),
        fc.record({ min: limits, max: limits, more: canary }),
      ),
    },
    scaleToZero: {
      good: fc.oneof(
        fc.boolean(),
        fc.integer({ min: 60, max: 604_800 }).map((afterSeconds) => ({ afterSeconds })),
      ),
      bad: fc.oneof(
        canary,
        lists,
        numbers,
        objects,
        fc
          .constantFrom(59, 604_801, 60.5, Number.NaN, Number.POSITIVE_INFINITY, "60", null)
          .map((afterSeconds) => ({ afterSeconds })),
      ),
    },
    poolerEnabled: flag,
    poolerMode: oneOf("transaction"),
    disabled: flag,
    passwordlessAccess: flag,
    regionId: text(letters(30)),
    provisioner: text(letters(30)),
    settings: {
      good: fc.record(
        {
          pgSettings: fc.dictionary(letters(10), fc.string(), { noNullPrototype: true }),
          preloadLibraries: fc.record(
            { useDefaults: fc.boolean(), enabledLibraries: fc.array(letters(10)) },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      bad: fc
        .oneof(
          notText,
          canary,
          notText.map((value) => ({ pgSettings: { work_mem: value } })),
          fc.oneof(canary, numbers, lists).map((pgSettings) => ({ pgSettings })),
          fc.oneof(canary, numbers, lists).map((preloadLibraries) => ({ preloadLibraries })),
          notList.map((enabledLibraries) => ({ preloadLibraries: { enabledLibraries } })),
          notFlag.map((useDefaults) => ({ preloadLibraries: { useDefaults } })),
        )
        .filter((value) => typeof value !== "object" || Array.isArray(value) || Object.keys(value).length > 0),
    },
    restartTriggers: free,
    adopt: {
      good: fc.oneof(
        fc.boolean(),
        letters(30).map((id) => `ep-${id}`),
      ),
      bad: fc.oneof(numbers, canary, lists, objects, fc.constantFrom("ep-", ...PATHS)),
    },
  },
  EmailServer: {
    projectId,
    type: oneOf("shared", "standard"),
    host: text(
      letters(30).map((name) => `${name}.example`),
      fc.constantFrom(`https://${CANARY}`, `a b${CANARY}`, `${CANARY}:25`),
    ),
    port: {
      good: fc.integer({ min: 1, max: 65_535 }),
      bad: fc.oneof(
        canary,
        lists,
        objects,
        fc.boolean(),
        fc.constantFrom(0, -1, 65_536, 25.5, "25", Number.NaN, 1e308),
      ),
    },
    username: text(canary),
    password: text(canary),
    senderEmail: address,
    senderName: text(canary),
  },
  OAuthProvider: {
    projectId,
    providerId: text(letters(60), canary, fc.constantFrom("..", "a/b", "Google", "2fa")),
    clientId: text(canary),
    clientSecret: text(canary),
    adopt: flag,
  },
  Whitelist: {
    projectId,
    domains: {
      good: fc.uniqueArray(origins, { selector: (one) => new URL(one).origin, maxLength: 5 }),
      bad: fc.oneof(notList, fc.array(fc.oneof(notOrigin, notText), { minLength: 1, maxLength: 3 })),
    },
    authProvider,
  },
  WhitelistDomain: { projectId, domain: text(origins, notOrigin), authProvider, adopt: flag },
};

const ARGUMENTS = DECLARATIONS.flatMap(({ kind, args }) => Object.keys(args).map((name) => [kind, name] as const));

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

/** Everything else: any depth, any shape, names that JavaScript knows, values that are not known yet. */
const names = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "length", "", "min", "max"),
  fc.constantFrom("afterSeconds", "pgSettings", "preloadLibraries", "enabledLibraries", "useDefaults", "__unfinished"),
  fc.string({ unit: "binary", maxLength: 8 }),
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

/** The reasons of what is refused, each of them fit for a terminal. */
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
  expect(DECLARATIONS.map(({ kind }) => kind).sort()).toEqual([...KINDS].sort());
  const ruled = Object.entries(RULES).flatMap(([kind, rules]) => Object.keys(rules).map((name) => [kind, name]));
  expect(ruled.sort()).toEqual([...ARGUMENTS].map((pair) => [...pair]).sort());
});

test.each(ARGUMENTS)("%s.%s: what the service takes passes, and what it cannot take is refused", async (kind, name) => {
  const rule = RULES[kind][name];
  if (rule === undefined) throw new Error("no rule");
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
});

test.each(ARGUMENTS)(
  "%s.%s: anything at all is answered in words, also far down and with unknowns",
  async (kind, name) => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => void (await check(kind, { [name]: value }))),
      { numRuns: 60 },
    );
    expect((await check(kind, { [name]: UNKNOWN })).filter(about(name))).toEqual([]);
    // What zod compares with a number.
    await check(kind, { [name]: { length: { toString: 1 } } });
    for (const inList of [true, false])
      expect((await check(kind, { [name]: nested(100_000, inList) })).filter(about(name))).not.toEqual([]);
  },
);

test.each(KINDS)("%s: names that nobody declares, and hidden keys with anything in them, do no harm", async (kind) => {
  const declared = Object.keys(RULES[kind]);
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
  // What is hidden is no value of the user's; a surplus name is shown.
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
  "%s: a plan of anything that has passed, with unknowns, sends nothing and ends in words",
  async (kind) => {
    const rules = Object.entries(RULES[kind]);
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
