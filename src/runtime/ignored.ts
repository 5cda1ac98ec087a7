/**
 * What `ignoreChanges` leaves to the service (docs/design/rules.md, 5). There the value of the service counts, as it was read right
 * before the change: what the engine hands over in its place is only the value that was seen last.
 */
import { Granted, type Permission, Unknown } from "../client";
import { withIgnoredChanges } from "../contract/ignoredChanges";
import type { Properties } from "../contract/hiddenKeys";
import { leadsTo, segmentsOf } from "../contract/propertyPath";
import { ruleOf, type Rules } from "./arguments";
import { spelledAs } from "./differences";
import type { Changes, Stored } from "./lifecycle";

/** Whether the paths contain this argument, or this part of it, as a whole. */
export const isIgnored = (ignored: readonly string[], ...keys: string[]): boolean =>
  ignored.some((path) => leadsTo(path, keys));

/** Whether the paths contain this argument, or a part of it. */
const isTouched = (ignored: readonly string[], argument: string): boolean =>
  ignored.some((path) => [argument, "*"].includes(String(segmentsOf(path)[0])));

/**
 * The paths at which an update sends nothing that it cannot compare. A creation that did not finish goes on with what it
 * had sent there: the service may have nothing of it yet.
 */
export const notSentBy = (
  { unfinished }: Pick<Stored<object, object>, "unfinished">,
  { ignored }: Pick<Changes<object>, "ignored">,
): readonly string[] => (unfinished === "create" ? [] : ignored);

interface Left<Args> {
  /** The arguments with the values that the service has at these paths. What it does not show there is left out. */
  readonly args: Args;
  /** The arguments that have such a path and that the service does not show. */
  readonly hidden: readonly string[];
}

/** `shown`: the arguments that the service shows, in the form of `args` (and in any spelling of their keys). */
export function leftToService<Args extends object>(
  rules: Rules,
  args: Args,
  { shown, ignored }: { readonly shown: object; readonly ignored: readonly string[] },
): Left<Args> {
  const found = shown as Properties;
  const hidden: string[] = [];
  const entries = Object.entries(args).flatMap(([name, value]) => {
    const rule = ruleOf(rules, name);
    const isOfStateAlone = rule?.local === true || rule?.createOnly === true;
    if (value === undefined || isOfStateAlone || !isTouched(ignored, name)) return [[name, value]];
    if (found[name] === undefined) {
      hidden.push(name);
      return [];
    }
    const own = rule === undefined ? found[name] : spelledAs(rule, value, found[name]);
    return Object.entries(withIgnoredChanges({ [name]: value }, { [name]: own }, ignored));
  });
  // The values have the types of the same arguments. What must not be missing is the caller's matter.
  return { args: Object.fromEntries(entries) as Args, hidden };
}

/**
 * Whether a change may be sent that sets these arguments although `ignoreChanges` has a path in them: it may not if the
 * service does not show what it would overwrite.
 */
export function mayOverwrite(what: string, names: readonly string[]): Permission {
  if (names.length === 0) return Granted.proven();
  const quoted = names.map((name) => `"${name}"`).join(" and ");
  const [is, it] = names.length === 1 ? ["is", "it"] : ["are", "them"];
  return Unknown.because({
    question: `whether this change would set ${quoted} of ${what} back`,
    why: `${quoted} ${is} in ignoreChanges, and the service does not show ${it}, but accepts the change only together with ${it}`,
    waysOut: `Nothing was sent. To send what the program gives, remove ${quoted} from ignoreChanges; or make this change at the service`,
  });
}
