/** Finds the part of a program's text that holds a property of a resource and may be edited. */
import type * as ts from "typescript";
import type { Kind } from "../../../contract/pointer";
import { isObject } from "../../../contract/ignoredChanges";
import type { ProgramFile } from "./programFile";
import type { Setting } from "./configured";
import { whatItIs } from "./reasons";
import { isHole, isUndefined, keyOf, valueOf, wrapped } from "./value";

/** The reason why it cannot be edited, and where. */
export interface Obstacle {
  readonly reason: string;
  readonly node: ts.Node;
}

export interface PropertyPlace {
  /** The object literal that contains the property, or would. */
  readonly object: ts.ObjectLiteralExpression;
  /** Undefined if the program does not set it. */
  readonly property: ts.PropertyAssignment | ts.ShorthandPropertyAssignment | undefined;
}

/** A value in the stack's configuration instead of the program. */
export interface ConfiguredPlace {
  readonly setting: Setting;
  /** Where the program uses it for this property. */
  readonly use: ts.Node;
  /** The rest of the path, within the value. */
  readonly rest: readonly (string | number)[];
}

/** The place of a property by its path. `given`: the second argument of the `new`. */
export function placeOf(
  file: ProgramFile,
  {
    given,
    path,
    found,
    kind,
    settingOf,
  }: {
    given: ts.Expression;
    path: readonly (string | number)[];
    found: unknown;
    kind: Kind;
    settingOf: (node: ts.Expression) => Setting | undefined;
  },
): PropertyPlace | ConfiguredPlace | Obstacle {
  const configured = (use: ts.Expression, rest: readonly (string | number)[]): ConfiguredPlace | undefined => {
    const setting = settingOf(use);
    return setting && { setting, use, rest };
  };
  let current = given;
  for (const [index, segment] of path.entries()) {
    const above = configured(current, path.slice(index));
    if (above !== undefined) return above;
    const change = withChange(valueOf(file, current), path.slice(index), found);
    const literal = editable(file, current, { value: change, kind });
    if ("reason" in literal) return literal;
    const { node } = literal;
    if (typeof segment === "number" && file.typescript.isArrayLiteralExpression(node)) {
      const element = node.elements.some((one) => isHole(file, one)) ? undefined : node.elements[segment];
      if (element === undefined) return obstacle(node, whatItIs(file, node));
      current = element;
      continue;
    }
    if (!file.typescript.isObjectLiteralExpression(node)) return obstacle(node, whatItIs(file, node));
    const isLast = index === path.length - 1;
    const place = propertyIn(file, node, { name: String(segment), isRemoved: isLast && found === null });
    if ("reason" in place) return place;
    if (isLast) return (place.property && configured(valueIn(place.property), [])) ?? place;
    if (place.property === undefined) return { node, reason: NOT_DEPLOYED };
    current = valueIn(place.property);
  }
  throw new Error("a path without a property");
}

const obstacle = (node: ts.Node, what: string): Obstacle => ({ node, reason: `the value is ${what}` });

export const NOT_DEPLOYED = "the program has a change of it that is not deployed";

/** The value of a property. */
export const valueIn = (property: ts.PropertyAssignment | ts.ShorthandPropertyAssignment): ts.Expression =>
  "initializer" in property ? property.initializer : property.name;

function propertyIn(
  file: ProgramFile,
  object: ts.ObjectLiteralExpression,
  { name, isRemoved }: { readonly name: string; readonly isRemoved: boolean },
): PropertyPlace | Obstacle {
  const { typescript } = file;
  const own = object.properties.filter((property) => keyOf(file, property) === name);
  const [property, second] = own;
  if (second !== undefined) return { node: second, reason: `"${name}" is set there more than once` };
  const after =
    property === undefined ? object.properties : object.properties.slice(object.properties.indexOf(property));
  const hiding = after.find((other) => mayHold(file, other, name));
  if (hiding !== undefined) {
    const what = typescript.isSpreadAssignment(hiding) ? "a spread" : "a computed name";
    const how = property === undefined ? "may hold" : "comes later and may replace";
    return { node: hiding, reason: `${what} ${how} "${name}"` };
  }
  if (property === undefined) return { object, property };
  // If the property is removed, an earlier element may set it.
  const uncovered = isRemoved ? object.properties.find((other) => mayHold(file, other, name)) : undefined;
  if (uncovered !== undefined) {
    const what = typescript.isSpreadAssignment(uncovered) ? "a spread" : "a computed name";
    return { node: uncovered, reason: `${what} comes before and may hold "${name}"` };
  }
  if (typescript.isPropertyAssignment(property) || typescript.isShorthandPropertyAssignment(property)) {
    return { object, property };
  }
  return { node: property, reason: `"${name}" is a getter or a method` };
}

/** Whether a spread, a computed name or a prototype may set a property of this name. */
function mayHold(file: ProgramFile, property: ts.ObjectLiteralElementLike, name: string): boolean {
  if (!file.typescript.isSpreadAssignment(property)) return keyOf(file, property) === undefined;
  const spread = valueOf(file, property.expression);
  return !isObject(spread) || Object.hasOwn(spread, name);
}

/** The literal that can be edited for a value, behind constants that are used only here. */
export function editable(
  file: ProgramFile,
  node: ts.Expression,
  now: { readonly value: unknown; readonly kind: Kind },
): { node: ts.Expression } | Obstacle {
  const { typescript } = file;
  const inside = wrapped(file, node);
  if (inside !== undefined) {
    if (inside.type !== undefined && !allows(file, inside.type, now)) return narrow(node);
    return editable(file, inside.expression, now);
  }
  if (!typescript.isIdentifier(node) || isUndefined(file, node)) return { node };
  const constant = file.constantOf(node);
  if (constant === undefined) return obstacle(node, whatItIs(file, node));
  const { declaration, initializer } = constant;
  const { name, type } = declaration;
  // A constant that a name refers to always has a name.
  if (!typescript.isIdentifier(name)) return obstacle(node, "an expression");
  const shared = (how: string): Obstacle => obstacle(node, `the constant "${name.text}", which is ${how}`);
  if ((typescript.getCombinedModifierFlags(declaration) & typescript.ModifierFlags.Export) !== 0) {
    return shared("exported");
  }
  if (file.usesOf(name).length !== 1) return shared("used more than once");
  if (type !== undefined && !allows(file, type, now)) return narrow(node);
  return editable(file, initializer, now);
}

const narrow = (node: ts.Node): Obstacle => ({
  node,
  reason: "the program gives the value a type that may not allow the new one",
});

/** Whether a type in the program allows a value, as far as its text shows. */
function allows(
  file: ProgramFile,
  type: ts.TypeNode,
  { value, kind }: { readonly value: unknown; readonly kind: Kind },
): boolean {
  const { typescript } = file;
  const { SyntaxKind } = typescript;
  const next = (inner: ts.TypeNode, part = value): boolean => allows(file, inner, { value: part, kind });
  if (typescript.isParenthesizedTypeNode(type)) return next(type.type);
  if (typescript.isUnionTypeNode(type)) return type.types.some((member) => next(member));
  if (typescript.isTypeOperatorNode(type)) return type.operator === SyntaxKind.ReadonlyKeyword && next(type.type);
  if (typescript.isArrayTypeNode(type)) {
    return Array.isArray(value) && value.every((item) => next(type.elementType, item));
  }
  if (type.kind === SyntaxKind.StringKeyword) return typeof value === "string";
  if (type.kind === SyntaxKind.NumberKeyword) return typeof value === "number";
  if (type.kind === SyntaxKind.BooleanKeyword) return typeof value === "boolean";
  if (typescript.isLiteralTypeNode(type)) return valueOf(file, type.literal) === value;
  if (!typescript.isTypeReferenceNode(type)) return false;
  const text = type.typeName.getText(file.source);
  if (text === "const") return true;
  const [key, member] = type.typeArguments ?? [];
  if (text === "Record" && key?.kind === SyntaxKind.StringKeyword && member !== undefined) {
    return isObject(value) && Object.values(value).every((inner) => next(member, inner));
  }
  const name = file.exportOf(type.typeName);
  if (name === "ComputeCu" || name === "AutoscalingCu") return typeof value === "number";
  return name !== undefined && [`${kind}Args`, ...WIDE_TYPES].includes(name);
}

/** Types of this package that allow everything that the kind's check allows. */
const WIDE_TYPES = [
  "ComputeSize",
  "ComputeSettings",
  "ComputeGroupArgs",
  "GroupComputeArgs",
  "GroupReplicaArgs",
  "ProjectAuthArgs",
  "ProjectAuthEmail",
];

/** A value with another value at a path. Unknown parts stay unknown. */
export function withChange(value: unknown, [segment, ...rest]: readonly (string | number)[], found: unknown): unknown {
  if (segment === undefined) return found;
  if (!isObject(value)) return value;
  const { [segment]: _before, ...others } = value;
  const after = withChange(Object.hasOwn(value, segment) ? value[segment] : undefined, rest, found);
  return after === null || after === undefined ? others : { ...value, [segment]: after };
}
