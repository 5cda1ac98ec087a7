/** Whether the service shows what was sent: only then a change is done (docs/design/rules.md, 1). */
import type { Properties } from "../contract/hiddenKeys";
import { ruleOf, sameArgument, type Rules } from "./arguments";

interface Exchange {
  /** Arguments by their names. */
  readonly sent: object;
  /** The same as the service shows them, without those that cannot be read back. */
  readonly shown: object;
}

/**
 * The names of the arguments that the service does not show with the value that was sent. `proof`: an argument whose value
 * is not shown counts too, since that proves nothing.
 */
export function unconfirmed(
  rules: Rules,
  { sent, shown, proof = false }: Exchange & { readonly proof?: boolean },
): string[] {
  const values = shown as Properties;
  return Object.entries(sent).flatMap(([name, value]) => {
    const rule = ruleOf(rules, name);
    if (rule === undefined || rule.createOnly === true || value === undefined || !Object.hasOwn(values, name))
      return [];
    if (values[name] === undefined) return proof ? [name] : [];
    return sameArgument(rule, value, values[name]) ? [] : [name];
  });
}

/**
 * Call it once operations have ended and lists have had their time. `checkpoint` gets the values that are shown instead, for the state.
 * @throws when the service shows something else than it accepted.
 */
export function requireConfirmed(
  rules: Rules,
  { sent, shown }: Exchange,
  checkpoint: (shown: Properties) => void,
): void {
  const names = unconfirmed(rules, { sent, shown });
  if (names.length === 0) return;
  checkpoint(Object.fromEntries(Object.entries(shown).filter(([name]) => names.includes(name))));
  throw shownDifferently(names);
}

export function shownDifferently(names: readonly string[]): Error {
  const quoted = names.map((name) => `"${name}"`).join(" and ");
  return new Error(`the service accepted it, but shows another ${quoted}`);
}
