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
  return isJoined(node) && (isText(node.left) || isText(node.right));
}

function isJoined(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}

function rendered(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return rendered(node.expression);
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => rendered(span.expression) + span.literal.text).join("");
  }
  if (isJoined(node)) return rendered(node.left) + rendered(node.right);
  if (ts.isConditionalExpression(node)) {
    const branches = [node.whenTrue, node.whenFalse].map((each) => rendered(each).replace(/^\{([^{}|]*)\}$/, "$1"));
    return branches.includes("") ? `{${branches.join("")} |}` : `{${branches.join(" | ")}}`;
  }
  return `{${nameOf(node)}}`;
}

/** What a placeholder is called: the name that its expression begins with, or that of the function. */
function nameOf(node: ts.Expression): string {
  if (ts.isBinaryExpression(node)) return nameOf(node.left);
  if (ts.isCallExpression(node)) {
    const { expression: callee } = node;
    const [first] = node.arguments;
    if (ts.isPropertyAccessExpression(callee)) {
      const changesForm = ["map", "join", "replace", "toFixed"].includes(callee.name.text);
      if (changesForm || !ts.isIdentifier(callee.expression)) return nameOf(callee.expression);
    }
    const isNamed = first && (ts.isIdentifier(first) || ts.isPropertyAccessExpression(first));
    return isNamed ? nameOf(first) : callee.getText();
  }
  if (ts.isPropertyAccessExpression(node)) {
    const isVague = ["length", "message", "name", "id"].includes(node.name.text);
    return isVague ? node.getText().replace(/[?!]/g, "") : node.name.text;
  }
  return ts.isIdentifier(node) ? node.text : "…";
}
