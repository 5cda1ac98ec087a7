import type * as ts from "typescript";
import { holdsSecret, isSecretName, isSecretSetting, mayBeSecret } from "../../../contract/secretNames";
import { SECRET } from "../report";
import type { TypeScript } from "./programFile";

/** What the surroundings of literals in a program show about them. */
interface Context {
  /** The name of the property, variable or parameter with this value. */
  readonly name: string;
  /** A call such as `pulumi.secret(…)` makes it a secret. */
  readonly isSecret: boolean;
}

const NONE: Context = { name: "", isSecret: false };

/**
 * The text of a file for a diff: without literals that are secret (by their name, by a call such as `pulumi.secret(…)`
 * or by their form), and without comments that contain one. The names of settings and variables and all lines stay.
 */
export function shownText(typescript: TypeScript, name: string, text: string): string {
  const file = typescript.createSourceFile(name, text, typescript.ScriptTarget.Latest, true);
  const hidden = new Map<number, { readonly end: number; readonly by: string }>();
  const hide = (start: number, end: number, by: string): void => {
    hidden.set(start, { end, by: by + "\n".repeat(text.slice(start, end).split("\n").length - 1) });
  };
  const look = (node: ts.Node, context: Context): void => {
    for (const { pos, end } of commentsAt(typescript, text, node))
      if (holdsSecret(text.slice(pos, end))) hide(pos, end, `/* ${SECRET} */`);
    const value = textOf(typescript, node);
    if (value !== "" && (context.isSecret || mayBeSecret(context.name, value)))
      return hide(node.getStart(file), node.end, `"${SECRET}"`);
    // Includes tokens, because each may have a comment before it.
    for (const child of node.getChildren(file)) look(child, contextOf(typescript, { node, child, context }));
  };
  look(file, NONE);
  return [...hidden]
    .toSorted(([one], [other]) => other - one)
    .reduce((shown, [start, { end, by }]) => `${shown.slice(0, start)}${by}${shown.slice(end)}`, text);
}

/** The text of a literal. A template that contains only expressions has none of its own. */
function textOf(typescript: TypeScript, node: ts.Node): string {
  if (typescript.isStringLiteralLike(node) || typescript.isNumericLiteral(node)) return node.text;
  if (!typescript.isTemplateExpression(node)) return "";
  const own = node.head.text + node.templateSpans.map(({ literal }) => literal.text).join("");
  return own === "" ? "" : node.getText();
}

const commentsAt = (typescript: TypeScript, text: string, { pos, end }: ts.Node): readonly ts.CommentRange[] => [
  ...(typescript.getLeadingCommentRanges(text, pos) ?? []),
  ...(typescript.getTrailingCommentRanges(text, end) ?? []),
];

function contextOf(
  typescript: TypeScript,
  { node, child, context }: { readonly node: ts.Node; readonly child: ts.Node; readonly context: Context },
): Context {
  if (typescript.isCallExpression(node) && child !== node.expression) {
    const callee = /(\w+)\W*$/.exec(node.expression.getText())?.[1] ?? "";
    // `config.requireSecret("smtpPassword")` and `svc.fromEnv("SMTP_PASSWORD")` only name a secret.
    if (/^(?:get|require|env$|from(?:Env|File)$)/.test(callee)) return NONE;
    return { ...context, isSecret: context.isSecret || isSecretName(callee) };
  }
  // `new pulumi.Config("smtp")` only names a part of the configuration.
  if (typescript.isNewExpression(node) && /(^|\.)Config$/.test(node.expression.getText())) return NONE;
  // `process.env["SMTP_PASSWORD"]`
  if (typescript.isElementAccessExpression(node)) return child === node.argumentExpression ? NONE : context;
  const named = nameGivenTo(typescript, node, child);
  if (named === child) return NONE;
  // Everything below a secret name is secret.
  return named === undefined || isSecretSetting(context.name) ? context : { ...context, name: named.getText() };
}

/** What a value is given to: a property, a variable, or the left side of `args.password = "…"`, `??` and the like. */
function nameGivenTo(typescript: TypeScript, node: ts.Node, child: ts.Node): ts.Node | undefined {
  if (typescript.isBinaryExpression(node)) return child === node.right ? node.left : undefined;
  const isNamed =
    typescript.isPropertyAssignment(node) ||
    typescript.isVariableDeclaration(node) ||
    typescript.isPropertyDeclaration(node) ||
    typescript.isParameter(node) ||
    typescript.isBindingElement(node);
  return isNamed ? node.name : undefined;
}
