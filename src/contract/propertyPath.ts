/** Property paths as the engine writes them and accepts them in `ignoreChanges`. */
import { isDeepStrictEqual } from "node:util";
import { isSecret } from "./engineSecrets";

export type Segment = string | number;

/** Splits `settings.pgSettings["app.token"]` or `domains[0]`; `*` matches every key or index. */
export function segmentsOf(path: string): Segment[] {
  const parts = path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\[(\*)\]|([^.[\]]+)/g);
  return [...parts].map(([, quoted, index, every, name = ""]) => {
    if (index !== undefined) return Number(index);
    return quoted?.replace(/\\(.)/g, "$1") ?? every ?? name;
  });
}

/** Whether a path of `ignoreChanges` is this path or contains it. */
export function leadsTo(path: string, segments: readonly string[]): boolean {
  const leading = segmentsOf(path);
  return (
    leading.length > 0 && leading.every((segment, index) => segment === "*" || String(segment) === segments[index])
  );
}

/** The path of a part, in the engine's notation. */
export function pathTo(parent: string, key: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(key)) return `${parent}["${key.replaceAll('"', String.raw`\"`)}"]`;
  return parent === "" ? key : `${parent}.${key}`;
}

/** What an object holds under a name that it may not have: every object answers to `constructor`. */
export const ownValue = (value: unknown, name: PropertyKey): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

export const valueAt = (path: string, whole: unknown): unknown => segmentsOf(path).reduce<unknown>(ownValue, whole);

/** The paths at which the engine's own comparison finds a difference, of a secret's mark too. */
export function differing(one: unknown, other: unknown, path = ""): string[] {
  const hasValue = [one, other].map((value) => value !== undefined && value !== null);
  if (!hasValue.includes(true)) return [];
  if (hasValue.includes(false)) return [path];
  if (isPlainObject(one) && isPlainObject(other))
    return keysOf(one, other).flatMap((key) => differing(ownValue(one, key), ownValue(other, key), pathTo(path, key)));
  if (Array.isArray(one) && Array.isArray(other))
    return keysOf(one, other).flatMap((key) => differing(one[Number(key)], other[Number(key)], `${path}[${key}]`));
  return isDeepStrictEqual(one, other) ? [] : [path];
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isSecret(value);

const keysOf = (one: object, other: object): string[] => [...new Set([...Object.keys(one), ...Object.keys(other)])];
