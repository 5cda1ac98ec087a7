import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { ROOT } from "./cli";

/** At least two words, the first of them a real one: shorter texts are names, keys or units. */
const PROSE = /[A-Za-z]{2,}[,:;]? ["'(`]?[A-Za-z]/;

/**
 * Every message of this package: the texts in src, with inserted text in `{braces}`, and `{a | b}` for either of two.
 */
export function messages(): string[] {
  const files = globSync("src/**/*.ts", { cwd: ROOT }).sort();
  const found = files.flatMap((file) =>
    messagesIn(ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true)),
  );
  return [...new Set(found)];
}

function messagesIn(node: ts.Node): string[] {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return [];
  const text = isText(node) ? rendered(node).replace(/\s+/g, " ").trim() : "";
  // A text without prose may contain prose in a part of a template or a branch of a condition.
  const isProse = PROSE.test(text.replace(/\{[^{}]*\}/g, "{}"));
  return isProse ? [text] : node.getChildren().flatMap(messagesIn);
}

/** A literal, a template, or a concatenation of them. */
function isText(node: ts.Node): node is ts.Expression {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true;
  const isSum = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
  return isSum && (isText(node.left) || isText(node.right));
}

function rendered(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return rendered(node.expression);
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => rendered(span.expression) + span.literal.text).join("");
  }
  if (ts.isBinaryExpression(node) && isText(node)) return rendered(node.left) + rendered(node.right);
  if (ts.isConditionalExpression(node)) {
    const branches = [node.whenTrue, node.whenFalse].map((each) => rendered(each).replace(/^\{([^{}|]*)\}$/, "$1"));
    return branches.includes("") ? `{${branches.join("")} |}` : `{${branches.join(" | ")}}`;
  }
  return `{${node.getText()}}`;
}
