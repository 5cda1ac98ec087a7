/** Whether the service shows what was sent: only then is a change done (docs/design/rules.md, 1). */
import type { Expected } from "../client";
import type { ArgumentRules } from "../contract/declaration";
import type { Properties } from "../contract/hiddenKeys";
import { isReference } from "../contract/references";
import { isHarmless } from "../contract/secretNames";
import { isPlain, ruleOf, sameArgument, type Rules } from "./arguments";
import { differencesOf, pathOf, type Difference } from "./differences";
import { leftToService } from "./ignored";
import type { Stored } from "./lifecycle";

interface Exchange {
  /** Arguments by name. */
  readonly sent: object;
  /** The same arguments as the service shows them, without those that cannot be read back. */
  readonly shown: object;
  /** The paths of `ignoreChanges`: whatever the service shows there is right. @default none */
  readonly ignored?: readonly string[] | undefined;
}

/**
 * The names of the arguments that the service does not show with the value that was sent. `proof`: an argument whose
 * value is not shown counts too, since a hidden value proves nothing.
 */
export function unconfirmed(
  rules: Rules,
  { sent, shown, ignored = [], proof = false }: Exchange & { readonly proof?: boolean },
): string[] {
  const values = shown as Properties;
  const { args: wanted } = leftToService(rules, sent, { shown, ignored });
  return Object.entries(wanted).flatMap(([name, value]: [string, unknown]) => {
    const rule = ruleOf(rules, name);
    if (rule === undefined || rule.createOnly === true || value === undefined || !Object.hasOwn(values, name))
      return [];
    if (values[name] === undefined) return proof ? [name] : [];
    return sameArgument(rule, value, values[name]) ? [] : [name];
  });
}

interface Sent<Item> extends Pick<Exchange, "sent" | "ignored"> {
  /** The arguments that an object shows. Arguments that it does not show are left out. */
  readonly argumentsOf: (item: Item) => object;
  /** What the state holds, for an update. */
  readonly stored?: Stored<object, object> | undefined;
  /**
   * Receives the values that the service shows instead of those that were sent, for the state, before the error is
   * thrown.
   */
  readonly checkpoint?: (shown: Properties, item: Item) => void;
}

/** What a change sends, for the collection, which waits until the service shows it. */
export const expectedOf = <Item>(rules: Rules, { sent, ignored, argumentsOf, stored, checkpoint }: Sent<Item>) =>
  ({
    differing: (item: Item, _response: Item, proof = false) =>
      unconfirmed(rules, { sent, shown: argumentsOf(item), ignored, proof }),
    onOther(item: Item, names: readonly string[]) {
      const found = argumentsOf(item);
      const shown = Object.fromEntries(Object.entries(found).filter(([name]) => names.includes(name)));
      checkpoint?.(shown, item);
      // Its names are those of the arguments.
      const { args } = leftToService(rules, sent, { shown: found, ignored: ignored ?? [] });
      return {
        details: names.flatMap((name) => detailsOf(rules, name, { sent: args, shown })),
        isAgain: stored !== undefined && names.every((name) => isAgain(rules, name, { stored, shown })),
      };
    },
  }) satisfies Expected<Item>;

/** Whether the state holds what the service showed after an earlier change that had sent the argument, and it is this. */
function isAgain(
  rules: Rules,
  name: string,
  { stored, shown }: { readonly stored: Stored<object, object>; readonly shown: Properties },
): boolean {
  const rule = ruleOf(rules, name);
  const before: unknown = Reflect.get(stored.outs, name);
  return (
    rule !== undefined && mayBeOpen(stored, name) && before !== undefined && sameArgument(rule, before, shown[name])
  );
}

/** Which values of an argument differ, and how, as far as they can be shown. */
function detailsOf(rules: Rules, name: string, { sent, shown }: Pick<Exchange, "sent" | "shown">): string[] {
  const rule = ruleOf(rules, name);
  const [left, right]: unknown[] = [Reflect.get(sent, name), Reflect.get(shown, name)];
  return rule === undefined ? [] : differencesOf(rule, left, right).flatMap((one) => textOf(rule, name, one));
}

function textOf(rule: ArgumentRules<unknown>, name: string, { keys, left, right }: Difference): string[] {
  const path = `"${pathOf(name, keys)}"`;
  const isShown = rule.secret !== true && mayBeShown(left) && mayBeShown(right);
  const [was, now] = [left, right].map((value) => (isShown ? JSON.stringify(value) : "a value that is not shown here"));
  if (left === undefined) return [`${path} is ${now}, and the program does not list it`];
  if (right === undefined) return [`${path} is not set, and ${was} was sent`];
  if (isShown) return [`${path} is ${now}, and ${was} was sent`];
  return keys.length === 0 ? [] : [`${path} differs, whose values may be secret`];
}

/** Any argument may be secret by the choice of a program, which the provider does not see. */
const mayBeShown = (value: unknown): boolean =>
  isPlain(value) && !isReference(value) ? Object.values(value).every(mayBeShown) : isHarmless(value);

/** Whether an earlier unfinished change had sent the argument, so that the service may lack it. */
export const mayBeOpen = (
  { unfinished, sent }: Pick<Stored<object, object>, "unfinished" | "sent">,
  name: string,
): boolean => unfinished !== false && (sent?.has(name) ?? true);
