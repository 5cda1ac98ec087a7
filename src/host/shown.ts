/** Done means shown: what the service shows of what was sent (docs/design/rules.md, 1). */
import type { Properties } from "../contract/hiddenKeys";
import { sameArgument, specOf, type ArgumentSpecs } from "./arguments";

/**
 * The names of given arguments that the service does not show with the value that was sent. What cannot be read
 * back is none of `shown`. `proof`: an argument that is not shown at all counts too, since that proves nothing.
 */
export function notShown<Args extends object>(
  specs: ArgumentSpecs<Args>,
  sent: object,
  shown: object,
  { proof = false } = {},
): string[] {
  const values = shown as Properties;
  return Object.entries(sent).flatMap(([name, value]) => {
    const spec = specOf(specs, name);
    if (spec === undefined || spec.createOnly === true || value === undefined || !Object.hasOwn(values, name))
      return [];
    if (values[name] === undefined) return proof ? [name] : [];
    return sameArgument(spec, value, values[name]) ? [] : [name];
  });
}

/**
 * Call it once operations have ended and lists have had their time. `keep` takes what is shown otherwise, for the state.
 * @throws when the service shows something else than it accepted.
 */
export function requireShown<Args extends object>(
  specs: ArgumentSpecs<Args>,
  sent: object,
  shown: object,
  keep: (shown: Properties) => void,
): void {
  const names = notShown(specs, sent, shown);
  if (names.length === 0) return;
  keep(Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name))));
  throw shownOtherwise(names);
}

export function shownOtherwise(names: readonly string[]): Error {
  const quoted = names.map((name) => `"${name}"`).join(" and ");
  return new Error(`the service accepted it, but shows another ${quoted}`);
}
