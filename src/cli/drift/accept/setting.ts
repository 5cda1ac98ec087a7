/** Values that a program reads from the stack's configuration: they are changed there, by the user. */
import type * as ts from "typescript";
import { pathTo, type Segment } from "../../../contract/propertyPath";
import { inShell } from "../../code";
import type { ProgramFile } from "./programFile";
import { literalValue, wrapped } from "./value";

/** A secret of the configuration is none of them. */
const READ = /^(?:get|require)(?:Number|Boolean|Object|)$/;

/**
 * The key that an expression reads, such as `proj:size`: through constants, and with a default (`?? 1`) or without.
 * @param project the Pulumi project: the namespace of `new pulumi.Config()`
 */
export function settingOf(file: ProgramFile, node: ts.Expression, project: string): string | undefined {
  const { typescript } = file;
  const { SyntaxKind } = typescript;
  const next = (inner: ts.Expression | undefined): string | undefined => inner && settingOf(file, inner, project);
  const inside = wrapped(file, node);
  if (inside !== undefined) return next(inside.expression);
  if (typescript.isIdentifier(node)) return next(file.constantOf(node)?.initializer);
  if (typescript.isBinaryExpression(node)) {
    const isDefault = [SyntaxKind.QuestionQuestionToken, SyntaxKind.BarBarToken].includes(node.operatorToken.kind);
    return isDefault ? next(node.left) : undefined;
  }
  if (!typescript.isCallExpression(node) || !typescript.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: config } = node.expression;
  const namespace = READ.test(name.text) ? namespaceOf(file, config, project) : undefined;
  const key = node.arguments[0] && literalValue(file, node.arguments[0]);
  return namespace === undefined || typeof key !== "string" ? undefined : `${namespace}:${key}`;
}

/** The namespace of `new pulumi.Config()`, or of a constant with that value. */
function namespaceOf(file: ProgramFile, node: ts.Expression, project: string): string | undefined {
  const { typescript } = file;
  const created = typescript.isIdentifier(node) ? file.constantOf(node)?.initializer : node;
  if (created === undefined || !typescript.isNewExpression(created)) return undefined;
  if (!/(^|\.)Config$/.test(created.expression.getText(file.source))) return undefined;
  const [name] = created.arguments ?? [];
  const value = name === undefined ? project : literalValue(file, name);
  return typeof value === "string" ? value : undefined;
}

/**
 * The command that sets a value of the configuration, for a shell. `path`: within the value.
 * @returns undefined if the CLI has no command for such a value.
 */
export function commandToSet(
  key: string,
  { path, value, stack }: { readonly path: readonly Segment[]; readonly value: unknown; readonly stack: string },
): string | undefined {
  const isPart = path.length > 0;
  if (value === null || (isPart && typeof value === "object")) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // Without its type, a part that looks like a number or a flag becomes one, and a fraction becomes a text.
  const type = typeof value === "number" ? (Number.isInteger(value) ? "int" : "float") : TYPES[typeof value];
  const options = isPart ? `--path --type ${type ?? "string"} ` : "";
  const name = path.reduce<string>(
    (above, segment) => (typeof segment === "number" ? `${above}[${segment}]` : pathTo(above, segment)),
    key,
  );
  return `pulumi config set ${options}--stack ${inShell(stack)} ${inShell(name)} -- ${inShell(text)}`;
}

const TYPES: Readonly<Record<string, string>> = { boolean: "bool" };
