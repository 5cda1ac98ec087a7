import type { Properties } from "../../contract/hiddenKeys";
import { type Segment, segmentsOf } from "../../contract/propertyPath";

/**
 * What is declared, with the found value wherever a path of `ignoreChanges` leads to: that is how the engine compares, so
 * what still differs is what an update would change. A path that leads nowhere, or beyond the end of one of two lists, counts
 * for nothing, as with the engine.
 */
export function withIgnoredChanges(declared: Properties, found: Properties, paths: readonly string[]): Properties {
  const leading = paths.map(segmentsOf).filter(({ length }) => length > 0);
  // Both are objects, and so is what comes of them.
  return leading.reduce((result, path) => taken(result, found, path) as Properties, declared);
}

function taken(declared: unknown, found: unknown, [segment, ...rest]: readonly Segment[]): unknown {
  if (segment === undefined) return found;
  if (Array.isArray(declared) && Array.isArray(found)) {
    return declared.map((item: unknown, index) =>
      index < found.length && (segment === "*" || segment === index) ? taken(item, found[index], rest) : item,
    );
  }
  if (!isObject(declared) || !isObject(found) || typeof segment === "number") return declared;
  const keys = segment === "*" ? [...new Set([...Object.keys(declared), ...Object.keys(found)])] : [segment];
  const result = { ...declared };
  for (const key of keys) {
    const isThere = key in declared && key in found;
    if (rest.length > 0 && !isThere) continue;
    if (key in found) result[key] = taken(declared[key], found[key], rest);
    else delete result[key];
  }
  return result;
}

/** An object of JSON, no list. */
export function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
