import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { ArgumentRules } from "../contract/declaration";
import { DEEPEST, isDeeperThan, oneLine } from "../contract/untrusted";
import { type Properties, clean, isUnknown, containsUnknown } from "../contract/hiddenKeys";

/** An argument at the provider's side: the rules of its declaration, and its schema. */
export interface ArgumentSpec<T> extends ArgumentRules<T> {
  /** Checks and normalises a known value. It adds no default: an omitted argument is not managed. */
  readonly schema: z.ZodType<T>;
}

export type ArgumentSpecs<Args extends object> = {
  readonly [Name in keyof Required<Args>]: ArgumentSpec<Required<Args>[Name]>;
};

/** The rules of a declaration or of specs, without schemas. */
export type Rules = Readonly<Record<string, ArgumentRules<unknown>>>;

/** The schemas without rules. */
export type SchemasOf<Args extends object> = {
  readonly [Name in keyof Required<Args>]: z.ZodType<Required<Args>[Name]>;
};

/** A problem with an input, in plain words. It contains no string value, which may be a secret. */
export interface Problem {
  /** The path: `size.min`, `settings.pgSettings`. */
  readonly path: string;
  readonly reason: string;
  /**
   * The value is not in a list of this version, which the service may have extended. A setting turns it into a warning.
   */
  readonly unlisted?: boolean;
}

/**
 * Path and reason as one text. The property must not be reported to the engine separately (docs/design/engine.md,
 * Errors).
 */
export function problemText({ path, reason }: Problem): string {
  return path === "" ? reason : `${shownPath(path)}: ${reason}`;
}

const LONGEST_PATH = 200;

/** A program (or a transformation) may use any property name; the text is one line. */
export function shownPath(path: string): string {
  const line = oneLine(path.slice(0, LONGEST_PATH));
  return path.length > LONGEST_PATH ? `${line}…` : line;
}

/** Checks and normalises each given argument. Unknown values pass unchanged. */
export function checkArguments<Args extends object>(
  kind: string,
  specs: ArgumentSpecs<Args>,
  args: Properties,
): { args: Properties; problems: Problem[] } {
  const checked: Properties = {};
  const problems: Problem[] = [];
  for (const [name, value] of Object.entries(args)) {
    const spec = specOf(specs, name);
    if (spec === undefined) {
      problems.push({
        path: name,
        reason: `is not an argument of ${kind}. If the program does not set it, a stack transformation or a transform adds it: exclude the resources of this package there`,
      });
      continue;
    }
    if (isDeeperThan(DEEPEST, value)) {
      problems.push({ path: name, reason: `must not be nested deeper than ${DEEPEST} levels` });
      continue;
    }
    const result = checkValue(spec.schema, value, name);
    checked[name] = result.value;
    problems.push(...result.problems);
  }
  for (const [name, spec] of specEntries(specs)) {
    if (spec.required === true && args[name] === undefined) problems.push({ path: name, reason: "is required" });
  }
  return { args: checked, problems };
}

/** Each entry is an `ArgumentSpec` of its own type; used here for values of unknown type. */
export function specEntries<Args extends object>(
  specs: ArgumentSpecs<Args>,
): [keyof Args & string, ArgumentSpec<unknown>][] {
  return Object.entries(specs) as [keyof Args & string, ArgumentSpec<unknown>][];
}

export function specOf<Args extends object>(
  specs: ArgumentSpecs<Args>,
  name: string,
): ArgumentSpec<unknown> | undefined {
  return specEntries(specs).find(([key]) => key === name)?.[1];
}

export function ruleOf(rules: Rules, name: string): ArgumentRules<unknown> | undefined {
  return Object.hasOwn(rules, name) ? rules[name] : undefined;
}

function checkValue(schema: z.ZodType, value: unknown, name: string): { value: unknown; problems: Problem[] } {
  if (isUnknown(value)) return { value, problems: [] };
  const parsed = schema.safeParse(value);
  const partlyKnown = containsUnknown(value);
  if (parsed.success) return { value: partlyKnown ? value : parsed.data, problems: [] };
  const issues = parsed.error.issues.filter(
    (issue) => !partlyKnown || isUnknownName(issue) || !touchesUnknown(value, issue.path),
  );
  const problems = issues.map((issue) => ({
    path: pathText([name, ...issue.path]),
    reason: issue.message,
    ...(hasParameter(issue, "unlisted") && { unlisted: true }),
  }));
  return { value, problems };
}

/** An issue at a node that is, or contains, an unknown value is not an issue yet. */
function touchesUnknown(value: unknown, path: readonly PropertyKey[]): boolean {
  let node = value;
  for (const key of path) {
    if (isUnknown(node)) return true;
    // Zod walked this path, so each step but the last is an object or an array.
    node = typeof node === "object" && node !== null ? (node as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return containsUnknown(node);
}

/** Marks an issue with a property's name, which holds for any value. */
export const UNKNOWN_NAME = { unknownName: true } as const;

function isUnknownName(issue: z.core.$ZodIssue): boolean {
  return hasParameter(issue, "unknownName");
}

/** Marks an issue with a well-formed value that is not in a list of this version: see `Problem`. */
export const UNLISTED = { unlisted: true } as const;

function hasParameter(issue: z.core.$ZodIssue, name: string): boolean {
  return issue.code === "custom" && issue.params?.[name] === true;
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) =>
      typeof key === "number" ? `[${key}]` : key === "" ? '[""]' : `${index > 0 ? "." : ""}${String(key)}`,
    )
    .join("");
}

/**
 * Whether a value has a type that the argument allows. A service may show values that no program can declare, so this
 * checks less than the schema. For a union whose member must be chosen first, it accepts any value.
 */
export function isOfType(schema: z.core.$ZodType, value: unknown): boolean {
  // All argument schemas use zod's own classes.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "string":
    case "enum":
      return typeof value === "string";
    case "number":
    case "boolean":
      return typeof value === def.type;
    case "array":
      return Array.isArray(value) && value.every((one) => isOfType(def.element, one));
    case "record":
      return isPlain(value) && Object.values(value).every((one) => isOfType(def.valueType, one));
    case "object":
      return (
        isPlain(value) &&
        Object.entries(value).every(([key, one]) => {
          const inner = Object.hasOwn(def.shape, key) ? def.shape[key] : undefined;
          return inner === undefined || isOfType(inner, one);
        })
      );
    case "union":
      return def.options.some((one) => isOfType(one, value));
    case "optional":
      return isOfType(def.innerType, value);
    case "pipe":
      return isOfType(def.in, value);
    default:
      return true;
  }
}

/** A plain object. */
export function isPlain(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether two values of an argument mean the same. Both may be absent. */
export function sameArgument(spec: ArgumentRules<unknown>, left: unknown, right: unknown): boolean {
  const [a, b] = [left ?? spec.assumed, right ?? spec.assumed];
  if (a === undefined || b === undefined) return a === b;
  return sameJson(spec.form?.(a) ?? a, spec.form?.(b) ?? b);
}

export interface Changes<Args> {
  /** Given with a value other than the stored one. */
  readonly changed: ReadonlySet<keyof Args & string>;
  /** Removed from the program: no longer managed. */
  readonly dropped: ReadonlySet<keyof Args & string>;
  /** Managed from now on, with the stored value. The service may have another by now, so an update checks. */
  readonly added: ReadonlySet<keyof Args & string>;
  /** The paths of `ignoreChanges` (runtime/ignored.ts). */
  readonly ignored: readonly string[];
}

export interface Comparison<Args> extends Changes<Args> {
  readonly replaces: ReadonlySet<keyof Args & string>;
}

/**
 * What the program's arguments change in an object. An omitted argument is no difference unless its spec says that
 * omitting it unsets it. Old values come from the outs, whose copy of an argument holds what a refresh found.
 */
export function compare<Args extends object>(
  specs: ArgumentSpecs<Args>,
  {
    outs,
    managed,
    news,
    ignored = [],
  }: { outs: Properties; managed: ReadonlySet<string>; news: Properties; ignored?: readonly string[] },
): Comparison<Args> {
  const found = specEntries(specs).map(
    ([name, spec]) =>
      [name, changeOf(spec, { was: outs[name], now: news[name], isManaged: managed.has(name) })] as const,
  );
  const of = (...changes: readonly Change[]) =>
    new Set(found.flatMap(([name, change]) => (change !== undefined && changes.includes(change) ? [name] : [])));
  return {
    changed: of("changed", "replaces"),
    replaces: of("replaces"),
    dropped: of("dropped"),
    added: of("added"),
    ignored,
  };
}

/** What a program changes in one argument. */
type Change = "changed" | "replaces" | "dropped" | "added";

function changeOf(
  spec: ArgumentSpec<unknown>,
  { was, now, isManaged }: { was: unknown; now: unknown; isManaged: boolean },
): Change | undefined {
  const isGiven = now !== undefined;
  if (spec.createOnly === true || (!isGiven && !isManaged && spec.unset === undefined)) return undefined;
  if (containsUnknown(now)) return spec.container !== undefined && isUnknown(now) ? "replaces" : "changed";
  if (!isGiven && spec.unset !== undefined) {
    if (was === undefined) return undefined;
    return spec.unset === "replace" ? "replaces" : "changed";
  }
  if (!isGiven && spec.assumed === undefined) return "dropped";
  const isUnknownAtService = spec.unreadable === true && !isManaged && was === undefined;
  if (!isUnknownAtService && !sameArgument(spec, was, now)) return spec.replaces === undefined ? "changed" : "replaces";
  if (!isGiven) return "dropped";
  return isManaged ? undefined : "added";
}

/** Equal as JSON: key order is ignored, and an absent key equals `undefined`. */
export function sameJson(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(clean({ value: left }), clean({ value: right }));
}
