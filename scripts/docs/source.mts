import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { register } from "ts-node";
import ts from "typescript";

export interface Exported {
  name: string;
  /** The folder of src that it stands in, such as "resources". */
  folder: string;
  /** Of a function that has overloads, those without the body. */
  declarations: ts.Declaration[];
  /** The first of them that has a description, else the first. */
  node: ts.Declaration;
  text: string;
}

/** A property of a type. */
export interface Member {
  name: string;
  /** As it is written. */
  type: string;
  optional: boolean;
  /** Of a union: the condition under which it is there. */
  only?: string;
  text: string;
  node: ts.Node;
}

/** What a resource does with its properties. */
export interface Behaviour {
  /** From its lifecycle (`ArgumentSpecs`). */
  specs: Record<string, { replaces?: unknown; createOnly?: unknown }>;
  /** From its declaration (`Declaration`). */
  secrecy: Record<string, "plain" | "secret">;
  deleteBeforeReplace: boolean;
}

/** What such a file exports, as far as it is looked at: both have arguments, a declaration alone has outputs. */
type Loaded = Record<"args" | "outputs", Record<string, never>> & { kind?: string; deleteBeforeReplace: boolean };

const UNKNOWN: Behaviour = { specs: {}, secrecy: {}, deleteBeforeReplace: false };

/** Of each resource, by its kind. The declarations and lifecycles are loaded as they are, and both tell of it. */
export function behaviours(root: string): Map<string, Behaviour> {
  register({ transpileOnly: true, cwd: root });
  const load = createRequire(join(root, "package.json"));
  const found = new Map<string, Behaviour>();
  for (const file of globSync("src/resources/*/{declaration,*ifecycle}.ts", { cwd: root })) {
    for (const { kind, args, outputs, deleteBeforeReplace } of Object.values<Loaded>(load(join(root, file)))) {
      const told = outputs ? { deleteBeforeReplace, secrecy: { ...args, ...outputs } } : { specs: args };
      if (kind) found.set(kind, { ...(found.get(kind) ?? UNKNOWN), ...told });
    }
  }
  return found;
}

/** What a program that imports the package sees. */
export class Source {
  readonly exports = new Map<string, Exported>();
  /** What the reference lacks. */
  readonly problems: string[] = [];
  readonly #checker: ts.TypeChecker;
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const index = join(root, "src", "index.ts");
    const program = ts.createProgram([index], { ...options, types: [] });
    this.#checker = program.getTypeChecker();
    const file = program.getSourceFile(index);
    const module = file && this.#checker.getSymbolAtLocation(file);
    if (!module) throw new Error("src/index.ts is not there, or exports nothing");
    for (const symbol of this.#checker.getExportsOfModule(module)) this.#addExport(symbol);
  }

  #addExport(symbol: ts.Symbol): void {
    const all = this.#resolved(symbol)?.declarations ?? [];
    const bodiless = all.filter((each) => !ts.isFunctionDeclaration(each) || !each.body);
    const declarations = bodiless.length > 0 ? bodiless : all;
    const node = declarations.find((each) => textOf(each) !== "") ?? declarations[0];
    const [folder] = relative(join(this.#root, "src"), node.getSourceFile().fileName).split(/[\\/]/);
    this.exports.set(symbol.name, { name: symbol.name, folder, declarations, node, text: textOf(node) });
  }

  #resolved(symbol: ts.Symbol | undefined): ts.Symbol | undefined {
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /** Where a name, or the type that is written, is declared, whatever file it was imported from. */
  declarationOf(node: ts.Node | undefined): ts.Declaration | undefined {
    if (!node) return undefined;
    const name = ts.isTypeReferenceNode(node) ? node.typeName : node;
    return this.#resolved(this.#checker.getSymbolAtLocation(name))?.declarations?.[0];
  }

  /**
   * The properties that a type declares; those of a union with the variants that they belong to. Computed ones, which an
   * interface inherits from the likes of `Omit`, are left out: they stand under the heading of another type.
   */
  members(node: ts.Node | undefined): Member[] {
    if (!node) return [];
    const type = this.#checker.getTypeAtLocation(node);
    return type.isUnion() ? variants(type.types.map(declaredIn)) : declaredIn(type);
  }

  /** The text of a JSDoc that has to be there. */
  description(node: ts.Node, name: string): string {
    const text = textOf(node);
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${relative(this.#root, file.fileName)}:${line + 1}`;
    if (text === "") this.problems.push(`${place}: ${name} has no description`);
    return text;
  }
}

/** Inherited properties first. */
function declaredIn(type: ts.Type): Member[] {
  const declared = type.getProperties().filter(({ flags }) => !(flags & ts.SymbolFlags.Transient));
  const nodes = declared.flatMap(({ declarations = [] }) => declarations).filter(ts.isPropertySignature);
  const isOwn = ({ parent }: ts.Node): boolean => type.symbol.declarations?.some((each) => each === parent) ?? false;
  return [...nodes.filter((node) => !isOwn(node)), ...nodes.filter(isOwn)].map(memberOf);
}

export function memberOf(node: ts.PropertySignature | ts.PropertyDeclaration): Member {
  const optional = node.questionToken !== undefined;
  const written = node.type ? sourceText(node.type) : "unknown";
  // An optional property may be given as undefined: that says nothing new.
  const type = optional ? written.replace(/ \| undefined$/, "") : written;
  return { name: node.name.getText(), type, optional, text: textOf(node), node };
}

/** One list out of those of a union's variants, which a property with a text of its own tells apart. */
function variants(lists: Member[][]): Member[] {
  const names = [...new Set(lists.flat().map(({ name }) => name))];
  const named = names.map((name) => lists.flat().filter((member) => member.name === name));
  const inAll = (found: Member[]): boolean => found.length === lists.length;
  const tags = named.find((found) => inAll(found) && found.every(({ type }) => /^"[^"]*"$/.test(type)));
  return named.map((found) => {
    if (found === tags) {
      const text = found.map(({ type, text }) => `\`${type}\`: ${text}`).join(" ");
      return { ...found[0], type: found.map(({ type }) => type).join(" | "), text };
    }
    if (inAll(found)) return found[0];
    const inThese = tags?.filter((_, index) => lists[index].some(({ name }) => name === found[0].name)) ?? [];
    return { ...found[0], only: inThese.map(({ name, type }) => `\`${name}: ${type}\``).join(" or ") };
  });
}

export function sourceText(node: ts.Node): string {
  return node.getText().replace(/\s+/g, " ");
}

/** The paragraphs of a JSDoc comment. */
export function textOf(node: ts.Node): string {
  return readable(ts.getJSDocCommentsAndTags(node).findLast(ts.isJSDoc)?.comment);
}

export function tagOf(node: ts.Node, name: string): string {
  return readable(ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name)?.comment);
}

/**
 * For readers of the page: without the documents that the code names as its sources, and with links to the files that
 * stand beside them in the package, in docs/.
 */
function readable(comment: ts.JSDoc["comment"]): string {
  return (ts.getTextOfJSDocComment(comment) ?? "")
    .replace(/\s*\(docs\/design\/[^()]*\)/g, "")
    .replace(/[,;]\s*docs\/design\/[^()]*(?=\))/g, "")
    .replace(/\bexamples\/[\w-]+/g, "`$&` in the repository")
    .replace(/\bdocs\/([\w-]+\.md)/g, "[$&]($1)")
    .trim();
}
