/** Whether the service shows what was sent: only then a change is done (docs/design/rules.md, 1). */
import type { Expected } from "../client";
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

interface Sent<Item> {
  /** Arguments by their names. */
  readonly sent: object;
  /** The arguments that an object shows. One that it does not show at all is left out. */
  readonly argumentsOf: (item: Item) => object;
  /** Gets the values that the service shows in place of those that were sent, for the state, before the error is thrown. */
  readonly checkpoint?: (shown: Properties, item: Item) => void;
}

/** What a change sends, for the collection that waits until it is shown. */
export const expectedOf = <Item>(rules: Rules, { sent, argumentsOf, checkpoint }: Sent<Item>): Expected<Item> => ({
  differing: (item) => unconfirmed(rules, { sent, shown: argumentsOf(item) }),
  onOther(item, names) {
    const shown = Object.entries(argumentsOf(item)).filter(([name]) => names.includes(name));
    checkpoint?.(Object.fromEntries(shown), item);
  },
});
