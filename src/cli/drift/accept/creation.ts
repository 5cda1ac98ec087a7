/** Where a program creates a resource. */
import type * as ts from "typescript";
import type { Kind } from "../../../contract/pointer";
import { isUnknown } from "../../../contract/hiddenKeys";
import type { ProgramFile } from "./programFile";
import { valueOf } from "./value";

/** `new svc.ComputeEndpoint("api", …)` */
export interface Creation {
  readonly file: ProgramFile;
  readonly expression: ts.NewExpression;
}

/** Why there is none, in words; where it is known, the place that the words are about. */
export interface NoCreation {
  readonly reason: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
}

/** How the reason begins where the state has another program in mind. */
export const STALE = "the position no longer fits the file";

interface Sought {
  readonly kind: Kind;
  readonly name: string;
}

/** The creation at a place of the file. The innermost one: another may stand among its arguments. */
export function creationAt(
  file: ProgramFile,
  place: { readonly line: number; readonly column: number },
  { kind, name }: Sought,
): Creation | NoCreation {
  const at = { file: file.name, line: place.line };
  const noLongerFits = `${STALE}: there is no \`new ${kind}\` with the name ${JSON.stringify(name)} at it. Deploy the program once, so that the state knows where it creates the resource`;
  const position = file.positionOf(place);
  if (position === undefined) return { ...at, reason: noLongerFits };
  const { source, typescript } = file;
  // V8 gives the place of `new`, with source maps too; a map without that place gives one within the expression.
  const expression = file
    .all(typescript.isNewExpression)
    .filter((one) => one.getStart(source) <= position && position < headEnd(one))
    .at(-1);
  if (expression === undefined) {
    return isSuper(file, position)
      ? { ...at, reason: `the program creates it by a class of its own, not by ${kind} of pulumi-svc` }
      : { ...at, reason: noLongerFits };
  }
  const created = file.exportOf(expression.expression);
  if (created === undefined) {
    const reason = `the class there is one of the program, or a name or an expression that may be another one than ${kind} of pulumi-svc`;
    return { ...at, reason };
  }
  if (created !== kind) {
    const isComponent = ["ComputeGroup", "ProjectAuth"].includes(created);
    return { ...at, reason: isComponent ? `a ${created} creates it: edit its arguments` : noLongerFits };
  }
  const found = nameOf(file, expression);
  if (found === undefined)
    return { ...at, reason: "the name of the resource is an expression, so the place may create others too" };
  return found === name ? { file, expression } : { ...at, reason: noLongerFits };
}

/** The class, and nothing of the arguments. */
const headEnd = ({ expression, arguments: given }: ts.NewExpression): number => given?.pos ?? expression.end;

/** `super(…)`; or a class that leaves out its constructor, as some versions of V8 tell of it. */
function isSuper(file: ProgramFile, position: number): boolean {
  const { source, typescript } = file;
  const isCall = file
    .all(typescript.isCallExpression)
    .some(
      ({ expression }) =>
        expression.kind === typescript.SyntaxKind.SuperKeyword && expression.getStart(source) === position,
    );
  return isCall || file.all(typescript.isClassLike).some((node) => node.getStart(source) === position);
}

/** The one creation in the program. */
export function creationOf(files: Iterable<ProgramFile>, { kind, name }: Sought): Creation | NoCreation {
  const all = [...files].flatMap((file) =>
    file
      .all(file.typescript.isNewExpression)
      .filter((expression) => file.exportOf(expression.expression) === kind)
      .map((expression) => ({ file, expression })),
  );
  const found = all.filter(({ file, expression }) => nameOf(file, expression) === name);
  const [creation, ...others] = found;
  const what = `\`new ${kind}\` with the name ${JSON.stringify(name)}`;
  if (creation === undefined) return { reason: `no ${what} was found in the program` };
  // The one that is found may be in code that does not run.
  const other = all.find(({ file, expression }) => mayHaveName(file, expression, name));
  if (other !== undefined) {
    const at = `${other.file.name}:${other.file.lineOf(other.expression)}`;
    return { reason: `the program has a ${what}, and another one whose name is an expression: ${at}` };
  }
  if (others.length === 0) return creation;
  const places = found.map(({ file, expression }) => `${file.name}:${file.lineOf(expression)}`);
  return { reason: `the program has more than one ${what}: ${places.join(", ")}` };
}

function nameOf(file: ProgramFile, expression: ts.NewExpression): string | undefined {
  const first = expression.arguments?.[0];
  const name = first === undefined || file.typescript.isSpreadElement(first) ? undefined : valueOf(file, first);
  return typeof name === "string" && !isUnknown(name) ? name : undefined;
}

/** Whether the name is an expression that may be worth this one. */
function mayHaveName(file: ProgramFile, expression: ts.NewExpression, name: string): boolean {
  if (nameOf(file, expression) !== undefined) return false;
  const first = expression.arguments?.[0];
  if (first === undefined || !file.typescript.isTemplateExpression(first)) return true;
  const { head, templateSpans: spans } = first;
  const end = spans.at(-1)?.literal.text ?? "";
  return name.startsWith(head.text) && name.endsWith(end) && name.length >= head.text.length + end.length;
}

const REPEATED = "it is created in a function that may create others too";

/** Why several resources may come from one place; undefined where the program runs it once. */
export function repetitionOf({ file, expression }: Creation): string | undefined {
  const { typescript } = file;
  const functions = new Set<ts.Node>();
  let node: ts.Node = expression;
  while (!typescript.isSourceFile(node)) {
    const { parent }: ts.Node = node;
    if (typescript.isIterationStatement(parent, false)) return "it is created in a loop";
    const isOfClass = typescript.isClassLike(parent) || typescript.isClassLike(parent.parent);
    if (isOfClass) return "it is created in a class, which may create others too";
    node = parent;
    if (!typescript.isFunctionLike(parent)) continue;
    const run = functions.has(parent) ? undefined : onlyRun(file, parent);
    if (run === undefined) return REPEATED;
    if (run === "program") return undefined;
    functions.add(parent);
    // From here on, where it runs counts, not where it stands.
    node = run;
  }
  return undefined;
}

/** The one place that runs a function; `"program"`: the SDK runs it, as the whole program. */
function onlyRun(file: ProgramFile, declared: ts.Node): ts.Node | "program" | undefined {
  const { typescript } = file;
  if (typescript.isFunctionDeclaration(declared)) {
    const flags = typescript.getCombinedModifierFlags(declared);
    if ((flags & typescript.ModifierFlags.Export) === 0) return declared.name && onlyUse(file, declared.name);
    const isDefault = (flags & typescript.ModifierFlags.Default) !== 0;
    return isDefault && !usesItself(file, declared) ? "program" : undefined;
  }
  const isExpression = typescript.isFunctionExpression(declared) || typescript.isArrowFunction(declared);
  if (!isExpression || (typescript.isFunctionExpression(declared) && usesItself(file, declared))) return undefined;
  const ran = runBy(file, declared);
  if (ran !== undefined) return ran;
  const node = inParentheses(file, declared);
  const { parent } = node;
  if (!typescript.isVariableDeclaration(parent) || !typescript.isIdentifier(parent.name)) return undefined;
  const isExported = (typescript.getCombinedModifierFlags(parent) & typescript.ModifierFlags.Export) !== 0;
  const isConstant = file.constantOf(parent.name)?.initializer === node;
  return isConstant && !isExported ? onlyUse(file, parent.name) : undefined;
}

const usesItself = (file: ProgramFile, { name }: ts.FunctionDeclaration | ts.FunctionExpression): boolean =>
  name !== undefined && file.usesOf(name).length > 0;

function onlyUse(file: ProgramFile, name: ts.Identifier): ts.Node | "program" | undefined {
  const [use, ...others] = file.usesOf(name);
  return use !== undefined && others.length === 0 ? runBy(file, use) : undefined;
}

/** What runs a function that stands here: a call, or the SDK, which runs what a program exports as a whole. */
function runBy(file: ProgramFile, node: ts.Expression): ts.Node | "program" | undefined {
  const { typescript } = file;
  const outer = inParentheses(file, node);
  const { parent } = outer;
  if (typescript.isCallExpression(parent) && parent.expression === outer) return parent;
  if (typescript.isExportAssignment(parent)) return "program";
  const isAssigned = typescript.isBinaryExpression(parent) && parent.right === outer;
  return isAssigned && parent.left.getText(file.source) === "module.exports" ? "program" : undefined;
}

function inParentheses(file: ProgramFile, node: ts.Expression): ts.Expression {
  return file.typescript.isParenthesizedExpression(node.parent) ? inParentheses(file, node.parent) : node;
}
