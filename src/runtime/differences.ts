/** Where two values of an argument differ, value by value, as the argument compares them. */
import type { ArgumentRules } from "../contract/declaration";
import { settingForm } from "../contract/forms";
import type { Properties } from "../contract/hiddenKeys";
import { ownValue, pathTo } from "../contract/propertyPath";
import { isReference } from "../contract/references";
import { isPlain, sameArgument, sameJson } from "./arguments";

export interface Difference {
  /** The keys that lead to it, below the argument, as `left` spells them. */
  readonly keys: readonly string[];
  readonly left: unknown;
  readonly right: unknown;
}

/** A value or a list is one place; each entry of an object is a place of its own. */
export function differencesOf(rule: ArgumentRules<unknown>, left: unknown, right: unknown): Difference[] {
  if (sameArgument(rule, left, right)) return [];
  // The argument alone knows which values mean the same, and it compares whole values.
  return leaves(left, spelledAs(rule, left, right)).filter(
    (one) => !sameArgument(rule, withValueAt(left, one.keys, one.right), left),
  );
}

function leaves(left: unknown, right: unknown, keys: readonly string[] = []): Difference[] {
  if (!isObject(left) || !isObject(right)) return sameJson(left, right) ? [] : [{ keys, left, right }];
  const all = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...all].flatMap((key) => leaves(ownValue(left, key), ownValue(right, key), [...keys, key]));
}

export const isObject = (value: unknown): value is Properties => isPlain(value) && !isReference(value);

/** A value with the keys of another one, wherever the argument takes both spellings of a key for one name. */
export function spelledAs(rule: ArgumentRules<unknown>, model: unknown, value: unknown): unknown {
  const respelled = (inModel: unknown, part: unknown, keys: readonly string[]): unknown => {
    if (!isObject(inModel) || !isObject(part)) return part;
    const isFree = (key: string): boolean => !Object.hasOwn(part, key);
    const entries = Object.entries(part).map(([key, one]) => {
      const other = Object.keys(inModel).find((name) => isFree(name) && settingForm(name) === settingForm(key));
      const isSame =
        other !== undefined &&
        !Object.hasOwn(inModel, key) &&
        sameArgument(rule, value, withValueAt(withValueAt(value, [...keys, key], undefined), [...keys, other], one));
      const name = isSame ? other : key;
      return [name, respelled(ownValue(inModel, name), one, [...keys, key])];
    });
    return Object.fromEntries(entries);
  };
  return respelled(model, value, []);
}

export const valueAt = (value: unknown, keys: readonly string[]): unknown => keys.reduce<unknown>(ownValue, value);

/** A copy with another value in this place; `undefined` removes it. */
export function withValueAt(whole: unknown, [key, ...inner]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const properties = isPlain(whole) ? whole : {};
  const { [key]: _before, ...others } = properties;
  const next = withValueAt(ownValue(properties, key), inner, value);
  return next === undefined ? others : { ...properties, [key]: next };
}

/** In the notation of `ignoreChanges`. */
export const pathOf = (argument: string, keys: readonly string[]): string =>
  keys.reduce((path, key) => pathTo(path, key), argument);
