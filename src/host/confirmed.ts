/** Whether the service shows what was sent: only then a change is done (docs/design/rules.md, 1). */
import type { Properties } from "../contract/hiddenKeys";
import { ruleOf, sameArgument, type Rules } from "./arguments";
import type { Call } from "./lifecycle";

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

type Waiting = Pick<Call<never>, "deadline" | "onProgress">;

/** What the service shows of one object: as it was answered first, and in its list, which may be out of date. */
interface Showing<Item> {
  readonly first: Item;
  readonly collection: {
    pollWithinLag(select: (items: readonly Item[]) => true | undefined, options: Waiting): Promise<true | undefined>;
  };
  readonly matches: (item: Item) => boolean;
  readonly isShown: (item: Item) => boolean;
}

/** Waits, for as long as a list may lag, until the service shows what was sent. Returns what it has shown last. */
export async function untilShown<Item>(
  options: Waiting,
  { first, collection, matches, isShown }: Showing<Item>,
): Promise<Item> {
  let last = first;
  if (isShown(last)) return last;
  await collection.pollWithinLag((listed) => {
    last = listed.find(matches) ?? last;
    return isShown(last) || undefined;
  }, options);
  return last;
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
