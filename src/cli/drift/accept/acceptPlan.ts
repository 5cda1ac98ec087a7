/** What to do with each differing property of a resource: an edit of the program, or the reason why there is none. */
import type * as ts from "typescript";
import { clean, containsUnknown, type Properties } from "../../../contract/hiddenKeys";
import type { Kind } from "../../../contract/pointer";
import { isWatched } from "../../../contract/watched";
import type { ReadSetting } from "../../../contract/settings";
import { standInsIn } from "../../../contract/standIns";
import { sameJson } from "../../../host/arguments";
import { toolsOf } from "../../../resources/tools";
import { configured, problemsOf, topOf } from "../../declarable";
import { ownValue, pathTo, segmentsOf, valueAt } from "../../../contract/propertyPath";
import { isObject } from "../../../contract/ignoredChanges";
import type { Wrong } from "../../../host/requests";
import type { Quote } from "../../code";
import { canonical, isByReference, type Property, SECRET } from "../report";
import type { Creation } from "./creation";
import { editable, NOT_DEPLOYED, placeOf, valueIn, withChange } from "./propertyPlace";
import type { ProgramFile } from "./programFile";
import { CONFIGURED, otherThanReferred, otherThanSecret, whatItIs } from "./reasons";
import type { List } from "./splices";
import { codeOf, keyOf, literalValue, objectIn, propertyCode, valueOf } from "./value";
import type { Origin } from "../../../components/origins";
import type { Component } from "./component";
import { type ConfigurationChange, type Setting, settingOf, type StackConfiguration } from "./configured";

export interface Plan {
  readonly property: Property;
  /** Its position in the arguments of the `new`. */
  readonly at: Origin;
  readonly line: number;
  /** Undefined: it is accepted. */
  readonly reason: string | undefined;
  readonly actions: readonly Action[];
}

export type Action =
  | { readonly replace: ts.Node; readonly by: string }
  | { readonly remove: ts.Node; readonly list: List }
  | { readonly add: string; readonly list: List }
  | ConfigurationChange;

/** Whether another resource differs in the same way and is to be accepted as well. */
export type IsAlike = (urn: string, property: Property) => boolean;

interface Given {
  readonly file: ProgramFile;
  readonly kind: Kind;
  readonly provider: Awaited<ReturnType<typeof configured>>;
  /** The second argument of the `new`. */
  readonly node: ts.Expression;
  readonly settingOf: (node: ts.Expression) => Setting | undefined;
  /** The position of a resource's argument in it; undefined if the component sets it. */
  readonly originOf: (argument: string) => Origin | undefined;
  /** Other resources that get a property from the same place and do not differ in the same way. */
  readonly unlike: (property: Property, origin: Origin) => readonly string[];
  /** The arguments known from the text, as written and normalised. */
  readonly known: Properties;
  readonly normalised: Properties;
  readonly form: string | undefined;
}

export async function plansOf(
  { file, expression }: Creation,
  { kind, name, urn, component, changes, readSetting = () => undefined }: Resource,
  isAlike: IsAlike,
  configuration: StackConfiguration | undefined,
): Promise<readonly Plan[]> {
  const line = file.lineOf(expression);
  const node = expression.arguments?.[1];
  if (node === undefined) return changes.map((property) => left(property, line, "it has no arguments in the program"));
  const { known: own, isWhole } = knownArguments(file, node);
  const origins = component?.originsOf({ kind, name }, own);
  const known = origins === undefined ? own : argumentsFrom(own, origins);
  const provider = await configured(kind, readSetting);
  const normalised: Properties = (await provider.check({}, known)).inputs ?? {};
  // If it changes, all of the arguments change or none.
  const { form: deciding } = toolsOf(kind);
  const form = changes.some(({ path }) => path === deciding) ? deciding : undefined;
  const given: Given = {
    ...{ file, kind, provider, node, known, normalised, form },
    settingOf: (expression) => configuration && settingOf(file, expression, configuration),
    originOf: (argument) => (origins === undefined ? [argument] : origins.get(argument)),
    unlike: (property, origin) =>
      (component?.alsoFrom(origin, topOf(property.path), urn, own) ?? [])
        .filter((other) => !isAlike(other.urn, property))
        .map((other) => other.name),
  };
  const plans = await declarable(
    given,
    changes.map((property) => planOf(given, property, line)),
  );
  const obstacle =
    plans.find(({ reason }) => reason !== undefined)?.property.path ?? (isWhole ? undefined : "a spread");
  if (form === undefined || obstacle === undefined) return plans;
  return plans.map((plan) =>
    plan.reason === undefined
      ? left(plan.property, plan.line, `it changes together with ${obstacle}, which is not edited`, plan.at)
      : plan,
  );
}

/** What drifted: an argument of the resource, or of the component that creates it. */
interface Resource {
  readonly kind: Kind;
  readonly name: string;
  readonly urn: string;
  readonly component?: Component | undefined;
  readonly changes: readonly Property[];
  /** The settings that it was deployed with. */
  readonly readSetting?: ReadSetting;
}

const argumentsFrom = (own: Properties, origins: ReadonlyMap<string, Origin>): Properties =>
  Object.fromEntries(
    [...origins].flatMap(([argument, origin]) => {
      const value = origin.reduce<unknown>(ownValue, own);
      return value === undefined ? [] : [[argument, value]];
    }),
  );

const left = (property: Property, line: number, reason: string, at: Origin = segmentsOf(property.path)): Plan => ({
  ...{ property, at, line, reason },
  actions: [],
});

/** The arguments known from the text; `isWhole`: there are no others. */
function knownArguments(file: ProgramFile, node: ts.Expression): { known: Properties; isWhole: boolean } {
  const whole = valueOf(file, node);
  if (isObject(whole)) return { known: whole, isWhole: true };
  const { typescript } = file;
  const entries = (objectIn(file, node)?.properties ?? []).flatMap((property) => {
    const name = keyOf(file, property);
    const isPlain = typescript.isPropertyAssignment(property) || typescript.isShorthandPropertyAssignment(property);
    return name !== undefined && isPlain ? [[name, valueOf(file, valueIn(property))]] : [];
  });
  return { known: Object.fromEntries(entries) as Properties, isWhole: false };
}

/** The plan for one property, independent of the others. */
function planOf(given: Given, property: Property, creationLine: number): Plan {
  const { file, kind, node, form } = given;
  const { declared, found } = property;
  const path = segmentsOf(property.path);
  const [first, ...rest] = path;
  const origin = given.originOf(String(first));
  const at = origin === undefined ? path : [...origin, ...rest];
  const told = (reason: string, where?: ts.Node): Plan =>
    left(property, where === undefined ? creationLine : file.lineOf(where), reason, at);
  const accepted = (where: ts.Node, ...actions: Action[]): Plan => ({
    ...{ property, at },
    line: file.lineOf(where),
    reason: undefined,
    actions,
  });
  if (isWatched(kind, property.path))
    return told("no argument declares it. To tolerate it, run pulumi-svc drift --ignore");
  const byHand = toolsOf(kind).byHand?.get(property.path);
  if (byHand !== undefined) return told(byHand);
  if (!isSpelled(property.path)) return told("the name of the property cannot be read from its path");
  // Another form does not have the argument, whatever its value was.
  const isDropped = form !== undefined && path.length === 1 && found === null;
  if (isByReference(property) && !isDropped) return told(otherThanReferred(property));
  if (holdsSecret(property) && !isDropped) return told(otherThanSecret(property));
  if (standInsIn(found).length > 0) return told("the service does not show the value");
  if (origin === undefined) return told("no argument of the component declares it");
  const unlike = given.unlike(property, origin);
  if (unlike.length > 0) {
    const names = unlike.map((name) => JSON.stringify(name)).join(", ");
    return told(`the component also passes this argument to ${names}, which differs in another way, or not at all`);
  }
  const place = placeOf(file, { given: node, path: at, found, kind, settingOf: given.settingOf });
  if ("reason" in place) return told(place.reason, place.node);
  if ("setting" in place) {
    const { setting, use, rest: within } = place;
    const value = within.reduce<unknown>(ownValue, setting.value);
    if (same(value, found)) return accepted(use);
    if (!same(value, declared)) return told(NOT_DEPLOYED, use);
    const whole = within.length === 0 ? found : withChange(setting.value, within, found);
    // Without a value, the value that the call returns is unknown.
    if (found === null || !setting.takes(whole)) return told(`the value is ${CONFIGURED}`, use);
    return accepted(use, { configure: setting.key, path: within, value: found, whole, use });
  }
  const { object, property: own } = place;
  if (own === undefined) {
    if (found === null) return accepted(object);
    if (declared !== null) return told(NOT_DEPLOYED, object);
    return accepted(object, { add: propertyCode(String(at.at(-1)), found, file.quote), list: object });
  }
  const expression = valueIn(own);
  const current = valueOf(file, expression);
  const removal: Action = { remove: own, list: object };
  if (containsUnknown(current)) {
    return isDropped ? accepted(own, removal) : told(`the value is ${whatItIs(file, expression)}`, own);
  }
  const normalised = path.reduce<unknown>(ownValue, given.normalised);
  // The normalised value of an object with a spread is unknown, which is not the same as no value.
  const isValue = (value: unknown): boolean =>
    same(current, value) || (normalised !== undefined && same(normalised, value));
  if (isValue(found)) return accepted(own);
  // Whether a secret is the deployed one cannot be determined.
  if (!isValue(declared) && !(isDropped && declared === SECRET)) return told(NOT_DEPLOYED, own);
  if (found === null) return accepted(own, removal);
  const literal = editable(file, expression, { value: found, kind });
  if ("reason" in literal) return told(literal.reason, literal.node);
  const actions = valueActions(file, literal.node, { current: normalised ?? current, found });
  return "reason" in actions ? told(actions.reason, literal.node) : accepted(literal.node, ...actions.actions);
}

/** Whether a path is unambiguous: the engine escapes a quote in a name, but not a backslash. */
export const isSpelled = (path: string): boolean =>
  segmentsOf(path).reduce<string>((above, segment) => pathTo(above, String(segment)), "") === path;

/** At any depth. */
export function holdsSecret({ declared, found }: Pick<Property, "declared" | "found">): boolean {
  const holds = (value: unknown): boolean =>
    value === SECRET || (typeof value === "object" && value !== null && Object.values(value).some(holds));
  return holds(declared) || holds(found);
}

/** Whether normalised arguments have the found value of a property. */
export const declares = (args: Properties, { path, found }: Pick<Property, "path" | "found">): boolean =>
  same(valueAt(path, args), found);

/** A missing value equals `null`; a list is a set. */
function same(one: unknown, other: unknown): boolean {
  const textOf = (value: unknown): string => canonical(clean({ value: value ?? null }));
  return textOf(one) === textOf(other);
}

/** The edits that change a literal to another value. `current`: its normalised value. */
function valueActions(
  file: ProgramFile,
  node: ts.Expression,
  { current, found }: { current: unknown; found: unknown },
): { actions: Action[] } | { reason: string } {
  const { typescript } = file;
  if (!typescript.isArrayLiteralExpression(node) || !Array.isArray(found)) {
    return { actions: [{ replace: node, by: codeOf(found, quoteOf(file, node)) }] };
  }
  const values: readonly unknown[] = Array.isArray(current) ? current : [];
  const added: unknown[] = [...found];
  const kept = node.elements.filter((_element, index) => {
    const at = added.findIndex((value) => sameJson(value, values[index]));
    if (at !== -1) added.splice(at, 1);
    return at !== -1;
  });
  const order = [...kept.map((element) => values[node.elements.indexOf(element)]), ...added];
  // Element by element if the order matters, or if no element remains to insert after.
  const isInPlace = !sameJson(order, found) || kept.length === 0;
  const changed = node.elements.filter((element, index) =>
    isInPlace ? !sameJson(values[index], found[index]) : !kept.includes(element),
  );
  if (changed.some((element) => literalValue(file, element) === undefined)) {
    return { reason: "an element of the list that differs is not a literal" };
  }
  const [first] = node.elements;
  const codes = (list: readonly unknown[]): Action[] =>
    list.map((value) => ({ add: codeOf(value, first === undefined ? file.quote : quoteOf(file, first)), list: node }));
  const actions = changed.map((element): Action => {
    const index = node.elements.indexOf(element);
    if (!isInPlace || index >= found.length) return { remove: element, list: node };
    return { replace: element, by: codeOf(found[index], quoteOf(file, element)) };
  });
  return { actions: [...actions, ...codes(isInPlace ? found.slice(node.elements.length) : added)] };
}

/** The quote of a string literal; for anything else the file's usual quote. */
function quoteOf(file: ProgramFile, node: ts.Expression): Quote {
  const [begin] = node.getText(file.source);
  return begin === '"' || begin === "'" || begin === "`" ? begin : file.quote;
}

/**
 * Removes what the kind's own check refuses, and adds what another form does not have. Only new problems count: the
 * program may already be invalid for other reasons.
 */
async function declarable(given: Given, first: readonly Plan[]): Promise<readonly Plan[]> {
  const { provider, known, file, node } = given;
  const before = await problemsOf(provider, known);
  const isOld = (one: Wrong): boolean => before.some(({ path, reason }) => path === one.path && reason === one.reason);
  let plans = first;
  for (;;) {
    const open = plans.filter(({ reason }) => reason === undefined);
    const after = open.reduce<Properties>((args, { property: { path, found } }) => {
      // Changing a property of an object returns an object.
      return withChange(args, segmentsOf(path), found) as Properties;
    }, known);
    const [problem] = (await problemsOf(provider, after)).filter((one) => !isOld(one));
    const unused = problem === undefined ? unusedAfter(file, open) : undefined;
    if (unused !== undefined) {
      plans = plans.map((plan) =>
        plan === unused.plan ? left(plan.property, plan.line, unused.reason, plan.at) : plan,
      );
      continue;
    }
    if (problem === undefined) return plans;
    const name = topOf(problem.path);
    const isOpen = (plan: Plan): boolean => plan.reason === undefined && topOf(plan.property.path) === name;
    const isNamed = plans.some(({ property: { path } }) => topOf(path) === name);
    if (plans.some(isOpen)) {
      const reason = `the value cannot be declared: it ${problem.reason}`;
      plans = plans.map((plan) => (isOpen(plan) ? left(plan.property, plan.line, reason, plan.at) : plan));
    } else if (!isNamed && Object.hasOwn(after, name)) {
      const dropped: Property = { path: name, declared: SECRET, found: null };
      plans = [...plans, planOf(given, dropped, file.lineOf(node))];
    } else {
      const reason = `it changes together with ${name}, which ${problem.reason}`;
      plans = plans.map((plan) => (plan.reason === undefined ? left(plan.property, plan.line, reason, plan.at) : plan));
    }
  }
}

/** A name that would be unused after the edits: some compilers refuse that. */
function unusedAfter(file: ProgramFile, plans: readonly Plan[]): { plan: Plan; reason: string } | undefined {
  const { typescript } = file;
  const goneIn = ({ actions }: Plan): ts.Node[] =>
    actions.flatMap((action) => ("remove" in action ? [action.remove] : "replace" in action ? [action.replace] : []));
  const gone = new Set(plans.flatMap(goneIn).flatMap((node) => file.all(typescript.isIdentifier, node)));
  for (const plan of plans) {
    const names = goneIn(plan).flatMap((node) => file.all(typescript.isIdentifier, node));
    for (const name of names) {
      const declared = file.declaredNameOf(name);
      // Declarations inside are removed as well.
      if (declared === undefined || gone.has(declared)) continue;
      if (!file.usesOf(declared).every((use) => gone.has(use))) continue;
      return { plan, reason: `"${name.text}" would then be unused and has to be removed, too` };
    }
  }
  return undefined;
}
