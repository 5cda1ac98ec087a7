/** What to do with each differing property of a resource: the edits of the program, or the reason why there are none. */
import type * as ts from "typescript";
import { originsOf, type Origin } from "../../../components/origins";
import { clean, containsUnknown, type Properties } from "../../../contract/hiddenKeys";
import { isObject } from "../../../contract/ignoredChanges";
import { ownValue, pathTo, type Segment, segmentsOf, valueAt } from "../../../contract/propertyPath";
import { standInsIn } from "../../../contract/standIns";
import { isWatched } from "../../../contract/watched";
import type { Wrong } from "../../../runtime/requests";
import { toolsOf } from "../../../resources/tools";
import { argumentsOf } from "../../declarations";
import { configured, problemsOf, topOf } from "../../declarable";
import { canonical, isByReference, type Property, SECRET } from "../report";
import type { Creation } from "./creation";
import { listActions } from "./listActions";
import { literalOf, type Obstacle, placeOf, type PlainProperty, valueIn, withChange } from "./propertyPlace";
import type { ProgramFile } from "./programFile";
import { NOT_DEPLOYED, otherThanReferred, otherThanSecret, whatItIs } from "./reasons";
import { commandToSet } from "./setting";
import type { Action } from "./splices";
import type { Target } from "./target";
import { codeOf, keyOf, objectIn, propertyCode, quoteOf, valueOf } from "./value";

export interface Proposal {
  readonly property: Property;
  /** Its position in the arguments of the `new`. */
  readonly at: Origin;
  readonly line: number;
  /** Undefined: it can be accepted. */
  readonly reason?: string;
  /** What the user may do instead, such as a command. */
  readonly code?: string | undefined;
  /** Empty if the program declares the value already. */
  readonly actions: readonly Action[];
}

interface Given extends Pick<Target, "kind" | "stack"> {
  readonly file: ProgramFile;
  readonly provider: Awaited<ReturnType<typeof configured>>;
  /** The second argument of the `new`, and the line of the `new`. */
  readonly node: ts.Expression;
  readonly line: number;
  /** The position of a resource's argument in it; undefined if the component sets it. */
  readonly originOf: (argument: string) => Origin | undefined;
  /** The arguments known from the text, as written and normalised. */
  readonly known: Properties;
  readonly normalised: Properties;
  /** The property that decides which others there are, if it differs: all of them change, or none. */
  readonly form: string | undefined;
}

/** A property that differs. */
interface Asked {
  readonly given: Given;
  readonly property: Property;
  readonly path: readonly Segment[];
  /** Undefined: no argument of the component declares it. */
  readonly at: Origin | undefined;
  /** The other form does not have the argument, whatever its value was. */
  readonly isDropped: boolean;
}

export async function proposalsOf({ file, expression }: Creation, target: Target): Promise<readonly Proposal[]> {
  const line = file.lineOf(expression);
  const node = expression.arguments?.[1];
  if (node === undefined)
    return target.changes.map((property) => left(property, line, "it has no arguments in the program"));
  const { known, isWhole } = knownArguments(file, node);
  const given = await givenTo(target, { file, node, line, known });
  const proposals = await declarable(
    given,
    target.changes.map((property) => proposalOf(given, property)),
  );
  const [obstacle = isWhole ? undefined : "a spread"] = proposals.flatMap(({ reason, property }) =>
    reason === undefined ? [] : property.path,
  );
  if (given.form === undefined || obstacle === undefined) return proposals;
  return leftOf(proposals, () => true, `it changes together with ${obstacle}, which is not edited`);
}

async function givenTo(
  { kind, name, stack, component, changes, readSetting = () => undefined }: Target,
  { known: own, ...where }: Pick<Given, "file" | "node" | "line" | "known">,
): Promise<Given> {
  const origins =
    component && originsOf(component.kind, { name: component.name, args: own }, { kind, name }, argumentsOf(kind));
  const originOf = (argument: string): Origin | undefined =>
    origins === undefined ? [argument] : origins.get(argument);
  const known = origins === undefined ? own : argumentsFrom(own, origins);
  const provider = await configured(kind, readSetting);
  const normalised: Properties = (await provider.check({}, known)).inputs ?? {};
  const { form: deciding } = toolsOf(kind);
  const form = changes.some(({ path }) => path === deciding) ? deciding : undefined;
  return { ...where, kind, stack, provider, originOf, known, normalised, form };
}

const argumentsFrom = (own: Properties, origins: ReadonlyMap<string, Origin>): Properties =>
  Object.fromEntries(
    [...origins].flatMap(([argument, origin]) => {
      const value = origin.reduce<unknown>(ownValue, own);
      return value === undefined ? [] : [[argument, value]];
    }),
  );

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

const left = (property: Property, line: number, reason: string, more: Partial<Proposal> = {}): Proposal => ({
  ...{ property, line, reason, at: segmentsOf(property.path), actions: [] },
  ...more,
});

const leftOf = (
  proposals: readonly Proposal[],
  isLeft: (proposal: Proposal) => boolean,
  reason: string,
): readonly Proposal[] =>
  proposals.map((proposal) =>
    proposal.reason === undefined && isLeft(proposal)
      ? left(proposal.property, proposal.line, reason, { at: proposal.at })
      : proposal,
  );

/** Why a property is not edited, wherever the program declares it. */
const REFUSALS: readonly ((asked: Asked) => string | false | undefined)[] = [
  ({ given, property: { path } }) =>
    isWatched(given.kind, path) && "no argument declares it. To tolerate it, run pulumi-svc drift --ignore",
  ({ given, property: { path } }) => toolsOf(given.kind).byHand?.get(path),
  ({ property: { path } }) => !isSpelled(path) && "the name of the property cannot be read from its path",
  ({ property, isDropped }) => !isDropped && isByReference(property) && otherThanReferred(property),
  ({ property, isDropped }) => !isDropped && holdsSecret(property) && otherThanSecret(property),
  ({ property: { found } }) => standInsIn(found).length > 0 && "the service does not show the value",
  ({ at }) => at === undefined && "no argument of the component declares it",
];

/** The proposal for one property, independent of the others. */
function proposalOf(given: Given, property: Property): Proposal {
  const path = segmentsOf(property.path);
  const [first, ...rest] = path;
  const origin = given.originOf(String(first));
  const at = origin && [...origin, ...rest];
  const isDropped = given.form !== undefined && path.length === 1 && property.found === null;
  const asked = { given, property, path, at, isDropped };
  for (const refusal of REFUSALS) {
    const reason = refusal(asked);
    if (typeof reason === "string") return left(property, given.line, reason);
  }
  return proposalAt(asked, at ?? path);
}

function proposalAt(asked: Asked, at: Origin): Proposal {
  const { given, property } = asked;
  const { file, stack } = given;
  const place = placeOf(file, { given: given.node, path: at, project: stack.project });
  const found =
    "reason" in place
      ? place
      : place.property === undefined
        ? addition(asked, place.object, at)
        : change(asked, place.object, place.property);
  const line = file.lineOf(found.node);
  if (!("reason" in found)) return { property, at, line, actions: found.actions };
  const { reason, setting } = found;
  const command = setting && commandToSet(setting.key, { ...setting, value: property.found, stack: stack.name });
  return left(property, line, reason, { at, code: command });
}

interface Edit {
  readonly node: ts.Node;
  readonly actions: readonly Action[];
}

/** The program does not set it. */
function addition(
  { given: { file }, property: { found, declared } }: Asked,
  node: ts.ObjectLiteralExpression,
  at: Origin,
): Edit | Obstacle {
  const name = String(at.at(-1));
  const isOpen = node.properties.some((one) => keyOf(file, one) === undefined);
  if (found === null) return { node, actions: [] };
  if (declared !== null)
    return { node, reason: isOpen ? `a spread or a computed name may hold "${name}"` : NOT_DEPLOYED };
  return { node, actions: [{ add: propertyCode(name, found, file.quote), list: node }] };
}

/** The program sets it: only the deployed value is edited. */
function change(
  { given, property, path, isDropped }: Asked,
  object: ts.ObjectLiteralExpression,
  own: PlainProperty,
): Edit | Obstacle {
  const { file } = given;
  const { declared, found } = property;
  const expression = valueIn(own);
  const current = valueOf(file, expression);
  const removal = { node: own, actions: [{ remove: own, list: object }] };
  if (containsUnknown(current))
    return isDropped ? removal : { node: own, reason: `the value is ${whatItIs(file, expression)}` };
  const normalised = path.reduce<unknown>(ownValue, given.normalised);
  // The normalised value of an object with a spread is unknown, which is not the same as no value.
  const isValue = (value: unknown): boolean =>
    same(current, value) || (normalised !== undefined && same(normalised, value));
  if (isValue(found)) return { node: own, actions: [] };
  // Whether a secret is the deployed one cannot be determined.
  if (!isValue(declared) && !(isDropped && declared === SECRET)) return { node: own, reason: NOT_DEPLOYED };
  return found === null ? removal : replacement(file, expression, { current: normalised ?? current, found });
}

function replacement(
  file: ProgramFile,
  expression: ts.Expression,
  { current, found }: { readonly current: unknown; readonly found: unknown },
): Edit | Obstacle {
  const literal = literalOf(file, expression, found);
  if ("reason" in literal) return literal;
  const { node } = literal;
  if (file.typescript.isArrayLiteralExpression(node) && Array.isArray(found))
    return listActions(file, node, { current: Array.isArray(current) ? current : [], found });
  return { node, actions: [{ replace: node, by: codeOf(found, quoteOf(file, node)) }] };
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
export function same(one: unknown, other: unknown): boolean {
  const textOf = (value: unknown): string => canonical(clean({ value: value ?? null }));
  return textOf(one) === textOf(other);
}

/**
 * Removes what the kind's own check refuses, and adds what another form does not have. Only new problems count: the
 * program may already be invalid for other reasons.
 */
async function declarable(given: Given, first: readonly Proposal[]): Promise<readonly Proposal[]> {
  const { provider, known } = given;
  const before = await problemsOf(provider, known);
  const isOld = (one: Wrong): boolean => before.some(({ path, reason }) => path === one.path && reason === one.reason);
  let proposals = first;
  for (;;) {
    const after = proposals
      .filter(({ reason }) => reason === undefined)
      // Changing a property of an object returns an object.
      .reduce((args, { property }) => withChange(args, segmentsOf(property.path), property.found) as Properties, known);
    const [problem] = (await problemsOf(provider, after)).filter((one) => !isOld(one));
    if (problem === undefined) return proposals;
    proposals = without(given, problem, { proposals, isSet: Object.hasOwn(after, topOf(problem.path)) });
  }
}

/** The proposals for a program without this problem. `isSet`: the argument has a value after them. */
function without(
  given: Given,
  { path, reason }: Wrong,
  { proposals, isSet }: { readonly proposals: readonly Proposal[]; readonly isSet: boolean },
): readonly Proposal[] {
  const name = topOf(path);
  const isOfIt = (proposal: Proposal): boolean => topOf(proposal.property.path) === name;
  if (proposals.some((proposal) => proposal.reason === undefined && isOfIt(proposal)))
    return leftOf(proposals, isOfIt, `the value cannot be declared: it ${reason}`);
  if (isSet && !proposals.some(isOfIt))
    return [...proposals, proposalOf(given, { path: name, declared: SECRET, found: null })];
  return leftOf(proposals, () => true, `it changes together with ${name}, which ${reason}`);
}
