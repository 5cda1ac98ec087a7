import type { Node } from "typescript";
import { isSecretName } from "../../../contract/secretNames";
import { SECRET } from "../report";
import type { TypeScript } from "./edit";

/**
 * The text of a file as a diff may show it: without the literals that a program gives as a secret, by their name or by a
 * call such as `pulumi.secret(…)`. The lines stay.
 */
export function shownText(typescript: TypeScript, name: string, text: string): string {
  const file = typescript.createSourceFile(name, text, typescript.ScriptTarget.Latest, true);
  const hidden: Node[] = [];
  const look = (node: Node, isSecret: boolean): void => {
    const isText =
      typescript.isStringLiteralLike(node) ||
      typescript.isTemplateExpression(node) ||
      typescript.isNumericLiteral(node);
    if (isText && isSecret) hidden.push(node);
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
  const isNamed =
    typescript.isPropertyAssignment(parent) ||
    typescript.isVariableDeclaration(parent) ||
    typescript.isPropertyDeclaration(parent);
  return isNamed && child !== parent.name && isSecretName(parent.name.getText());
}
