import { extname } from "node:path";
import type * as ts from "typescript";

/** The compiler of the user's project. */
export type TypeScript = typeof ts;

/** The entries with the classes. */
const ENTRIES: readonly string[] = ["pulumi-svc", "pulumi-svc/native"];

/** Stands for the whole package among the names of its exports. */
const WHOLE = "*";

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

  /**
   * The module that an expression comes from, as in its import: `@pulumi/aws` for `aws.s3.Bucket`. Undefined if the
   * file does not show it.
   */
  moduleOf(node: ts.Node, depth = 0): string | undefined {
    const { typescript } = this;
    // Declarations may be circular.
    if (depth > 10) return undefined;
    const next = (inner: ts.Node): string | undefined => this.moduleOf(inner, depth + 1);
    const textOf = (specifier: ts.Node | undefined): string | undefined =>
      specifier !== undefined && typescript.isStringLiteral(specifier) ? specifier.text : undefined;
    const isPart = typescript.isPropertyAccessExpression(node) || typescript.isElementAccessExpression(node);
    if (isPart || typescript.isParenthesizedExpression(node) || typescript.isAwaitExpression(node)) {
      return next(node.expression);
    }
    if (typescript.isQualifiedName(node)) return next(node.left);
    if (typescript.isCallExpression(node)) return this.#loads(node) ? textOf(node.arguments[0]) : undefined;
    if (!typescript.isIdentifier(node)) return undefined;
    const declaration = this.declarationOf(node);
    if (declaration === undefined) return undefined;
    if (typescript.isImportSpecifier(declaration)) return textOf(declaration.parent.parent.parent.moduleSpecifier);
    if (typescript.isNamespaceImport(declaration)) return textOf(declaration.parent.parent.moduleSpecifier);
    if (typescript.isImportClause(declaration)) return textOf(declaration.parent.moduleSpecifier);
    if (typescript.isImportEqualsDeclaration(declaration)) {
      const { moduleReference: target } = declaration;
      return typescript.isExternalModuleReference(target) ? textOf(target.expression) : next(target);
    }
    const whole = typescript.isBindingElement(declaration)
      ? typescript.findAncestor(declaration, typescript.isVariableDeclaration)?.initializer
      : this.constantOf(node)?.initializer;
    return whole && next(whole);
  }

  /** Whether the file declares or imports the name. */
  isDeclared(name: ts.Identifier): boolean {
    return (this.#symbolOf(name)?.declarations ?? []).length > 0;
  }

  /** The name in its declaration in the file, unless it is exported. */
  declaredNameOf(name: ts.Identifier): ts.Identifier | undefined {
    const declaration = this.declarationOf(name);
    if (declaration === undefined) return undefined;
    const { getCombinedModifierFlags, getNameOfDeclaration, isIdentifier, ModifierFlags } = this.typescript;
    const declared = getNameOfDeclaration(declaration);
    const isExported = (getCombinedModifierFlags(declaration) & ModifierFlags.Export) !== 0;
    return declared !== undefined && isIdentifier(declared) && !isExported ? declared : undefined;
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

  /**
   * Whether the file may change the object or list in a constant: it assigns to a part, calls a method, passes it to a
   * function, or does so through another constant.
   */
  mayChange(name: ts.Identifier, depth = 0): boolean {
    const declared = this.declaredNameOf(name) ?? this.constantOf(name)?.declaration.name;
    // A constant that a name refers to always has a name. Declarations may be circular.
    if (declared === undefined || !this.typescript.isIdentifier(declared) || depth > 10) return true;
    return this.usesOf(declared).some((use) => this.#mayChangeAt(use, use, depth));
  }

  /** `use`: the constant; `part`: the constant or a part of it. */
  #mayChangeAt(use: ts.Identifier, part: ts.Node, depth: number): boolean {
    const { typescript } = this;
    const { parent } = part;
    const isSame = typescript.isParenthesizedExpression(parent) || typescript.isNonNullExpression(parent);
    const isTyped = typescript.isAsExpression(parent) || typescript.isTypeAssertionExpression(parent);
    const isAccess = typescript.isPropertyAccessExpression(parent) || typescript.isElementAccessExpression(parent);
    if (isSame || isTyped || (isAccess && parent.expression === part)) return this.#mayChangeAt(use, parent, depth);
    if (typescript.isBinaryExpression(parent)) {
      const { FirstAssignment, LastAssignment } = typescript.SyntaxKind;
      const { kind } = parent.operatorToken;
      return parent.left === part && kind >= FirstAssignment && kind <= LastAssignment;
    }
    if (typescript.isPostfixUnaryExpression(parent)) return true;
    if (typescript.isPrefixUnaryExpression(parent)) {
      const { PlusPlusToken, MinusMinusToken } = typescript.SyntaxKind;
      return parent.operator === PlusPlusToken || parent.operator === MinusMinusToken;
    }
    if (typescript.isDeleteExpression(parent)) return true;
    if (typescript.isCallExpression(parent)) {
      const { StringLike, NumberLike, BooleanLike } = typescript.TypeFlags;
      const { flags } = this.#checker.getTypeAtLocation(part);
      return parent.expression === part || (flags & (StringLike | NumberLike | BooleanLike)) === 0;
    }
    if (!typescript.isVariableDeclaration(parent) || parent.initializer !== part) return false;
    return typescript.isIdentifier(parent.name) && this.mayChange(parent.name, depth + 1);
  }

  /** Without parentheses. */
  bare(node: ts.Expression): ts.Expression {
    return this.typescript.isParenthesizedExpression(node) ? this.bare(node.expression) : node;
  }

  /** The name of this package's export that an expression or type name refers to. */
  exportOf(node: ts.Node, depth = 0): string | undefined {
    const { typescript } = this;
    // Declarations may be circular.
    if (depth > 10) return undefined;
    const next = (inner: ts.Node): string | undefined => this.exportOf(inner, depth + 1);
    const member = (whole: ts.Node, name: string): string | undefined => {
      if (next(whole) !== WHOLE) return undefined;
      return name === "default" ? WHOLE : name;
    };
    if (typescript.isIdentifier(node)) return this.#declaredExport(node, { next, member });
    if (typescript.isParenthesizedExpression(node) || typescript.isAwaitExpression(node)) return next(node.expression);
    if (typescript.isPropertyAccessExpression(node)) return member(node.expression, node.name.text);
    if (typescript.isQualifiedName(node)) return member(node.left, node.right.text);
    if (typescript.isElementAccessExpression(node)) {
      const { argumentExpression: name } = node;
      return typescript.isStringLiteral(name) ? member(node.expression, name.text) : undefined;
    }
    if (!typescript.isCallExpression(node)) return undefined;
    return this.#loads(node) && this.#isPackage(node.arguments[0]) ? WHOLE : undefined;
  }

  /** `import(…)` or `require(…)` */
  #loads({ expression: callee }: ts.CallExpression): boolean {
    const { isIdentifier, SyntaxKind } = this.typescript;
    return callee.kind === SyntaxKind.ImportKeyword || (isIdentifier(callee) && callee.text === "require");
  }

  #declaredExport(
    name: ts.Identifier,
    {
      next,
      member,
    }: {
      next: (node: ts.Node) => string | undefined;
      member: (whole: ts.Node, name: string) => string | undefined;
    },
  ): string | undefined {
    const { typescript } = this;
    const declaration = this.declarationOf(name);
    if (declaration === undefined) return undefined;
    if (typescript.isImportSpecifier(declaration)) {
      const imported = (declaration.propertyName ?? declaration.name).text;
      if (!this.#isPackage(declaration.parent.parent.parent.moduleSpecifier)) return undefined;
      return imported === "default" ? WHOLE : imported;
    }
    if (typescript.isNamespaceImport(declaration)) {
      return this.#isPackage(declaration.parent.parent.moduleSpecifier) ? WHOLE : undefined;
    }
    if (typescript.isImportClause(declaration)) {
      return this.#isPackage(declaration.parent.moduleSpecifier) ? WHOLE : undefined;
    }
    if (typescript.isImportEqualsDeclaration(declaration)) {
      const { moduleReference: target } = declaration;
      if (!typescript.isExternalModuleReference(target)) return next(target);
      return this.#isPackage(target.expression) ? WHOLE : undefined;
    }
    if (typescript.isBindingElement(declaration)) {
      const { parent: pattern, propertyName = declaration.name } = declaration;
      const { parent: variable } = pattern;
      if (!typescript.isObjectBindingPattern(pattern) || !typescript.isVariableDeclaration(variable)) return undefined;
      const isPlain = typescript.isIdentifier(propertyName) && declaration.dotDotDotToken === undefined;
      return isPlain && variable.initializer ? member(variable.initializer, propertyName.text) : undefined;
    }
    const constant = this.constantOf(name);
    return constant && next(constant.initializer);
  }

  #isPackage(node: ts.Expression | undefined): boolean {
    return node !== undefined && this.typescript.isStringLiteral(node) && ENTRIES.includes(node.text);
  }
}
