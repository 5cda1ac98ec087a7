import ts from "typescript";
import { sourceText } from "./members.mjs";

/**
 * What the constructor of a resource hands to `SvcResource` about itself.
 * @typedef {object} Declaration
 * @property {string[]} secrets
 * @property {boolean} deleteBeforeReplace
 */

/** @param {ts.ClassDeclaration} node */
export function isSvcResource(node) {
  return node.heritageClauses?.[0]?.getText() === "extends SvcResource";
}

/**
 * @param {ts.ClassDeclaration} node
 * @returns {Declaration}
 */
export function declarationOf(node) {
  const declaration = firstObject(node.members.find(ts.isConstructorDeclaration));
  const value = (/** @type {string} */ name) =>
    declaration?.properties.filter(ts.isPropertyAssignment).find((property) => property.name.getText() === name)
      ?.initializer;
  const names = ["secretArgs", "secretOutputs"].flatMap((name) => {
    const list = value(name);
    return list && ts.isArrayLiteralExpression(list) ? list.elements.filter(ts.isStringLiteral) : [];
  });
  return {
    secrets: names.map(({ text }) => text),
    deleteBeforeReplace: value("deleteBeforeReplace")?.kind === ts.SyntaxKind.TrueKeyword,
  };
}

/**
 * The outputs that the class declares, with the type inside of `pulumi.Output`.
 * @param {ts.ClassDeclaration} node
 */
export function outputTypes(node) {
  const properties = node.members.filter(ts.isPropertyDeclaration);
  return new Map(
    properties.map(({ name, type }) => {
      const argument = type && ts.isTypeReferenceNode(type) ? type.typeArguments?.[0] : undefined;
      return [name.getText(), argument ? sourceText(argument) : ""];
    }),
  );
}

/**
 * @param {ts.Node | undefined} node
 * @returns {ts.ObjectLiteralExpression | undefined}
 */
function firstObject(node) {
  if (!node || ts.isObjectLiteralExpression(node)) return node;
  return ts.forEachChild(node, firstObject);
}
