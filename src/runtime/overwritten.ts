/**
 * What a request sets beside what has changed (docs/design/rules.md, 5): a plan names it. A request that replaces a whole object
 * also sets what the program has not changed, and clears what the program does not list.
 */
import { isReference } from "../contract/references";
import { listed } from "../contract/untrusted";
import { ruleOf, type Rules, sameArgument } from "./arguments";
import { differencesOf, isObject, pathOf, spelledAs, valueAt, type Difference } from "./differences";
import type { Finding } from "./lifecycle";
import { effect } from "./lookAhead";

interface Request {
  /** The arguments that it sends, with the values of references. */
  readonly sent: object;
  /** The names of those that it unsets by leaving them out. @default none */
  readonly unset?: readonly string[];
  /** The names of those that the service has, whether or not it shows them. @default none */
  readonly present?: readonly string[];
  /** The names of those that the plan changes. */
  readonly changed: ReadonlySet<string>;
  /** The arguments as the state has them. */
  readonly stored: object;
  /** The arguments as the service shows them now. */
  readonly shown: object;
}

export interface Overwritten {
  /** The service has another value than the state, and gets that of the program. */
  readonly replaced: readonly string[];
  /** The service has it, and neither the program nor the state has. */
  readonly cleared: readonly string[];
  /** Arguments that are sent along, and that the service does not show. */
  readonly unseen: readonly string[];
}

/** By path: what the plan does not show as a change from the value that it overwrites. */
export function overwritten(
  rules: Rules,
  { sent, unset = [], present = [], changed, stored, shown }: Request,
): Overwritten {
  const found = Object.entries(sent).map(([name, value]: [string, unknown]) => {
    const rule = ruleOf(rules, name);
    const isChanged = changed.has(name);
    if (rule === undefined || value === undefined || rule.local === true || rule.createOnly === true) return {};
    const [before, now]: unknown[] = [stored, shown].map((all) => spelledAs(rule, value, Reflect.get(all, name)));
    // Of an object the plan shows what changes in it, and not what else goes.
    if (now === undefined) return { unseen: isChanged && !isObject(value) ? [] : [name] };
    const drift = new Set(differencesOf(rule, before, now).map(({ keys }) => pathOf(name, keys)));
    const isUnseen = (path: string, { keys, right }: Difference): boolean => {
      const held = valueAt(before, keys);
      // The plan compares the value behind a reference with the one that was applied last.
      if (isReference(held)) return !isChanged;
      return held === undefined ? right !== undefined : drift.has(path);
    };
    const differences = differencesOf(rule, value, now).map((one) => ({ ...one, path: pathOf(name, one.keys) }));
    const cleared = differences.map((one) => clearedAt(one, valueAt(before, one.keys)));
    return {
      // A list of which items go is named by these.
      replaced: differences.flatMap(({ path, ...one }, index) =>
        one.left !== undefined && cleared[index]?.length === 0 && isUnseen(path, one) ? [`"${path}"`] : [],
      ),
      cleared: cleared.flat(),
    };
  });
  // Of those that it unsets the plan shows the value of the state, or that there is one behind a reference.
  const others = unset.filter((name) => {
    const [before, now]: unknown[] = [stored, shown].map((all) => Reflect.get(all, name));
    const rule = ruleOf(rules, name);
    if (now === undefined) return before === undefined && present.includes(name);
    return rule !== undefined && !isReference(before) && !sameArgument(rule, before, now);
  });
  return {
    replaced: found.flatMap(({ replaced = [] }) => replaced),
    cleared: [...found.flatMap(({ cleared = [] }) => cleared), ...others.map((name) => `"${name}"`)],
    unseen: found.flatMap(({ unseen = [] }) => unseen.map((name) => `"${name}"`)),
  };
}

/** Of a list, its items; of an object, its entries. */
function clearedAt({ path, left, right }: Difference & { readonly path: string }, held: unknown): string[] {
  if (left === undefined) return held === undefined ? [`"${path}"`] : [];
  if (!Array.isArray(left) || !Array.isArray(right)) return [];
  const known: readonly unknown[] = Array.isArray(held) ? [...left, ...held] : left;
  return right.filter((item) => !known.includes(item)).map((item) => `"${String(item)}" in "${path}"`);
}

const MOST_NAMED = 20;

export const overwriteFindings = (what: string, { replaced, cleared, unseen }: Overwritten): Finding[] =>
  [
    cleared.length > 0 && `pulumi up clears ${named(cleared)} of ${what}: the program does not list ${them(cleared)}`,
    replaced.length > 0 &&
      `pulumi up overwrites ${named(replaced)} of ${what}: the service has another value there than the state`,
    unseen.length > 0 &&
      `pulumi up also sets ${named(unseen)} of ${what}, because it sends all of it. The service does not show the value that it has: one that was set by hand is lost`,
  ].flatMap((text) => (text === false ? [] : [effect(text)]));

/** What an update has overwritten or cleared so, for its line: somebody may have set it after the plan. */
export function overwriteNote(what: string, { replaced, cleared }: Overwritten): string | undefined {
  if (replaced.length + cleared.length === 0) return undefined;
  const did = [
    ...(replaced.length > 0
      ? [`${named(replaced)} had another value at the service than in the state, and was overwritten`]
      : []),
    ...(cleared.length > 0 ? [`${named(cleared)} was set at the service, and was cleared`] : []),
  ];
  return `${what}: ${did.join("; ")}`;
}

const them = ({ length }: readonly string[]): string => (length === 1 ? "it" : "them");
const named = (paths: readonly string[]): string => listed([...paths].sort(), MOST_NAMED);
