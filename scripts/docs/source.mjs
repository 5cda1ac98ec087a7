import { join, relative } from "node:path";
import ts from "typescript";

/**
 * @typedef {object} Exported
 * @property {string} name
 * @property {string} folder The folder of src that it stands in, such as "resources".
 * @property {ts.Declaration[]} declarations Of a function that has overloads, those without the body.
 * @property {ts.Declaration} node The first of them that has a description, else the first.
 *
 * @typedef {object} Member A property of a type.
 * @property {string} name
 * @property {string} type As it is written.
 * @property {boolean} optional
 * @property {string} [only] Of a union: the condition under which it is there.
 * @property {string} text
 * @property {ts.Node} node
 */

/** What a program that imports the package sees, and what the provider's side says of its arguments. */
export class Source {
  /** @type {Map<string, Exported>} */
  exports = new Map();
  /** What the reference lacks. @type {string[]} */
  problems = [];
  /** The argument specifications of each resource, by its kind. @type {Map<unknown, unknown>} */
  specs = new Map();
  #checker;
  #root;

  /** @param {string} root */
  constructor(root) {
    this.#root = root;
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const index = join(root, "src", "index.ts");
    const program = ts.createProgram([index, join(root, "src", "provider.ts")], { ...options, types: [] });
    this.#checker = program.getTypeChecker();
    const file = program.getSourceFile(index);
    const module = file && this.#checker.getSymbolAtLocation(file);
    if (!module) throw new Error("src/index.ts is not there, or exports nothing");
    for (const symbol of this.#checker.getExportsOfModule(module)) this.#addExport(symbol);
    for (const source of program.getSourceFiles().filter((each) => !each.isDeclarationFile)) this.#addSpecs(source);
  }

  /** @param {ts.Symbol} symbol */
  #addExport(symbol) {
    const all = this.#resolved(symbol)?.declarations ?? [];
    const bodiless = all.filter((each) => !ts.isFunctionDeclaration(each) || !each.body);
    const declarations = bodiless.length > 0 ? bodiless : all;
    const node = declarations.find((each) => textOf(each) !== "") ?? declarations[0];
    const [folder] = relative(join(this.#root, "src"), node.getSourceFile().fileName).split(/[\\/]/);
    this.exports.set(symbol.name, { name: symbol.name, folder, declarations, node });
  }

  /**
   * Finds the lifecycles: constants of the type `Lifecycle`, written as they are or made by a call from what is written.
   * @param {ts.SourceFile} source
   */
  #addSpecs(source) {
    for (const statement of source.statements.filter(ts.isVariableStatement)) {
      const [{ name, initializer }] = statement.declarationList.declarations;
      if (this.#checker.getTypeAtLocation(name).symbol?.name !== "Lifecycle" || !initializer) continue;
      const written = ts.isCallExpression(initializer) ? initializer.arguments[0] : initializer;
      const { kind, args } = objectOf(this.staticValue(written));
      this.specs.set(kind, args);
    }
  }

  /**
   * The exports of these folders, in the order of their names.
   * @param {string[]} folders
   */
  of(...folders) {
    const found = [...this.exports.values()].filter(({ folder }) => folders.includes(folder));
    return found.sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** @param {ts.Symbol | undefined} symbol */
  #resolved(symbol) {
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /**
   * Where a name is declared, whatever file it was imported from.
   * @param {ts.Node} name
   */
  declarationOf(name) {
    return this.#resolved(this.#checker.getSymbolAtLocation(name))?.declarations?.[0];
  }

  /**
   * The value that an expression stands for, as far as its text tells: of a call, say, nothing.
   * @param {ts.Node | undefined} node
   * @returns {unknown}
   */
  staticValue(node) {
    if (!node) return undefined;
    if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return this.staticValue(node.expression);
    if (ts.isStringLiteral(node)) return node.text;
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (ts.isArrayLiteralExpression(node)) return node.elements.map((element) => this.staticValue(element));
    if (ts.isObjectLiteralExpression(node)) {
      return Object.fromEntries(node.properties.map((each) => [each.name?.getText(), this.#propertyValue(each)]));
    }
    if (!ts.isIdentifier(node)) return undefined;
    const declaration = this.declarationOf(node);
    return declaration && ts.isVariableDeclaration(declaration) ? this.staticValue(declaration.initializer) : undefined;
  }

  /** @param {ts.ObjectLiteralElementLike} property */
  #propertyValue(property) {
    if (ts.isPropertyAssignment(property)) return this.staticValue(property.initializer);
    if (!ts.isShorthandPropertyAssignment(property)) return undefined;
    const value = this.#resolved(this.#checker.getShorthandAssignmentValueSymbol(property))?.valueDeclaration;
    return value && ts.isVariableDeclaration(value) ? this.staticValue(value.initializer) : undefined;
  }

  /**
   * The properties that a type declares; those of a union with the variants that they belong to. Computed ones, which an
   * interface inherits from the likes of `Omit`, are left out: they stand under the heading of another type.
   * @param {ts.Node | undefined} node a type, or its declaration
   * @param {boolean} described whether each has to be described
   * @returns {Member[]}
   */
  members(node, described = true) {
    if (!node) return [];
    const type = this.#checker.getTypeAtLocation(node);
    const members = type.isUnion() ? variants(type.types.map(declaredIn)) : declaredIn(type);
    if (described) this.checkDescribed(members);
    return members;
  }

  /** @param {Member[]} members */
  checkDescribed(members) {
    for (const { node, name } of members) this.description(node, name);
  }

  /**
   * The text of a JSDoc that has to be there.
   * @param {ts.Node} node
   * @param {string} name
   */
  description(node, name) {
    const text = textOf(node);
    if (text === "") this.problem(node, `${name} has no description`);
    return text;
  }

  /**
   * @param {ts.Node} node
   * @param {string} what
   */
  problem(node, what) {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    this.problems.push(`${relative(this.#root, file.fileName)}:${line + 1}: ${what}`);
  }
}

/**
 * @param {ts.Type} type
 * @returns {Member[]}
 */
function declaredIn(type) {
  const declared = type.getProperties().filter(({ flags }) => !(flags & ts.SymbolFlags.Transient));
  const nodes = declared.flatMap(({ declarations = [] }) => declarations).filter(ts.isPropertySignature);
  const isOwn = (/** @type {ts.Node} */ { parent }) => type.symbol.declarations?.some((each) => each === parent);
  return [...nodes.filter((node) => !isOwn(node)), ...nodes.filter(isOwn)].map(memberOf);
}

/**
 * @param {ts.PropertySignature | ts.PropertyDeclaration} node
 * @returns {Member}
 */
export function memberOf(node) {
  const optional = node.questionToken !== undefined;
  const type = node.type ? sourceText(node.type) : "unknown";
  // An optional property may be given as undefined: that says nothing new.
  return {
    name: node.name.getText(),
    type: optional ? type.replace(/ \| undefined$/, "") : type,
    optional,
    text: textOf(node),
    node,
  };
}

/**
 * One list out of those of a union's variants, which a property with a text of its own tells apart.
 * @param {Member[][]} lists
 * @returns {Member[]}
 */
function variants(lists) {
  const names = [...new Set(lists.flat().map(({ name }) => name))];
  const named = names.map((name) => lists.flat().filter((member) => member.name === name));
  const tags = named.find(
    (found) => found.length === lists.length && found.every(({ type }) => /^"[^"]*"$/.test(type)),
  );
  return named.map((found) => {
    if (found === tags) {
      const text = found.map(({ type, text }) => `\`${type}\`: ${text}`).join(" ");
      return { ...found[0], type: found.map(({ type }) => type).join(" | "), text };
    }
    if (found.length === lists.length) return found[0];
    const inThese = (tags ?? []).filter((_, index) => lists[index].some(({ name }) => name === found[0].name));
    return { ...found[0], only: inThese.map(({ name, type }) => `\`${name}: ${type}\``).join(" or ") };
  });
}

/**
 * The properties of what may be an object.
 * @param {unknown} value
 * @returns {Record<string, unknown>}
 */
export function objectOf(value) {
  return typeof value === "object" ? { ...value } : {};
}

/** @param {ts.Node} node */
export function sourceText(node) {
  return node.getText().replace(/\s+/g, " ");
}

/** The paragraphs of a JSDoc comment. @param {ts.Node} node */
export function textOf(node) {
  const comment = ts.getJSDocCommentsAndTags(node).findLast(ts.isJSDoc)?.comment;
  return readable(ts.getTextOfJSDocComment(comment) ?? "");
}

/**
 * @param {ts.Node} node
 * @param {string} name
 */
export function tagOf(node, name) {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name);
  return tag && readable(ts.getTextOfJSDocComment(tag.comment) ?? "");
}

/**
 * For readers of the page: without the documents that the code names as its sources, and with links to the files that
 * stand beside them in the package, in docs/.
 * @param {string} text
 */
function readable(text) {
  return text
    .replace(/\s*\(docs\/design\/[^()]*\)/g, "")
    .replace(/[,;]\s*docs\/design\/[^()]*(?=\))/g, "")
    .replace(/\bexamples\/[\w-]+/g, "`$&` in the repository")
    .replace(/\bdocs\/([\w-]+\.md)/g, "[$&]($1)")
    .trim();
}
