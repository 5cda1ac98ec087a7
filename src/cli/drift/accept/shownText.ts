import type { Expression, Node } from "typescript";
import { holdsSecret, isSecretName, isSecretSetting } from "../../../contract/secretNames";
import { SECRET } from "../report";
import type { TypeScript } from "./edit";

/**
 * The text of a file as a diff may show it: without the literals that are a secret by their form, and those that a program gives as
 * one, by their name or by a call such as `pulumi.secret(…)`. The lines stay.
 */
export function shownText(typescript: TypeScript, name: string, text: string): string {
  const file = typescript.createSourceFile(name, text, typescript.ScriptTarget.Latest, true);
  const hidden: Node[] = [];
  const look = (node: Node, isSecret: boolean): void => {
    const isText = typescript.isStringLiteralLike(node) || typescript.isTemplateExpression(node);
    if ((isSecret && (isText || typescript.isNumericLiteral(node))) || (isText && holdsSecret(node.getText(file))))
      hidden.push(node);
    else typescript.forEachChild(node, (child) => look(child, isSecret || isSecretValue(typescript, node, child)));
  };
  look(file, false);
  return hidden.toReversed().reduce((shown, node) => {
    const lines = node.getText(file).split("\n").length - 1;
    return `${shown.slice(0, node.getStart(file))}"${SECRET}"${"\n".repeat(lines)}${shown.slice(node.end)}`;
  }, text);
}

/** What a name or a call makes a secret of. */
function isSecretValue(typescript: TypeScript, parent: Node, child: Node): boolean {
  if (typescript.isCallExpression(parent)) {
    return child !== parent.expression && isSecretName(parent.expression.getText().split(".").at(-1) ?? "");
  }
  // `args.password = "…"`, and `process.env["PASSWORD"] ?? "…"`.
  if (typescript.isBinaryExpression(parent)) {
    return child === parent.right && isNameOfSecret(nameOf(typescript, parent.left));
  }
  const isNamed =
    typescript.isPropertyAssignment(parent) ||
    typescript.isVariableDeclaration(parent) ||
    typescript.isPropertyDeclaration(parent);
  return isNamed && child !== parent.name && isNameOfSecret(parent.name.getText());
}

/** A Postgres setting is told by its dot: `sortKey` of a program is none. */
const isNameOfSecret = (name: string): boolean => isSecretName(name) || (name.includes(".") && isSecretSetting(name));

function nameOf(typescript: TypeScript, expression: Expression): string {
  if (typescript.isNonNullExpression(expression)) return nameOf(typescript, expression.expression);
  if (typescript.isPropertyAccessExpression(expression)) return expression.name.text;
  return typescript.isElementAccessExpression(expression)
    ? expression.argumentExpression.getText()
    : expression.getText();
}
