/** What differs between two sets of properties. What `differences`, `shown` and `masked` return holds no secret. */
import { isSecret } from "../../contract/engineSecrets";
import type { Properties } from "../../contract/hiddenKeys";
import { isObject } from "../../contract/ignoredChanges";
import { ownValue, pathTo } from "../../contract/propertyPath";
import { isReference, referenceProblem } from "../../contract/references";
import { mayBeSecret } from "../../contract/secretNames";
import { isStandIn, STAND_INS } from "../../contract/standIns";
import { sameJson } from "../../host/arguments";
import { compareText } from "../output";
import { type Property, SECRET } from "./report";

/** Replaces each secret by a placeholder; one at a path that differs, by the text for another value. */
export function masked(value: Properties, differing: readonly string[], path = ""): Properties {
  const one = (inner: unknown, at: string): unknown => {
    if (isSecret(inner)) return isAtOrBelow(differing, at) ? STAND_INS.otherValue : SECRET;
    if (Array.isArray(inner)) return inner.map((item, index) => one(item, `${at}[${index}]`));
    return isObject(inner) ? masked(inner, differing, at) : inner;
  };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, one(inner, pathTo(path, key))]));
}

/** Whether one of these paths is that of `top`, or of something in it. */
export const isAtOrBelow = (paths: readonly string[], top: string): boolean =>
  paths.some((one) => one === top || one.startsWith(`${top}.`) || one.startsWith(`${top}[`));

/**
 * The declared values with the found value at these paths. They may contain keys that `ignoreChanges` cannot express.
 */
export function withFound(declared: Properties, found: Properties, paths: readonly string[], above = ""): Properties {
  const keys = [...new Set([...Object.keys(declared), ...Object.keys(found)])];
  const entries = keys.map((key) => {
    const [path, one, other] = [pathTo(above, key), ownValue(declared, key), ownValue(found, key)];
    if (paths.includes(path)) return [key, other];
    return [key, isObject(one) && isObject(other) ? withFound(one, other, paths, path) : one];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Properties;
}

/** By the paths of the differences; a list counts as one value. */
export function differences(declared: Properties, found: Properties, differing: readonly string[]): Property[] {
  const walk = (one: unknown, other: unknown, { path, name }: { path: string; name: string }): Property[] => {
    if (isSecret(one) || isSecret(other)) {
      return isAtOrBelow(differing, path) ? [{ path, declared: hidden(one), found: hidden(other) }] : [];
    }
    if (isObject(one) && isObject(other)) {
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      // Everything below a secret name is secret.
      const below = (key: string): string => (mayBeSecret(name, one) ? name : key);
      return keys.flatMap((key) =>
        walk(ownValue(one, key), ownValue(other, key), { path: pathTo(path, key), name: below(key) }),
      );
    }
    if (sameJson(one, other)) return [];
    return [{ path, declared: shown(one, name), found: shown(other, name) }];
  };
  return walk(declared, found, { path: "", name: "" }).toSorted((left, right) => compareText(left.path, right.path));
}

/** A value for a report: `null` if not set, without secrets at any depth. `name`: the value's key. */
export function shown(value: unknown, name = ""): Property["found"] {
  if (value === undefined || value === null) return null;
  if (isSecret(value) || (!isShown(value) && mayBeSecret(name, value))) return SECRET;
  if (Array.isArray(value)) return value.map((item) => shown(item, name));
  if (!isObject(value)) return value as string | number | boolean; // The remaining JSON types.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, key)]));
}

/** A placeholder for a current or former secret. A flag is not a secret. */
const hidden = (value: unknown): Property["found"] =>
  value === undefined || value === null || typeof value === "boolean" || isShown(value) ? shown(value) : SECRET;

/**
 * References, and the text for values that the service does not show. An invalid reference may be the secret itself by
 * mistake.
 */
const isShown = (value: unknown): boolean =>
  (isReference(value) && referenceProblem(value) === undefined) || isStandIn(value);
