import { join, relative } from "node:path";
import ts from "typescript";

/**
 * @typedef {object} Exported
 * @property {string} name
 * @property {string} folder The folder of src that it stands in, such as "resources".
 * @property {ts.Declaration} declaration
 * @property {ts.Declaration[]} overloads All declarations of it; of a function that has overloads, without the body.
 */

/** What src/index.ts exports, and what the pages found missing in it. */
export class Surface {
  /** @type {Map<string, Exported>} */
  exports = new Map();
  /** @type {Set<string>} */
  #placed = new Set();
  /** @type {string[]} */
  #problems = [];
  #checker;
  #root;

  /**
   * @param {ts.TypeChecker} checker
   * @param {string} root
   */
  constructor(checker, root) {
    this.#checker = checker;
    this.#root = root;
  }

  /**
   * The exports of these folders, in the order of their names.
   * @param {string[]} folders
   */
  of(...folders) {
    const found = [...this.exports.values()].filter(({ folder }) => folders.includes(folder));
    return found.sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /**
   * Where a name is declared, whatever file it was imported from.
   * @param {ts.Node} name
   * @returns {ts.Declaration | undefined}
   */
  declarationOf(name) {
    const symbol = this.#checker.getSymbolAtLocation(name);
    return symbol && this.resolve(symbol).declarations?.[0];
  }

  /** @param {ts.Symbol} symbol */
  resolve(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /**
   * Says that a page documents this export.
   * @param {string} name
   */
  place(name) {
    this.#placed.add(name);
  }

  /**
   * @param {ts.Node} node
   * @param {string} what
   */
  problem(node, what) {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    this.#problems.push(`${relative(this.#root, file.fileName)}:${line + 1}: ${what}`);
  }

  /** All that the pages have found, and every export that none of them documents. */
  problems() {
    const forgotten = [...this.exports.keys()].filter((name) => !this.#placed.has(name));
    return [...this.#problems, ...forgotten.map((name) => `src/index.ts exports ${name}, which is on no page`)];
  }
}

/**
 * Reads what a program that imports the package sees.
 * @param {string} root
 */
export function readSurface(root) {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const index = join(root, "src", "index.ts");
  const program = ts.createProgram([index], { ...options, types: [] });
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(index);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error("src/index.ts is not there, or exports nothing");
  const surface = new Surface(checker, root);
  for (const symbol of checker.getExportsOfModule(module)) {
    const declarations = surface.resolve(symbol).declarations ?? [];
    const [declaration] = declarations;
    if (!declaration) throw new Error(`src/index.ts exports ${symbol.name}, which is declared nowhere`);
    const [folder = ""] = relative(join(root, "src"), declaration.getSourceFile().fileName).split(/[\\/]/);
    const bodiless = declarations.filter((each) => !ts.isFunctionDeclaration(each) || !each.body);
    const overloads = bodiless.length > 0 ? bodiless : declarations;
    surface.exports.set(symbol.name, { name: symbol.name, folder, declaration, overloads });
  }
  return surface;
}
