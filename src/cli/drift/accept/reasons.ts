/** Describes expressions whose value the file's text does not show. No value is quoted: it may be secret. */
import type * as ts from "typescript";
import { segmentsOf } from "../../../contract/propertyPath";
import { isReference, referenceName, type SecretReference } from "../../../contract/references";
import type { Property } from "../report";
import type { ProgramFile } from "./programFile";
import { wrapped } from "./value";

export function whatItIs(file: ProgramFile, node: ts.Expression): string {
  const { typescript } = file;
  const inside = wrapped(file, node)?.expression ?? (typescript.isAwaitExpression(node) ? node.expression : undefined);
  if (inside !== undefined) return whatItIs(file, inside);
  if (typescript.isIdentifier(node)) return whatNameIs(file, node);
  if (typescript.isConditionalExpression(node)) return "a conditional expression";
  if (typescript.isTemplateExpression(node)) return "a template with an expression in it";
  if (typescript.isArrayLiteralExpression(node)) return "a list with an expression in it";
  if (typescript.isObjectLiteralExpression(node)) return "an object with an expression in it";
  if (
    typescript.isCallExpression(node) &&
    /(^|\W)(?:(get|require)Secret\w*|secret)\W*$/.test(textOf(file, node.expression))
  )
    return "a secret";
  return /^process\.env\b/.test(textOf(file, node)) ? "an environment variable" : "an expression";
}

const textOf = (file: ProgramFile, node: ts.Node): string => node.getText(file.source);

function whatNameIs(file: ProgramFile, name: ts.Identifier): string {
  const { typescript } = file;
  const declaration = file.declarationOf(name);
  const constant = file.constantOf(name);
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

export const NOT_DEPLOYED = "the program has a change of it that is not deployed";

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
