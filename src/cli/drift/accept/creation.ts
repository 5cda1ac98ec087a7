/** Finds where a program creates a resource. Whether it is this one, and only this one, is up to the plan. */
import type * as ts from "typescript";
import type { ComponentName } from "../../../contract/componentNames";
import { isUnknown } from "../../../contract/hiddenKeys";
import { isKind, type Kind } from "../../../contract/pointer";
import type { ProgramFile } from "./programFile";
import { valueOf } from "./value";

/** `new svc.ComputeEndpoint("api", …)` */
export interface Creation {
  readonly file: ProgramFile;
  readonly expression: ts.NewExpression;
}

/** The reason why there is none, and the place that it refers to, if known. */
export interface NoCreation {
  readonly reason: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** The start of the reason if the state does not match the program's current text. */
export const STALE = "the position no longer fits the file";

interface Sought {
  readonly kind: Kind | ComponentName;
  readonly name: string;
}

/** The innermost creation at a position of the file: its arguments may contain another. */
export function creationAt(
  file: ProgramFile,
  place: { readonly line: number; readonly column: number },
  { kind, name }: Sought,
): Creation | NoCreation {
  const { source, text, typescript } = file;
  const at = { file: file.name, line: place.line };
  const position = file.positionOf(place) ?? text.length;
  // V8 reports the position of `new`, also with source maps; a map without that position gives one within the
  // expression.
  const expression = file
    .all(typescript.isNewExpression)
    .filter((one) => one.getStart(source) <= position && position < (one.arguments?.pos ?? one.end))
    .at(-1);
  // `super(…)`, or a class without a constructor, as some versions of V8 report it.
  if (expression === undefined && /^(super|(export |default |abstract )*class)\b/.test(text.slice(position)))
    return { ...at, reason: `the program creates it with a class of its own, not with ${kind} of pulumi-svc` };
  const created = expression && classOf(file, expression.expression);
  const isOther = created !== kind && created !== undefined && isKind(created);
  const found = expression && nameOf(file, expression);
  if (expression !== undefined && !isOther && (found ?? name) === name) return { file, expression };
  const what = `there is no \`new ${kind}\` with the name ${JSON.stringify(name)} there`;
  return {
    ...at,
    reason: `${STALE}: ${what}. Deploy the program once, so that the state records where the resource is created`,
  };
}

/** The only creation in the program with this class and name, including files that only another stack imports. */
export function creationOf(files: Iterable<ProgramFile>, { kind, name }: Sought): Creation | NoCreation {
  const [creation, ...others] = [...files].flatMap((file) =>
    file
      .all(file.typescript.isNewExpression)
      .filter((one) => classOf(file, one.expression) === kind && nameOf(file, one) === name)
      .map((expression) => ({ file, expression })),
  );
  const what = `\`new ${kind}\` with the name ${JSON.stringify(name)}`;
  if (creation === undefined) return { reason: `no ${what} was found in the program` };
  if (others.length === 0) return creation;
  const places = [creation, ...others].map(({ file, expression }) => `${file.name}:${file.lineOf(expression)}`);
  return { reason: `the program has more than one ${what}: ${places.join(", ")}` };
}

/** The last name of a class as its package or file exports it: `ComputeEndpoint` for `lib.svc.ComputeEndpoint`. */
function classOf(file: ProgramFile, node: ts.Node, depth = 0): string | undefined {
  const { typescript } = file;
  // Declarations may be circular.
  const next = (inner: ts.Node): string | undefined => (depth > 9 ? undefined : classOf(file, inner, depth + 1));
  if (typescript.isParenthesizedExpression(node)) return next(node.expression);
  if (typescript.isPropertyAccessExpression(node)) return node.name.text;
  if (typescript.isQualifiedName(node)) return node.right.text;
  if (typescript.isElementAccessExpression(node)) return next(node.argumentExpression);
  if (typescript.isStringLiteral(node)) return node.text;
  if (!typescript.isIdentifier(node)) return undefined;
  const declaration = file.declarationOf(node);
  if (declaration === undefined) return node.text;
  if (typescript.isImportSpecifier(declaration) || typescript.isBindingElement(declaration)) {
    const { propertyName: name = declaration.name } = declaration;
    return typescript.isIdentifier(name) || typescript.isStringLiteral(name) ? name.text : undefined;
  }
  if (typescript.isImportEqualsDeclaration(declaration)) return next(declaration.moduleReference);
  const constant = file.constantOf(node)?.initializer;
  return constant === undefined ? node.text : next(constant);
}

/** Undefined: the name is an expression. */
function nameOf(file: ProgramFile, expression: ts.NewExpression): string | undefined {
  const first = expression.arguments?.[0];
  const name = first === undefined || file.typescript.isSpreadElement(first) ? undefined : valueOf(file, first);
  return typeof name === "string" && !isUnknown(name) ? name : undefined;
}
