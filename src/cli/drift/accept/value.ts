/** Converts the text of a program to a value, and back. */
import type * as ts from "typescript";
import { UNKNOWN_VALUE } from "../../../contract/hiddenKeys";
import { keyText, quotedIn, type Quote } from "../../code";
import { isObject } from "../../../contract/ignoredChanges";
import type { ProgramFile } from "./programFile";

/**
 * The value of an expression as far as the file's text shows it. Unknown parts are `UNKNOWN_VALUE`, as in a preview.
 */
export function valueOf(file: ProgramFile, node: ts.Expression, depth = 0): unknown {
  const { typescript } = file;
  const { SyntaxKind } = typescript;
  const next = (inner: ts.Expression): unknown => valueOf(file, inner, depth + 1);
  if (depth > 50) return UNKNOWN_VALUE;
  const inside = wrapped(file, node);
  if (inside !== undefined) return next(inside.expression);
  const literal = literalValue(file, node);
  if (literal !== undefined) return literal;
  if (node.kind === SyntaxKind.NullKeyword) return null;
  if (typescript.isIdentifier(node)) {
    if (isUndefined(file, node)) return undefined;
    const constant = file.constantOf(node);
    return constant === undefined ? UNKNOWN_VALUE : next(constant.initializer);
  }
  if (typescript.isArrayLiteralExpression(node)) {
    const isPlain = node.elements.every((element) => !isHole(file, element));
    return isPlain ? node.elements.map(next) : UNKNOWN_VALUE;
  }
  if (typescript.isObjectLiteralExpression(node)) return objectValue(file, node, next);
  return UNKNOWN_VALUE;
}

/** A spread or a computed key makes the set of properties unknown. */
function objectValue(
  file: ProgramFile,
  node: ts.ObjectLiteralExpression,
  next: (inner: ts.Expression) => unknown,
): unknown {
  const { typescript } = file;
  const value: Record<string, unknown> = {};
  for (const property of node.properties) {
    if (typescript.isSpreadAssignment(property)) {
      const spread = next(property.expression);
      if (!isObject(spread)) return UNKNOWN_VALUE;
      Object.assign(value, spread);
      continue;
    }
    const key = keyOf(file, property);
    if (key === undefined) return UNKNOWN_VALUE;
    value[key] = typescript.isPropertyAssignment(property)
      ? next(property.initializer)
      : typescript.isShorthandPropertyAssignment(property)
        ? next(property.name)
        : UNKNOWN_VALUE;
  }
  return value;
}

/** The name of a property in the text; undefined: any (a spread, a computed name, a prototype). */
export function keyOf({ typescript }: ProgramFile, { name }: ts.ObjectLiteralElementLike): string | undefined {
  const isPlain =
    name !== undefined &&
    (typescript.isIdentifier(name) || typescript.isStringLiteral(name) || typescript.isNumericLiteral(name));
  return isPlain && name.text !== "__proto__" ? name.text : undefined;
}

/** The value of a string, number (also negative) or boolean literal. */
export function literalValue({ typescript }: ProgramFile, node: ts.Expression): string | number | boolean | undefined {
  const { SyntaxKind } = typescript;
  if (typescript.isStringLiteral(node) || typescript.isNoSubstitutionTemplateLiteral(node)) return node.text;
  // Its `text` is decimal, whatever notation the program uses.
  if (typescript.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === SyntaxKind.TrueKeyword) return true;
  if (node.kind === SyntaxKind.FalseKeyword) return false;
  if (!typescript.isPrefixUnaryExpression(node) || !typescript.isNumericLiteral(node.operand)) return undefined;
  return node.operator === SyntaxKind.MinusToken ? -Number(node.operand.text) : undefined;
}

/** The inner expression and the type of a parenthesised or typed expression. */
export function wrapped(
  { typescript }: ProgramFile,
  node: ts.Expression,
): { expression: ts.Expression; type?: ts.TypeNode } | undefined {
  if (typescript.isParenthesizedExpression(node)) return node;
  // A compiler before 4.9 has neither this kind nor a test for it.
  const isSatisfying = node.kind === typescript.SyntaxKind.SatisfiesExpression;
  if (isSatisfying) return node as ts.SatisfiesExpression;
  return typescript.isAsExpression(node) || typescript.isTypeAssertionExpression(node) ? node : undefined;
}

/** The object literal of an expression, as far as the file's text shows it. */
export function objectIn(file: ProgramFile, node: ts.Expression): ts.ObjectLiteralExpression | undefined {
  if (file.typescript.isObjectLiteralExpression(node)) return node;
  const constant = file.typescript.isIdentifier(node) ? file.constantOf(node)?.initializer : undefined;
  const inside = wrapped(file, node)?.expression ?? constant;
  return inside && objectIn(file, inside);
}

export function isUndefined(file: ProgramFile, node: ts.Identifier): boolean {
  return node.text === "undefined" && file.declarationOf(node) === undefined;
}

/** An omitted element or a spread is not exactly one element. */
export function isHole({ typescript }: ProgramFile, element: ts.Expression): boolean {
  return typescript.isSpreadElement(element) || typescript.isOmittedExpression(element);
}

/** The quote of a string literal; for anything else the file's usual quote. */
export function quoteOf(file: ProgramFile, node: ts.Node): Quote {
  const [begin] = node.getText(file.source);
  return begin === '"' || begin === "'" || begin === "`" ? begin : file.quote;
}

/** A value as code on one line. */
export function codeOf(value: unknown, quote: Quote): string {
  const quoted = (text: string): string => quotedIn(quote, text);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map((item) => codeOf(item, quote)).join(", ")}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => propertyCode(name, inner, quote));
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

export function propertyCode(name: string, value: unknown, quote: Quote): string {
  // A template literal cannot be a key.
  const keyQuote = quote === "`" ? '"' : quote;
  return `${keyText(name, (text) => quotedIn(keyQuote, text))}: ${codeOf(value, quote)}`;
}
