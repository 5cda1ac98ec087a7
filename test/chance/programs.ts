import fc from "fast-check";
import { KINDS, type Kind } from "../../src/contract/pointer";
import { KIND_CASES } from "../kinds";
import { DEMO, othersIn, wholeIn, type Place } from "../kinds/KindCase";
import { CANARY, type AnyKind, type Declared, type Options, type Program, type Value } from "./history";

/*
 * Draws programs from the declarations and the cases of test/kinds. Most can be deployed: what the service or a check
 * certainly refuses is left to test/rules/mistakes.test.ts, but combinations that fail in words are drawn, too.
 */

/** Ordinary records, which print readably. */
const PLAIN = { noNullPrototype: true } as const;

/** The secrets by name of each history. */
export const ENVIRONMENT = ["CHANCE_SECRET_ONE", "CHANCE_SECRET_TWO"] as const;
/** By the number of the draw, so that one that is seen in clear tells where it is from. */
export const canary = (what: string): string => `${CANARY}${what}`;

/** Different objects of one kind: on another branch, of another name. */
const SLOTS: readonly Place[] = [
  DEMO,
  { ...DEMO, free: DEMO.other, other: DEMO.free },
  { ...DEMO, free: DEMO.main, other: DEMO.free },
];

/** The arguments that tell one object of a kind from another, beside those of the place. */
function identity(kind: Kind, slot: number): Record<string, Value> {
  const letter = "abc"[slot] ?? "a";
  if (kind === "WhitelistDomain") return { domain: `https://${letter}.example.com` };
  if (kind === "AuthUser") return { email: `${letter}@example.com` };
  // A new integration has the last one already.
  if (kind === "OAuthProvider") return { providerId: ["microsoft", "gitlab", "google"][slot] ?? "microsoft" };
  return {};
}

/** Of these there is one in a project. */
const ONCE: readonly AnyKind[] = ["AuthIntegration", "EmailServer", "Whitelist", "ProjectAuth"];

export const isOurs = (kind: AnyKind): kind is Kind => (KINDS as readonly string[]).includes(kind);

interface Draw {
  readonly kind: AnyKind;
  readonly slot: number;
  readonly isWhole: boolean;
  /** For each argument of the case: its other value, a drawn good one, or left out. */
  readonly changes: readonly ("value" | "other" | "none" | "good")[];
  readonly seed: number;
  readonly adopts: boolean;
  /** How secrets are given. */
  readonly secrets: "text" | "marked" | "reference";
  readonly options: Options;
  /** Its parent is a component. */
  readonly inGroup: boolean;
}

type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Without keys whose value is undefined. */
export const given = <T extends object>(record: T): Defined<T> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as unknown as Defined<T>;

/** Options that name no other resource. */
export const ownOptions: fc.Arbitrary<Options> = fc
  .record(
    {
      protect: sometimes(8, true as const),
      retainOnDelete: sometimes(8, true as const),
      deleteBeforeReplace: sometimes(8, true as const),
      customTimeouts: sometimes(6, true as const),
      // Named of all kinds; an unknown name has no effect.
      ignoreChanges: sometimes(
        6,
        ...[["size"], ["name"], ["clientId"], ["clientSecret"], ["domains"], ["password"], ["host", "password"], ["*"]],
      ),
      replaceOnChanges: sometimes(12, ["name"], ["size"], ["clientId"], ["host"]),
      additionalSecretOutputs: sometimes(10, ["host"], ["clientId"], ["id"], ["publishableClientKey"]),
      transform: sometimes(10, "clientId", "name", "senderName"),
    },
    PLAIN,
  )
  .map(given);

export const providers: fc.Arbitrary<Providers> = fc.record(
  {
    computes: sometimes(4, "first" as const, "second" as const, "each" as const),
    auth: sometimes(4, "first" as const, "second" as const),
  },
  PLAIN,
);

/** One of these, in one of `n` draws. */
function sometimes<T>(n: number, ...values: readonly T[]): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: n - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );
}

const kinds = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<AnyKind>("ComputeEndpoint") },
  { weight: 8, arbitrary: fc.constantFrom<AnyKind>(...KINDS) },
  { weight: 1, arbitrary: fc.constantFrom<AnyKind>("Foreign") },
);
const withComponents = fc.oneof(
  { weight: 8, arbitrary: kinds },
  { weight: 1, arbitrary: fc.constantFrom<AnyKind>("ComputeGroup", "ProjectAuth") },
);

const draw = (kind: fc.Arbitrary<AnyKind>): fc.Arbitrary<Draw> =>
  fc.record(
    {
      kind,
      slot: fc.nat({ max: SLOTS.length - 1 }),
      isWhole: fc.boolean(),
      changes: fc.array(
        fc.constantFrom("value" as const, "value" as const, "other" as const, "none" as const, "good" as const),
        {
          minLength: 4,
          maxLength: 16,
        },
      ),
      seed: fc.nat({ max: 1_000 }),
      adopts: sometimes(5, true).map((adopts) => adopts ?? false),
      secrets: fc.constantFrom("text" as const, "marked" as const, "reference" as const),
      options: ownOptions,
      inGroup: sometimes(5, true).map((isIn) => isIn ?? false),
    },
    PLAIN,
  );

/** One value of the case's rule, always the same for the same seed. */
function good(kind: Kind, name: string, seed: number): Value | undefined {
  const rule = KIND_CASES[kind].arguments[name]?.rule;
  if (rule === undefined) return undefined;
  const [value] = fc.sample(rule.good, { numRuns: 1, seed });
  // The engine keeps no property of this name.
  if (JSON.stringify(value ?? null).includes("__proto__")) return undefined;
  // Text that is sent in a list of the service's own form is drawn by the kind's own tests.
  return JSON.parse(JSON.stringify(value ?? null)) as Value;
}

/** The arguments that tell what it is, and those of which the service takes one value: not drawn anew. */
const FIXED: readonly string[] = [
  "regionId",
  "projectId",
  "branchId",
  "authProvider",
  "providerId",
  "domain",
  "email",
  "adopt",
  "absent",
  "type",
];

function secretOf({ secrets, seed }: Draw, what: string): Value {
  const text = canary(`${what}-${seed}`);
  if (secrets === "text") return text;
  if (secrets === "marked") return { $secret: text };
  return { $env: ENVIRONMENT[seed % ENVIRONMENT.length] ?? ENVIRONMENT[0] };
}

/** The arguments of one of ours, from its case. */
function argumentsOf(kind: Kind, drawn: Draw, auth: string | undefined): Record<string, Value> {
  const kindCase = KIND_CASES[kind];
  const place = SLOTS[drawn.slot] ?? DEMO;
  const least = kindCase.least(place) as Record<string, Value>;
  const whole = wholeIn(kindCase, place) as Record<string, Value>;
  const others = othersIn(kindCase, place, "updates", "restarts", "stored", "replaces", "excludes") as Record<
    string,
    Value
  >;
  const args: Record<string, Value> = { ...(drawn.isWhole ? whole : least), ...identity(kind, drawn.slot) };
  Object.keys(kindCase.arguments).forEach((name, i) => {
    const change = drawn.changes[i % drawn.changes.length];
    if (FIXED.includes(name) || change === undefined) return;
    if (change === "other" && name in others && (drawn.isWhole || name in least)) args[name] = others[name] as Value;
    if (change === "good" && name in args) args[name] = good(kind, name, drawn.seed) ?? (args[name] as Value);
    if (change === "none" && !(name in least) && kind !== "EmailServer" && kind !== "OAuthProvider") delete args[name];
  });
  for (const [name, build] of Object.entries(kindCase.secretArguments)) {
    if (!(name in args) || build === undefined) continue;
    // The case builds plain JSON around the secret.
    args[name] = built(build, secretOf(drawn, name));
  }
  // It has no branch for itself, and nothing tells it from another one without a name.
  const isReplica = kind === "ComputeEndpoint" && drawn.seed % 4 === 0;
  if (isReplica) args["type"] = "read_only";
  else if (drawn.adopts && kindCase.adopts !== undefined) Object.assign(args, kindCase.adopts);
  // Without it, both are begun at once, and what is made belongs to an integration that may be replaced.
  if (kindCase.inIntegration && auth !== undefined) args["projectId"] = { $output: [auth, "projectId"] };
  return args;
}

/** The marks of this file go where the case puts the secret. */
export function built(build: (secret: string) => unknown, secret: Value): Value {
  const marker = "the secret of the program";
  const text = JSON.stringify(build(marker));
  return JSON.parse(text.replaceAll(JSON.stringify(marker), JSON.stringify(secret))) as Value;
}

/** What two resources of a program cannot both be. */
function keyOf({ kind, args }: Declared): string {
  if (ONCE.includes(kind)) return kind;
  if (kind === "ComputeEndpoint" && args["type"] === "read_only") return JSON.stringify(args);
  if (kind === "ComputeEndpoint" || kind === "ComputeGroup") return `compute on ${JSON.stringify(args["branchId"])}`;
  const { domain, email, providerId } = args;
  return JSON.stringify([kind, domain ?? email ?? providerId ?? args]);
}

function declared(drawn: Draw, name: string, before: readonly Declared[]): Declared {
  const auth = before.find(({ kind }) => kind === "AuthIntegration")?.name;
  const group = before.find(({ kind }) => kind === "Group")?.name;
  const options: Options = { ...drawn.options, ...(drawn.inGroup && group !== undefined && { parent: group }) };
  const { kind, seed, slot } = drawn;
  if (kind === "Group") return { kind, name, args: {}, options: {} };
  if (kind === "Foreign")
    return { kind, name, args: { text: `text ${seed % 3}` }, options: given({ protect: drawn.options.protect }) };
  if (kind === "ComputeGroup") {
    const { free } = SLOTS[slot] ?? DEMO;
    return {
      kind,
      name,
      args: { projectId: DEMO.projectId, branchId: free, primary: { size: 1 + (seed % 3) }, replicas: seed % 3 },
      options: given({ protect: drawn.options.protect }),
    };
  }
  if (kind === "ProjectAuth") {
    const secret = secretOf(drawn, "oauth");
    const args: Record<string, Value> = {
      projectId: DEMO.projectId,
      branchId: DEMO.main,
      oauth: { google: seed % 2 === 0 ? "shared" : false, microsoft: { clientId: "own-id", clientSecret: secret } },
      redirectDomains: ["https://a.example.com", "https://b.example.com"].slice(0, 1 + (seed % 2)),
      ...(seed % 3 === 0 && { exclusiveDomains: true }),
    };
    return { kind, name, args, options: given({ protect: drawn.options.protect }) };
  }
  const args = argumentsOf(kind, drawn, auth);
  const foreign = before.find((one) => one.kind === "Foreign")?.name;
  // An output of somebody else's resource as an input of ours.
  if (foreign !== undefined && "name" in args && seed % 2 === 0) args["name"] = { $output: [foreign, "text"] };
  // A child of an integration that is not in the program may be in one that a colleague has.
  return { kind, name, args, options };
}

/** Names of former resources of the order, so that a name tells little. */
const NAMES = ["one", "two", "three", "four", "five", "six", "seven", "eight"] as const;

/** In an order in which what is used comes first: a group, an integration, then the others. */
const RANK: Partial<Record<AnyKind, number>> = { Group: 0, Foreign: 1, AuthIntegration: 2 };

function programOf(
  draws: readonly Draw[],
  links: readonly { readonly from: number; readonly to: number; readonly as: "dependsOn" | "deletedWith" }[],
): Program {
  const ordered = draws.toSorted((a, b) => (RANK[a.kind] ?? 3) - (RANK[b.kind] ?? 3));
  const program: Declared[] = [];
  for (const drawn of ordered) {
    const one = declared(drawn, NAMES[program.length] ?? "nine", program);
    if (lacksIntegration(one, program) || program.some((other) => conflicts(other, one))) continue;
    program.push(one);
  }
  for (const { from, to, as } of links) {
    const [low, high] = [from % program.length, to % program.length].toSorted((a, b) => a - b);
    const [first, second] = [program[low ?? 0], program[high ?? 0]];
    if (first === undefined || second === undefined || first === second || first.kind === "Group") continue;
    const options =
      as === "dependsOn"
        ? { ...second.options, dependsOn: [first.name] }
        : { ...second.options, deletedWith: first.name };
    program[high ?? 0] = { ...second, options };
  }
  return program;
}

/** The explicit Providers of a history: of its computes, and of its auth. */
export interface Providers {
  /** `each`: both have some. */
  readonly computes: Options["provider"] | "each";
  readonly auth: Options["provider"];
}

/**
 * With the Provider of its like. Two Providers have two processes, which tell each other everything but what a plan
 * replaces, so one of them has all of the auth (docs/design/rules.md, 4).
 */
export function withProvider(one: Declared, { computes, auth }: Providers): Declared {
  const ofEach = one.name.length % 2 === 0 ? "first" : "second";
  const ofComputes = computes === "each" ? ofEach : computes;
  const provider = one.kind === "ComputeEndpoint" || one.kind === "ComputeGroup" ? ofComputes : auth;
  const hasOne = one.kind !== "Group" && one.kind !== "Foreign" && provider !== undefined;
  return hasOne ? { ...one, options: { ...one.options, provider } } : one;
}

/** Both cannot be there. A Whitelist and its domains, and a component and what it has in it, are refused by the plan. */
export function conflicts(one: Declared, two: Declared): boolean {
  const both = new Set([one.kind, two.kind]);
  if (both.has("Whitelist") && both.has("WhitelistDomain")) return true;
  if (both.has("ProjectAuth") && both.size === 2)
    return ["AuthIntegration", "OAuthProvider", "WhitelistDomain", "Whitelist", "EmailServer"].some((kind) =>
      both.has(kind as AnyKind),
    );
  return keyOf(one) === keyOf(two);
}

/** Nearly all of these would fail: what is in an integration needs one. */
export const lacksIntegration = ({ kind }: Declared, program: Program): boolean =>
  isOurs(kind) && KIND_CASES[kind].inIntegration && !program.some((one) => one.kind === "AuthIntegration");

const link = fc.record(
  {
    from: fc.nat({ max: 7 }),
    to: fc.nat({ max: 7 }),
    as: fc.constantFrom("dependsOn" as const, "dependsOn" as const, "deletedWith" as const),
  },
  PLAIN,
);

/** `components`: also both of ours, which the imitation of the engine does not know. */
export const programs = ({ components }: { readonly components: boolean }): fc.Arbitrary<Program> =>
  fc
    .tuple(
      // With an integration in most of them: six kinds need one.
      fc.oneof(
        { weight: 3, arbitrary: fc.tuple(draw(fc.constant<AnyKind>("AuthIntegration"))) },
        { weight: 1, arbitrary: fc.constant([]) },
      ),
      fc.array(draw(components ? withComponents : kinds), { minLength: 1, maxLength: 7 }),
      fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.tuple(draw(fc.constant<AnyKind>("Group"))) },
      ),
      fc.array(link, { maxLength: 2 }),
    )
    .map(([auth, others, group, links]) => programOf([...auth, ...others, ...group].slice(0, 8), links));

/** One more resource for a program. */
export const additions = ({ components }: { readonly components: boolean }): fc.Arbitrary<Declared> =>
  draw(components ? withComponents : kinds).map((drawn) => declared(drawn, `more${drawn.seed % 3}`, []));
