/** Describes expressions whose value the file's text does not show. No value is quoted: it may be secret. */
import type * as ts from "typescript";
import { containsUnknown } from "../../../contract/hiddenKeys";
import { segmentsOf } from "../../../contract/propertyPath";
import { isReference, referenceName, type SecretReference } from "../../../contract/references";
import type { Property } from "../report";
import type { ProgramFile } from "./programFile";
import { isHole, keyOf, valueOf, wrapped } from "./value";

export function whatItIs(file: ProgramFile, node: ts.Expression): string {
  const { typescript } = file;
  const inside = wrapped(file, node)?.expression ?? (typescript.isAwaitExpression(node) ? node.expression : undefined);
  if (inside !== undefined) return whatItIs(file, inside);
  if (typescript.isIdentifier(node)) return whatNameIs(file, node);
  if (typescript.isConditionalExpression(node)) return "a conditional expression";
  if (typescript.isTemplateExpression(node)) return "a template with an expression in it";
  if (typescript.isCallExpression(node)) return whatCallIs(file, node);
  if (/^process\.env\b/.test(node.getText(file.source))) return "an environment variable";
  if (typescript.isArrayLiteralExpression(node)) {
    if (node.elements.some((element) => isHole(file, element))) return "a list with a spread in it";
    return whatPartIs(file, "a list", node.elements);
  }
  if (typescript.isObjectLiteralExpression(node)) {
    const values = node.properties.map((property) => {
      if (keyOf(file, property) === undefined) return undefined;
      return typescript.isPropertyAssignment(property) ? property.initializer : shorthand(file, property);
    });
    const known = values.filter((value) => value !== undefined);
    if (known.length < values.length) return "an object with a spread, a computed name or a method in it";
    return whatPartIs(file, "an object", known);
  }
  return "an expression";
}

const shorthand = ({ typescript }: ProgramFile, property: ts.ObjectLiteralElementLike): ts.Identifier | undefined =>
  typescript.isShorthandPropertyAssignment(property) ? property.name : undefined;

function whatPartIs(file: ProgramFile, whole: string, parts: readonly ts.Expression[]): string {
  const part = parts.find((one) => containsUnknown(valueOf(file, one)));
  return part === undefined ? "an expression" : `${whole} that contains ${whatItIs(file, part)}`;
}

function whatNameIs(file: ProgramFile, name: ts.Identifier): string {
  const { typescript } = file;
  const declaration = file.declarationOf(name);
  const constant = file.constantOf(name);
  if (constant !== undefined && !containsUnknown(valueOf(file, constant.initializer))) {
    return `the constant "${name.text}", which the program may change`;
  }
  if (constant !== undefined) return `the constant "${name.text}", which is ${whatItIs(file, constant.initializer)}`;
  if (declaration === undefined) return "an expression";
  if (typescript.isParameter(declaration)) return `the parameter "${name.text}" of a function`;
  if (typescript.isVariableDeclaration(declaration)) return `the variable "${name.text}", which may change`;
  const isImported =
    typescript.isImportSpecifier(declaration) ||
    typescript.isImportClause(declaration) ||
    typescript.isNamespaceImport(declaration);
  return isImported ? `"${name.text}" from another file` : "an expression";
}

function whatCallIs(file: ProgramFile, { expression: callee }: ts.CallExpression): string {
  const { typescript } = file;
  const name = typescript.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText(file.source);
  if (/^((get|require)Secret\w*|secret)$/.test(name)) return "a secret";
  const isConfigured = typescript.isPropertyAccessExpression(callee) && isConfig(file, callee.expression);
  return isConfigured ? CONFIGURED : "an expression";
}

export const CONFIGURED = "a value of the stack's configuration";

/** `new pulumi.Config()`, or a name for it. */
function isConfig(file: ProgramFile, node: ts.Expression): boolean {
  const { typescript } = file;
  if (typescript.isIdentifier(node)) {
    const constant = file.constantOf(node);
    return (
      constant !== undefined && typescript.isNewExpression(constant.initializer) && isConfig(file, constant.initializer)
    );
  }
  return typescript.isNewExpression(node) && /(^|\.)Config$/.test(node.expression.getText(file.source));
}

/** For a secret that is not given by reference: no report contains the found value, and no program should. */
export function otherThanSecret({ path, found }: Pick<Property, "path" | "found">): string {
  if (found === null) return `it is a secret, which is no longer set. Remove it from the program, or ${SEND}`;
  const words = String(segmentsOf(path).at(-1)).replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  const variable = words.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return `it is a secret, or looks like one, so its value is not written to the program. Use svc.fromEnv("${variable}"), or ${SEND}`;
}

const SEND = "run pulumi up --refresh or pulumi-svc drift --repair to send the declared value again";

/** For a secret by reference: no report contains the found value, and no program should. */
export function otherThanReferred({ declared, found }: Pick<Property, "declared" | "found">): string {
  if (found === null)
    return `it is a secret by reference, which is no longer set. Remove it from the program, or ${SEND}`;
  const holder = isReference(declared) ? holderOf(declared) : "the variable or file of each";
  return `it is a secret by reference. Set ${holder} to the other value and run pulumi up, or ${SEND}`;
}

const holderOf = (reference: SecretReference): string =>
  "fromEnv" in reference ? `the variable ${referenceName(reference)}` : referenceName(reference);
