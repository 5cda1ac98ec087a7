import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { ROOT } from "../lib/paths.mjs";

/** Two words at least, the first of them a real one: what is shorter is a name, a key or a unit. */
const PROSE = /[A-Za-z]{2,}[,:;]? ["'(`]?[A-Za-z]/;

/** All messages, by the file that says them. */
export function messages(): string {
  const files = globSync("src/**/*.ts", { cwd: ROOT }).sort();
  const sections = files.flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true);
    const messages = [...new Set(messagesIn(source))];
    return messages.length === 0 ? [] : [`## ${file}\n\n\`\`\`text\n${messages.join("\n")}\n\`\`\``];
  });
  return sections.join("\n\n");
}

function messagesIn(node: ts.Node): string[] {
  if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return [];
  const text = isText(node) ? rendered(node).replace(/\s+/g, " ").trim() : "";
  // A text without prose may still hold one: the part of a template, a branch of a condition.
  const isProse = PROSE.test(text.replace(/\{[^{}]*\}/g, "{}"));
  return isProse ? [text] : node.getChildren().flatMap(messagesIn);
}

/** A literal, a template, or several of them joined. */
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
