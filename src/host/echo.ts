import type { Properties } from "../contract/hiddenKeys";
import { sameArgument, specOf, type ArgumentSpecs } from "./shape";

/**
 * The arguments that a read answers: those that the program gives, and those that it declares unset by leaving them out
 * and that are set all the same. All, where nobody declares anything (`get`).
 */
export function namesToEcho<Args extends object>(
  specs: ArgumentSpecs<Args>,
  managed: readonly string[] | undefined,
  observed: Properties,
): readonly string[] {
  const found = Object.keys(observed).filter((name) => observed[name] !== undefined);
  if (managed === undefined) return found;
  return [...new Set([...managed, ...found.filter((name) => specOf(specs, name)?.unset !== undefined)])];
}

/** These arguments as they stand at the service; one that cannot be read back keeps what is stored. */
export function echoOf<Args extends object>(
  specs: ArgumentSpecs<Args>,
  names: readonly string[],
  stored: Properties,
  observed: Properties,
): Properties {
  const echo: Properties = {};
  for (const name of names) {
    const spec = specOf(specs, name);
    const before = stored[name];
    const now = Object.hasOwn(observed, name) ? observed[name] : before;
    // The spelling of the program stays while it means the same.
    const value = spec !== undefined && before !== undefined && sameArgument(spec, before, now) ? before : now;
    if (value !== undefined) echo[name] = value;
  }
  return echo;
}

/** An argument that a refresh found unset must not be filled from an output of the same name. */
export function withoutUnset(props: Properties, names: readonly string[], echo: Properties): Properties {
  return Object.fromEntries(Object.entries(props).filter(([key]) => !names.includes(key) || echo[key] !== undefined));
}
