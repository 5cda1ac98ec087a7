/** Whether the service shows what was sent: only then is a change done (docs/design/rules.md, 1). */
import type { Expected } from "../client";
import type { Properties } from "../contract/hiddenKeys";
import { ruleOf, sameArgument, type Rules } from "./arguments";
import type { Stored } from "./lifecycle";

interface Exchange {
  /** Arguments by name. */
  readonly sent: object;
  /** The same arguments as the service shows them, without those that cannot be read back. */
  readonly shown: object;
}

/**
 * The names of the arguments that the service does not show with the value that was sent. `proof`: an argument whose
 * value is not shown counts too, since a hidden value proves nothing.
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
  /** Arguments by name. */
  readonly sent: object;
  /** The arguments that an object shows. Arguments that it does not show are left out. */
  readonly argumentsOf: (item: Item) => object;
  /**
   * Receives the values that the service shows instead of those that were sent, for the state, before the error is
   * thrown.
   */
  readonly checkpoint?: (shown: Properties, item: Item) => void;
}

/** What a change sends, for the collection, which waits until the service shows it. */
export const expectedOf = <Item>(rules: Rules, { sent, argumentsOf, checkpoint }: Sent<Item>): Expected<Item> => ({
  differing: (item, _response, proof = false) => unconfirmed(rules, { sent, shown: argumentsOf(item), proof }),
  onOther(item, names) {
    const shown = Object.entries(argumentsOf(item)).filter(([name]) => names.includes(name));
    checkpoint?.(Object.fromEntries(shown), item);
  },
});

/** Whether an earlier unfinished change had sent the argument, so that the service may lack it. */
export const mayBeOpen = (
  { unfinished, sent }: Pick<Stored<object, object>, "unfinished" | "sent">,
  name: string,
): boolean => unfinished !== false && (sent?.has(name) ?? true);
