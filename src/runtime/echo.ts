import type { ArgumentRules } from "../contract/declaration";
import type { Properties } from "../contract/hiddenKeys";
import { sameArgument, specOf, type ArgumentSpecs } from "./arguments";
import { differencesOf, withValueAt } from "./differences";

/**
 * The arguments that a read returns, as the service shows them: those that the program gives, and those that it
 * declares unset by omitting them but that are set. If nothing is declared (`get`), all. An argument that cannot be
 * read back keeps its stored value; one that is not set is `undefined`.
 */
export function echoOf<Args extends object>(
  specs: ArgumentSpecs<Args>,
  { managed, stored, observed }: { managed: readonly string[] | undefined; stored: Properties; observed: Properties },
): Properties {
  const found = Object.keys(observed).filter((name) => observed[name] !== undefined);
  const names = managed?.concat(found.filter((name) => specOf(specs, name)?.unset !== undefined)) ?? found;
  const echo: Properties = {};
  for (const name of names) {
    const spec = specOf(specs, name);
    const before = stored[name];
    const now = Object.hasOwn(observed, name) ? observed[name] : before;
    echo[name] = spec === undefined || before === undefined ? now : inSpellingOf(spec, before, now);
  }
  return echo;
}

/** The program's spelling stays while both mean the same, also of a part of a value that differs elsewhere. */
function inSpellingOf(rule: ArgumentRules<unknown>, before: unknown, now: unknown): unknown {
  if (sameArgument(rule, before, now)) return before;
  const parts = differencesOf(rule, before, now);
  // The value of before with what differs: all else means the same.
  return parts.some(({ keys }) => keys.length === 0)
    ? now
    : parts.reduce((whole, { keys, right }) => withValueAt(whole, keys, right), before);
}
