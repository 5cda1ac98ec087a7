import { extname } from "node:path";
import type * as ts from "typescript";

/** The compiler of the user's project. */
export type TypeScript = typeof ts;

interface Constant {
  readonly declaration: ts.VariableDeclaration;
  readonly initializer: ts.Expression;
}

/** A file of the program: its syntax tree, and the meaning of its names. It does not look at other files. */
export class ProgramFile {
  readonly source: ts.SourceFile;
  /** The quote for new strings: the one that most strings of the file use. */
  readonly quote: '"' | "'";
  readonly #checker: ts.TypeChecker;

  /** @throws if the file does not parse. */
  constructor(
    readonly typescript: TypeScript,
    readonly name: string,
    readonly text: string,
  ) {
    // A made-up path: independent of the machine's files and path notation.
    const path = `/program${extname(name)}`;
    const source = typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true);
    const host: ts.CompilerHost = {
      getSourceFile: (file) => (file === path ? source : undefined),
      fileExists: (file) => file === path,
      readFile: () => undefined,
      writeFile: () => undefined,
      getDefaultLibFileName: () => "/lib.d.ts",
      getCurrentDirectory: () => "/",
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
    };
    const options = { allowJs: true, noLib: true, noResolve: true, types: [], target: typescript.ScriptTarget.Latest };
    const program = typescript.createProgram([path], options, host);
    const [problem] = program.getSyntacticDiagnostics(source);
    this.source = source;
    if (problem !== undefined) {
      const message = typescript.flattenDiagnosticMessageText(problem.messageText, " ");
      throw new Error(`${name}:${this.lineAt(problem.start)} does not parse: ${message}`);
    }
    this.#checker = program.getTypeChecker();
    const texts = this.all(typescript.isStringLiteral);
    const single = texts.filter((node) => text[node.getStart(source)] === "'");
    this.quote = single.length * 2 > texts.length ? "'" : '"';
  }

  /** Counted from 1. */
  lineAt(position: number): number {
    return this.source.getLineAndCharacterOfPosition(position).line + 1;
  }

  lineOf(node: ts.Node): number {
    return this.lineAt(node.getStart(this.source));
  }

  /** The position of a line and a column, counted from 1; undefined if the file has no such line. */
  positionOf({ line, column }: { line: number; column: number }): number | undefined {
    const start = this.source.getLineStarts()[line - 1];
    return start === undefined ? undefined : start + column - 1;
  }

  /** All nodes that pass the test, in the order of the text. */
  all<Found extends ts.Node>(is: (node: ts.Node) => node is Found, root: ts.Node = this.source): Found[] {
    const found: Found[] = [];
    const visit = (node: ts.Node): void => {
      if (is(node)) found.push(node);
      node.forEachChild(visit);
    };
    visit(root);
    return found;
  }

  /** The declaration of a name; undefined if the file has several or none. */
  declarationOf(name: ts.Identifier): ts.Declaration | undefined {
    const declarations = this.#symbolOf(name)?.declarations ?? [];
    const [declaration] = declarations;
    return declarations.length === 1 && declaration?.getSourceFile() === this.source ? declaration : undefined;
  }

  /** The uses of a name in the file, without its declaration. */
  usesOf(declared: ts.Identifier): ts.Identifier[] {
    const symbol = this.#symbolOf(declared);
    return this.all(this.typescript.isIdentifier).filter(
      (name) => name !== declared && name.text === declared.text && this.#symbolOf(name) === symbol,
    );
  }

  #symbolOf(name: ts.Identifier): ts.Symbol | undefined {
    const { parent } = name;
    if (this.typescript.isShorthandPropertyAssignment(parent)) {
      return this.#checker.getShorthandAssignmentValueSymbol(parent);
    }
    if (this.typescript.isExportSpecifier(parent)) return this.#checker.getExportSpecifierLocalTargetSymbol(parent);
    return this.#checker.getSymbolAtLocation(name);
  }

  /** The `const` that a name refers to, and its value. */
  constantOf(name: ts.Identifier): Constant | undefined {
    const declaration = this.declarationOf(name);
    const { typescript } = this;
    if (declaration === undefined || !typescript.isVariableDeclaration(declaration)) return undefined;
    const isConstant = (declaration.parent.flags & typescript.NodeFlags.Const) !== 0;
    const { initializer } = declaration;
    return isConstant && initializer !== undefined ? { declaration, initializer } : undefined;
  }
}
