import type { Changes } from "./lifecycle";
import type { Properties } from "../contract/hiddenKeys";
import { sameArgument, specEntries, type ArgumentSpecs } from "./shape";
import { containsUnknown, isUnknown } from "../contract/unknowns";

export interface Comparison<Args> extends Changes<Args> {
  readonly replaces: ReadonlySet<keyof Args & string>;
}

/**
 * What the program's arguments change in an object. Only managed arguments count: what the program leaves out is never
 * a difference, unless its spec says that leaving it out unsets it. Old values come from the outs, whose echo of an argument holds what a refresh found.
 */
export function compare<Args extends object>(
  specs: ArgumentSpecs<Args>,
  outs: Properties,
  managed: ReadonlySet<string>,
  news: Properties,
): Comparison<Args> {
  type Name = keyof Args & string;
  const changed = new Set<Name>();
  const dropped = new Set<Name>();
  const added = new Set<Name>();
  const replaces = new Set<Name>();
  for (const [key, spec] of specEntries(specs)) {
    if (spec.createOnly === true) continue;
    const given = news[key] !== undefined;
    if (!given && !managed.has(key) && spec.unset === undefined) continue;
    if (containsUnknown(news[key])) {
      changed.add(key);
      if (spec.replaces === "container" && isUnknown(news[key])) replaces.add(key);
      continue;
    }
    if (!given && spec.unset !== undefined) {
      if (outs[key] === undefined) continue;
      changed.add(key);
      if (spec.unset === "replace") replaces.add(key);
      continue;
    }
    if (!given && spec.assumed === undefined) {
      dropped.add(key);
      continue;
    }
    const unseen = spec.unreadable === true && !managed.has(key) && outs[key] === undefined;
    if (unseen || sameArgument(spec, outs[key], news[key])) {
      if (!given) dropped.add(key);
      else if (!managed.has(key)) added.add(key);
      continue;
    }
    changed.add(key);
    if (spec.replaces !== undefined && spec.replaces !== false) replaces.add(key);
  }
  return { changed, dropped, added, replaces };
}

export function isEmpty<Args>({ changed, dropped, added }: Comparison<Args>): boolean {
  return changed.size === 0 && dropped.size === 0 && added.size === 0;
}
