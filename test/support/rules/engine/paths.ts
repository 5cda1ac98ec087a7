/** Paths of the options `ignoreChanges` and `replaceOnChanges`, such as `size`, `*`, `settings.pgSettings`, `a[0].b`. */
import type { Properties } from "../../../../src/contract/hiddenKeys";
import { isSecret } from "../../../../src/contract/engineSecrets";

type Path = readonly string[];

export const parsed = (path: string): Path =>
  [...path.matchAll(/\["([^"]*)"\]|[^.[\]]+/g)].map(([part, quoted = part]) => quoted);

/** New inputs with the old values at the ignored paths. */
export function withoutIgnored(news: Properties, olds: Properties, ignored: readonly string[]): Properties {
  const inputs = structuredClone(news);
  for (const path of ignored) reset(olds, inputs, parsed(path));
  return inputs;
}

function reset(old: unknown, now: unknown, [key, ...rest]: Path): void {
  const [from, to] = [inside(old), inside(now)];
  if (key === undefined || to === undefined) return;
  if (rest.length > 0) {
    for (const one of key === "*" ? Object.keys(from ?? {}) : [key]) reset(from?.[one], to[one], rest);
    return;
  }
  // Elements of a list are exchanged, not added or removed.
  const isList = Array.isArray(to);
  for (const one of key === "*" ? Object.keys({ ...from, ...to }) : [key]) {
    if (from !== undefined && one in from && (!isList || one in to)) to[one] = from[one];
    else if (!isList) delete to[one];
  }
}

/** The properties of an object or a list, also of a secret one. */
function inside(value: unknown): Record<string, unknown> | undefined {
  const plain: unknown = isSecret(value) ? Reflect.get(Object(value), "value") : value;
  return typeof plain === "object" && plain !== null ? (plain as Record<string, unknown>) : undefined;
}

/** Whether a change of the argument is a change at one of the paths. */
export const isNamed = (argument: string, paths: readonly string[]): boolean =>
  paths.some((path) => ["*", argument].includes(parsed(path)[0] ?? ""));
