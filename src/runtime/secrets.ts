/**
 * Rule 7 of docs/design/rules.md: secrets leave the provider marked. Everything that a protocol returns to the engine
 * passes here: inputs of `check` and `read`, outs, and the outs of an error. A protocol cannot return anything else
 * (`Marked`).
 */
import { asSecret } from "../contract/engineSecrets";
import { BRANCH_ID } from "../contract/identifiers";
import { clean, containsUnknown, namesIn, type Properties } from "../contract/hiddenKeys";
import { ownValue } from "../contract/propertyPath";
import { isReference } from "../contract/references";
import { isHarmless, mayBeSecret } from "../contract/secretNames";
import { isStandIn } from "../contract/standIns";
import { isPlain, ruleOf, sameJson, type Rules } from "./arguments";
import type { Marked } from "./requests";
import { marksOf } from "./state";

/** The parts of a declaration that concern secrets. */
export interface SecretRules {
  readonly args: Rules;
  readonly secretOutputs: readonly string[];
}

/**
 * Where a value comes from. The engine itself marks what is secret in `given`, by path
 * (docs/design/engine.md, Secrets and settings).
 */
export interface Origin {
  /** The program's inputs in this call; for a read, what the state holds. */
  readonly given: Properties;
  /** What the state held before the call. */
  readonly stored: Properties;
}

/** The inputs that `check` returns. */
export function markedInputs({ args }: SecretRules, inputs: Properties, given: Properties): Marked {
  return marked(inputs, (name) => markArgument(args, name, inputs[name], { given, stored: {} }));
}

/**
 * The inputs that `read` returns. After a failed update the engine still has the earlier inputs, and so no marks for
 * what that update brought. So the arguments that it sent, and those that are never sent, are marked as a whole.
 */
export function markedFound({ args }: SecretRules, inputs: Properties, stored: Properties): Marked {
  const { __unfinished, __sent } = marksOf(stored);
  const isOpen = (name: string, isLocal = false): boolean =>
    __unfinished === "update" && (isLocal || __sent?.includes(name) !== false);
  return marked(inputs, (name) => {
    const value = inputs[name];
    const rule = ruleOf(args, name);
    // An argument that replaces is not part of an update.
    if (rule === undefined || rule.replaces !== undefined || !isOpen(name, rule.local))
      return markArgument(args, name, value, { given: stored, stored: {} });
    // A list that is sent contains names of domains or libraries, which messages show as well.
    return eachValue(value, [], (one) =>
      isTelling(one) && (!Array.isArray(one) || rule.local === true) ? hidden(one) : one,
    );
  });
}

/** The outs of a call, or of its error. */
export function markedOuts({ args, secretOutputs }: SecretRules, outs: Properties, origin: Origin): Marked {
  const managed = managedIn(outs);
  return marked(outs, (name) => {
    const value = outs[name];
    const isLeft = ruleOf(args, name)?.secretUnlessGiven === true && managed?.includes(name) === false;
    const isOurs = name === "__applied" || secretOutputs.includes(name) || isLeft;
    return isOurs ? hidden(value) : markArgument(args, name, value, origin);
  });
}

/** The names of the arguments that a program gives; undefined for a resource that is only looked up. */
const managedIn = ({ __args }: Properties): string[] | undefined =>
  Array.isArray(__args) ? namesIn(__args) : undefined;

function marked(properties: Properties, valueOf: (name: string) => unknown): Marked {
  const names = Object.keys(properties).filter((name) => properties[name] !== undefined && properties[name] !== null);
  // Each property has just been checked.
  return clean(Object.fromEntries(names.map((name) => [name, valueOf(name)]))) as Marked;
}

/** References and stand-ins contain no secret: a plan shows both. */
const isShown = (value: unknown): boolean => isReference(value) || isStandIn(value) || containsUnknown(value);

const hidden = (value: unknown): unknown => (isShown(value) ? value : asSecret(value));

function markArgument(rules: Rules, name: string, value: unknown, { given, stored }: Origin): unknown {
  const rule = ruleOf(rules, name);
  if (rule === undefined) return value;
  if (rule.secret === true) return hidden(value);
  const part = typeof rule.reference === "object" ? rule.reference.valuesOf : undefined;
  const wasGiven = managedIn(stored)?.includes(name) === true;
  return eachValue(value, [given[name], stored[name]], (one, [now, before], path) => {
    const setting = part !== undefined && path[0] === part ? path.slice(1).join(".") : undefined;
    const isSecret = setting === undefined ? false : mayBeSecret(setting, one) || isUnexpected(setting, one, now);
    return isSecret || (wasGiven && isCarried(one, now, before)) ? hidden(one) : one;
  });
}

/**
 * A dotted setting (of an application or an extension) with a value that is not the given one. A change of unknown fate
 * may have applied the value of a reference that the state does not have yet.
 */
const isUnexpected = (setting: string, value: unknown, given: unknown): boolean =>
  setting.includes(".") && !isHarmless(value) && !sameJson(value, given);

/** Whether it may be a secret that only the program knows: not a flag, a number or the id of a branch. */
const isTelling = (value: unknown): boolean =>
  !isHarmless(value) && !(typeof value === "string" && BRANCH_ID.test(value));

/** A value of an earlier program, which may have marked it: the engine marks only what the present one marks. */
function isCarried(value: unknown, given: unknown, stored: unknown): boolean {
  return isTelling(value) && stored !== undefined && sameJson(value, stored) && !sameJson(value, given);
}

/** A copy with other leaf values in a tree of objects. A list is one value: the engine marks it as a whole. */
function eachValue(
  value: unknown,
  others: readonly unknown[],
  replace: (value: unknown, others: readonly unknown[], path: readonly string[]) => unknown,
  path: readonly string[] = [],
): unknown {
  if (!isPlain(value) || isReference(value)) return replace(value, others, path);
  const entries = Object.entries(value).map(([key, one]) => {
    const inner = others.map((other) => (isPlain(other) ? ownValue(other, key) : undefined));
    return [key, eachValue(one, inner, replace, [...path, key])];
  });
  return Object.fromEntries(entries);
}
