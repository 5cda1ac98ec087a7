/** Finds the part of a program's text that holds a property of a resource and may be edited. */
import type * as ts from "typescript";
import type { Origin } from "../../../components/origins";
import { isObject } from "../../../contract/ignoredChanges";
import type { Segment } from "../../../contract/propertyPath";
import type { ProgramFile } from "./programFile";
import { NOT_DEPLOYED, whatItIs } from "./reasons";
import { settingOf } from "./setting";
import { isHole, isUndefined, keyOf, wrapped } from "./value";

/** The reason why it cannot be edited, and where. */
export interface Obstacle {
  readonly reason: string;
  readonly node: ts.Node;
  /** The value in the stack's configuration, and the rest of the path in it. */
  readonly setting?: { readonly key: string; readonly path: Origin };
}

export type PlainProperty = ts.PropertyAssignment | ts.ShorthandPropertyAssignment;

export interface PropertyPlace {
  /** The object literal that contains the property, or would. */
  readonly object: ts.ObjectLiteralExpression;
  /** Undefined if the program does not set it. */
  readonly property: PlainProperty | undefined;
}

interface Sought {
  /** The second argument of the `new`. */
  readonly given: ts.Expression;
  readonly path: Origin;
  /** The Pulumi project. */
  readonly project: string;
}

/** The place of a property by its path. Whether the program uses it is up to the plan. */
export function placeOf(file: ProgramFile, { given, path, project }: Sought): PropertyPlace | Obstacle {
  const [segment, ...rest] = path;
  if (segment === undefined) throw new Error("a path without a property");
  const setting = settingAt(file, given, { path, project });
  if (setting !== undefined) return setting;
  const literal = literalOf(file, given, {});
  if ("reason" in literal) return literal;
  const found = partOf(file, literal.node, segment);
  if ("reason" in found) return found;
  if (rest.length > 0) {
    if (found.value === undefined) return { node: literal.node, reason: NOT_DEPLOYED };
    return placeOf(file, { given: found.value, path: rest, project });
  }
  if (found.place === undefined) return obstacle(file, literal.node);
  return (found.value && settingAt(file, found.value, { path: [], project })) ?? found.place;
}

function settingAt(
  file: ProgramFile,
  node: ts.Expression,
  { path, project }: { readonly path: Origin; readonly project: string },
): Obstacle | undefined {
  const key = settingOf(file, node, project);
  return key === undefined
    ? undefined
    : { node, setting: { key, path }, reason: `the value is ${JSON.stringify(key)} of the stack's configuration` };
}

const obstacle = (file: ProgramFile, node: ts.Expression): Obstacle => ({
  node,
  reason: `the value is ${whatItIs(file, node)}`,
});

/** An element of a list, or a property of an object, and its value. */
function partOf(
  file: ProgramFile,
  node: ts.Expression,
  segment: Segment,
): { readonly value?: ts.Expression | undefined; readonly place?: PropertyPlace } | Obstacle {
  const { typescript } = file;
  if (typeof segment === "number" && typescript.isArrayLiteralExpression(node)) {
    const value = node.elements.some((one) => isHole(file, one)) ? undefined : node.elements[segment];
    return value === undefined ? obstacle(file, node) : { value };
  }
  if (!typescript.isObjectLiteralExpression(node)) return obstacle(file, node);
  const property = node.properties.findLast((one) => keyOf(file, one) === String(segment));
  if (property === undefined) return { place: { object: node, property } };
  if (!typescript.isPropertyAssignment(property) && !typescript.isShorthandPropertyAssignment(property))
    return { node: property, reason: `"${segment}" is a getter or a method` };
  return { value: valueIn(property), place: { object: node, property } };
}

/** The value of a property. */
export const valueIn = (property: PlainProperty): ts.Expression =>
  "initializer" in property ? property.initializer : property.name;

/** The literal that can be edited for a new value, behind constants that are used only here. */
export function literalOf(
  file: ProgramFile,
  node: ts.Expression,
  value: unknown,
): { readonly node: ts.Expression } | Obstacle {
  const { typescript } = file;
  const isNarrow = (type: ts.TypeNode | undefined): boolean =>
    type !== undefined && !allows(type.getText(file.source), value);
  const inside = wrapped(file, node);
  if (inside !== undefined) return isNarrow(inside.type) ? narrow(node) : literalOf(file, inside.expression, value);
  if (!typescript.isIdentifier(node) || isUndefined(file, node)) return { node };
  const constant = file.constantOf(node);
  if (constant === undefined) return obstacle(file, node);
  const { declaration, initializer } = constant;
  const { name, type } = declaration;
  // A plan shows only what this stack makes of the constant.
  const shared = (how: string): Obstacle => ({
    node,
    reason: `the value is the constant "${node.text}", which is ${how}`,
  });
  if ((typescript.getCombinedModifierFlags(declaration) & typescript.ModifierFlags.Export) !== 0)
    return shared("exported");
  // A constant that a name refers to always has a name.
  if (!typescript.isIdentifier(name) || file.usesOf(name).length !== 1) return shared("used more than once");
  return isNarrow(type) ? narrow(node) : literalOf(file, initializer, value);
}

/** Types of this package whose values the check of the kind decides. */
const CHECKED = /^(?:\w+\.)?(?:ComputeSize|ComputeSettings|ProjectAuthEmail|(?!Shared|Standard)\w+Args)$/;

/** Whether a type allows a value, as far as its text shows: many programs run without a look at their types. */
function allows(type: string, value: unknown): boolean {
  const alternatives = type.split("|").map((one) => one.trim().replace(/^readonly /, ""));
  if (alternatives.length > 1) return alternatives.some((one) => allows(one, value));
  const [text = ""] = alternatives;
  if (text.endsWith("[]")) return Array.isArray(value) && value.every((item) => allows(text.slice(0, -2), item));
  if (/^(?:\w+\.)?(?:ComputeCu|AutoscalingCu)$/.test(text)) return typeof value === "number";
  return text === "const" || (typeof value !== "object" && text === typeof value) || CHECKED.test(text);
}

const narrow = (node: ts.Node): Obstacle => ({
  node,
  reason: "the program gives the value a type that may not allow the new one",
});

/** A value with another value at a path. Unknown parts stay unknown. */
export function withChange(value: unknown, [segment, ...rest]: readonly Segment[], found: unknown): unknown {
  if (segment === undefined) return found;
  if (!isObject(value)) return value;
  const { [segment]: _before, ...others } = value;
  const after = withChange(Object.hasOwn(value, segment) ? value[segment] : undefined, rest, found);
  return after === null || after === undefined ? others : { ...value, [segment]: after };
}
