import { isSecret } from "./engineSecrets";
import type { Properties } from "./hiddenKeys";
import { ownValue, type Segment, segmentsOf } from "./propertyPath";

/**
 * The declared values, with the found value at each path of `ignoreChanges`. The engine compares this way, so what
 * still differs is what an update would change. As in the engine, a path that matches nothing, or an index beyond the
 * end of one of two lists, has no effect.
 */
export function withIgnoredChanges(declared: Properties, found: Properties, paths: readonly string[]): Properties {
  const leading = paths.map(segmentsOf).filter(({ length }) => length > 0);
  // Both are objects, so the result is an object.
  return leading.reduce((result, path) => taken(result, found, path) as Properties, declared);
}

function taken(declared: unknown, found: unknown, [segment, ...rest]: readonly Segment[]): unknown {
  if (segment === undefined) return found;
  // A path leads through a secret, if its value is there. A log of the engine has none.
  if (isSecret(declared) && isObject(declared) && "value" in declared)
    return { ...declared, value: taken(declared["value"], inside(found), [segment, ...rest]) };
  if (Array.isArray(declared) && Array.isArray(found)) {
    return declared.map((item: unknown, index) =>
      index < found.length && (segment === "*" || segment === index) ? taken(item, found[index], rest) : item,
    );
  }
  if (!isObject(declared) || !isObject(found) || typeof segment === "number") return declared;
  const keys = segment === "*" ? [...new Set([...Object.keys(declared), ...Object.keys(found)])] : [segment];
  const result = { ...declared };
  for (const key of keys) {
    const isFound = Object.hasOwn(found, key);
    if (rest.length > 0 && !(isFound && Object.hasOwn(declared, key))) continue;
    if (isFound) result[key] = taken(ownValue(declared, key), found[key], rest);
    else delete result[key];
  }
  return result;
}

const inside = (value: unknown): unknown => (isSecret(value) ? Reflect.get(Object(value), "value") : value);

/** A JSON object, not a list. */
export function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
