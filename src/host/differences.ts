/** Where two values of an argument differ, value by value, as the argument compares them. */
import type { ArgumentRules } from "../contract/declaration";
import type { Properties } from "../contract/hiddenKeys";
import { pathTo } from "../contract/propertyPath";
import { isReference } from "../contract/references";
import { isPlain, sameArgument, sameJson } from "./arguments";

export interface Difference {
  /** The keys that lead to it, below the argument. */
  readonly keys: readonly string[];
  readonly left: unknown;
  readonly right: unknown;
}

/** A value or a list is one place; each entry of an object is a place of its own. */
export function differencesOf(rule: ArgumentRules<unknown>, left: unknown, right: unknown): Difference[] {
  if (sameArgument(rule, left, right)) return [];
  // The argument alone knows which values mean the same, and it compares whole values.
  return leaves(left, right).filter((one) => !sameArgument(rule, withValueAt(left, one.keys, one.right), left));
}

function leaves(left: unknown, right: unknown, keys: readonly string[] = []): Difference[] {
  if (!isObject(left) || !isObject(right)) return sameJson(left, right) ? [] : [{ keys, left, right }];
  const all = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...all].flatMap((key) => leaves(left[key], right[key], [...keys, key]));
}

const isObject = (value: unknown): value is Properties => isPlain(value) && !isReference(value);

export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((inner, key) => (isPlain(inner) ? inner[key] : undefined), value);
}

/** A copy with another value in this place; `undefined` removes it. */
export function withValueAt(whole: unknown, [key, ...inner]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const properties = isPlain(whole) ? whole : {};
  const { [key]: before, ...others } = properties;
  const next = withValueAt(before, inner, value);
  return next === undefined ? others : { ...properties, [key]: next };
}

/** In the notation of `ignoreChanges`. */
export const pathOf = (argument: string, keys: readonly string[]): string =>
  keys.reduce((path, key) => pathTo(path, key), argument);
