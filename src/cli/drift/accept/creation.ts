/** Finds where a program creates a resource. */
import { isBuiltin } from "node:module";
import type * as ts from "typescript";
import type { ComponentName } from "../../../contract/componentNames";
import type { Kind } from "../../../contract/pointer";
import { isUnknown } from "../../../contract/hiddenKeys";
import type { ProgramFile } from "./programFile";
import { isUndefined, keyOf, objectIn, valueOf } from "./value";

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
  /** Its parent is a resource, not the stack, according to its URN. */
  readonly hasParent: boolean;
}

const OTHER_CLASS = "the class there is defined in the program, or is a name or an expression that may not be";

/** The innermost creation at a position of the file: its arguments may contain another. */
export function creationAt(
  file: ProgramFile,
  place: { readonly line: number; readonly column: number },
  { kind, name, hasParent }: Sought,
): Creation | NoCreation {
  const at = { file: file.name, line: place.line };
  const noLongerFits = `${STALE}: there is no \`new ${kind}\` with the name ${JSON.stringify(name)} there. Deploy the program once, so that the state records where the resource is created`;
  const position = file.positionOf(place);
  if (position === undefined) return { ...at, reason: noLongerFits };
  const { source, typescript } = file;
  // V8 reports the position of `new`, also with source maps; a map without that position gives one within the
  // expression.
  const expression = file
    .all(typescript.isNewExpression)
    .filter((one) => one.getStart(source) <= position && position < headEnd(one))
    .at(-1);
  if (expression === undefined) {
    return isSuper(file, position)
      ? { ...at, reason: `the program creates it with a class of its own, not with ${kind} of pulumi-svc` }
      : { ...at, reason: noLongerFits };
  }
  const created = file.exportOf(expression.expression);
  if (created === undefined) {
    return { ...at, reason: `${OTHER_CLASS} ${kind} of pulumi-svc` };
  }
  if (created !== kind) return { ...at, reason: noLongerFits };
  const found = nameOf(file, expression);
  if (found === undefined)
    return { ...at, reason: "the name of the resource is an expression, so the place may create others too" };
  if (found !== name) return { ...at, reason: noLongerFits };
  return mayHaveParent(file, expression, hasParent)
    ? { file, expression }
    : { ...at, reason: `the parent there is not the parent of the resource in the state` };
}

/** The class, without the arguments. */
const headEnd = ({ expression, arguments: given }: ts.NewExpression): number => given?.pos ?? expression.end;

/** `super(…)`, or a class without a constructor, as some versions of V8 report it. */
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

/** The only creation in the program that can be this resource, including files that only another stack imports. */
export function creationOf(files: Iterable<ProgramFile>, { kind, name, hasParent }: Sought): Creation | NoCreation {
  const all = [...files].flatMap((file) =>
    file
      .all(file.typescript.isNewExpression)
      .map((expression) => ({ file, expression, created: file.exportOf(expression.expression) }))
      .filter(({ created, expression: one }) => created === kind || (created === undefined && mayBeOurs(file, one)))
      .filter(({ expression: one }) => mayHaveParent(file, one, hasParent)),
  );
  const place = ({ file, expression }: Creation): string => `${file.name}:${file.lineOf(expression)}`;
  const named = all.filter(({ file, expression }) => nameOf(file, expression) === name);
  const [creation, ...others] = named.filter(({ created }) => created === kind);
  const what = `\`new ${kind}\` with the name ${JSON.stringify(name)}`;
  const [unclear] = named.filter(({ created }) => created === undefined);
  if (creation === undefined) {
    if (unclear === undefined) return { reason: `no ${what} was found in the program` };
    const { file, expression } = unclear;
    return { file: file.name, line: file.lineOf(expression), reason: `${OTHER_CLASS} ${kind} of pulumi-svc` };
  }
  // The one that was found may be in code that does not run.
  const other = all.find(
    ({ file, expression, created }) =>
      mayHaveName(file, expression, name) && (created === kind || lastName(file, expression.expression) === kind),
  );
  if (other !== undefined) {
    return { reason: `the program has a ${what}, and another one whose name is an expression: ${place(other)}` };
  }
  if (unclear !== undefined) {
    return {
      reason: `the program has a ${what}, and another class that may be ${kind}, with this name: ${place(unclear)}`,
    };
  }
  if (others.length === 0) return creation;
  const places = named.map(place);
  return { reason: `the program has more than one ${what}: ${places.join(", ")}` };
}

/**
 * Whether a class that the file does not identify may be one of this package or extend one, through another file or
 * package.
 */
function mayBeOurs(file: ProgramFile, { expression, arguments: list }: ts.NewExpression): boolean {
  const { typescript } = file;
  const given = list ?? [];
  // Each kind has arguments. A constructor of the program itself that takes only a name has a position in the state.
  if (given.length < 2 && !given.some((one) => typescript.isSpreadElement(one))) return false;
  return mayBeClass(file, expression);
}

function mayBeClass(file: ProgramFile, node: ts.Expression): boolean {
  const { typescript } = file;
  const module = file.moduleOf(node);
  // Pulumi's own packages contain no class of this package.
  if (module !== undefined) return !module.startsWith("@pulumi/") && !isBuiltin(module);
  const bare = file.bare(node);
  if (!typescript.isIdentifier(bare)) return true;
  if (!file.isDeclared(bare)) return !(bare.text in globalThis);
  const declaration = file.declarationOf(bare);
  if (declaration === undefined || !typescript.isClassDeclaration(declaration)) return true;
  const clause = declaration.heritageClauses?.find(({ token }) => token === typescript.SyntaxKind.ExtendsKeyword);
  const parent = clause?.types[0]?.expression;
  return parent !== undefined && (file.exportOf(parent) !== undefined || mayBeClass(file, parent));
}

/** The last name of an expression: `ComputeEndpoint` for `lib.svc.ComputeEndpoint`. */
function lastName({ typescript }: ProgramFile, node: ts.Expression): string | undefined {
  const name = typescript.isPropertyAccessExpression(node) ? node.name : node;
  return typescript.isIdentifier(name) ? name.text : undefined;
}

/** Whether the options may set a parent (or none), whichever the URN shows. */
function mayHaveParent(file: ProgramFile, { arguments: list }: ts.NewExpression, hasParent: boolean): boolean {
  const { typescript } = file;
  const given = list ?? [];
  if (given.some((one) => typescript.isSpreadElement(one))) return true;
  const options = given[2];
  if (options === undefined || (typescript.isIdentifier(options) && isUndefined(file, options))) return !hasParent;
  const properties = objectIn(file, options)?.properties;
  const isKnown = properties?.every((one) => keyOf(file, one) !== undefined) === true;
  if (!isKnown || (typescript.isIdentifier(options) && file.mayChange(options))) return true;
  const parent = properties.find((one) => keyOf(file, one) === "parent");
  if (parent === undefined) return !hasParent;
  return hasParent || !typescript.isPropertyAssignment(parent) || !isResource(file, parent.initializer);
}

/** Whether an expression is certainly a resource, and never `undefined`. */
function isResource(file: ProgramFile, expression: ts.Expression): boolean {
  const { typescript } = file;
  const node = file.bare(expression);
  const constant = typescript.isIdentifier(node) ? file.constantOf(node)?.initializer : undefined;
  return node.kind === typescript.SyntaxKind.ThisKeyword || typescript.isNewExpression(constant ?? node);
}

function nameOf(file: ProgramFile, expression: ts.NewExpression): string | undefined {
  const first = expression.arguments?.[0];
  const name = first === undefined || file.typescript.isSpreadElement(first) ? undefined : valueOf(file, first);
  return typeof name === "string" && !isUnknown(name) ? name : undefined;
}

/** Whether the name may evaluate to this value. */
function mayHaveName(file: ProgramFile, expression: ts.NewExpression, name: string): boolean {
  if (nameOf(file, expression) !== undefined) return false;
  const first = expression.arguments?.[0];
  if (first === undefined || !file.typescript.isTemplateExpression(first)) return true;
  const { head, templateSpans: spans } = first;
  const end = spans.at(-1)?.literal.text ?? "";
  return name.startsWith(head.text) && name.endsWith(end) && name.length >= head.text.length + end.length;
}

const REPEATED = "it is created in a function that may create others too";

/** Why one place may create several resources; undefined if the program runs it once. */
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
    // From here on, the place of the call matters.
    node = run;
  }
  return undefined;
}

/** The only place that runs a function; `"program"`: the SDK runs it as the whole program. */
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

/**
 * What runs the function at this place: a call, or the SDK, which runs a function that a program exports as a whole.
 */
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
