import ts from "typescript";
import { paragraphs, table } from "./markdown.mjs";
import { sourceText, tagOf } from "./source.mjs";

/** @typedef {import("./source.mjs").Exported} Exported */
/** @typedef {import("./source.mjs").Member} Member */

export const GENERATED = "<!-- Written by `npm run docs` from the JSDoc in src: change it there. -->";

/**
 * The heading under which each export is documented: its own, or that of what it belongs to.
 * @param {import("./source.mjs").Source} source
 * @returns {Map<string, string>}
 */
export function headingsOf({ exports }) {
  const headings = new Map([...exports.keys()].map((name) => [name, mainForm(exports, name)]));
  for (const { name, node } of exports.values()) {
    const args = argumentsType(node)?.getText() ?? "";
    if (exports.has(args)) headings.set(args, mainForm(exports, name));
  }
  return headings;
}

/**
 * `getX` for `getXOutput`.
 * @param {Map<string, Exported>} exports
 * @param {string} name
 */
function mainForm(exports, name) {
  const main = name.replace(/Output$/, "");
  const node = exports.get(main)?.node;
  return node && ts.isFunctionDeclaration(node) ? main : name;
}

/** What both pages are made of. */
export class Page {
  /**
   * @param {import("./source.mjs").Source} source
   * @param {"resources.md" | "functions.md"} file
   */
  constructor(source, file) {
    this.source = source;
    this.file = file;
    this.headings = headingsOf(source);
  }

  /**
   * The types of these folders that stand under a heading of their own.
   * @param {string[]} folders
   */
  types(...folders) {
    return this.source.of(...folders).filter(({ name, node }) => isType(node) && this.headings.get(name) === name);
  }

  /** Code that leads to the first documented name in it. @param {string} code */
  type(code) {
    const name = [...code.matchAll(/(?<!")\b\w+\b(?!")/g)]
      .map(([word]) => word)
      .find((word) => this.headings.has(word));
    if (name === undefined) return `\`${code}\``;
    const folder = this.source.exports.get(name)?.folder ?? "";
    const file = ["resources", "components"].includes(folder) ? "resources.md" : "functions.md";
    return `[\`${code}\`](${file === this.file ? "" : file}#${this.headings.get(name)?.toLowerCase()})`;
  }

  /** The declaration of the arguments of a class or function. @param {ts.Declaration} node */
  args(node) {
    const type = argumentsType(node);
    return type && ts.isTypeReferenceNode(type) ? this.source.declarationOf(type.typeName) : undefined;
  }

  /**
   * @param {Member[]} members
   * @param {string} heading of the first column
   * @param {(member: Member) => Record<string, string>} [more] further columns
   */
  argumentTable(members, heading = "Argument", more = () => ({})) {
    return table(
      members.map((member) => ({
        [heading]: `\`${member.name}\``,
        Type: this.type(member.type),
        Required: member.only ? `with ${member.only}` : member.optional ? "no" : "yes",
        Default: tagOf(member.node, "default")?.replace(/^("[^"]*"|\[\]|\d+|true|false)(?=\s|$)/, "`$1`"),
        Secret: "",
        Description: member.text,
        // What has a column already takes its place.
        ...more(member),
      })),
    );
  }

  /**
   * A table of what is handed out.
   * @param {Member[]} members
   * @param {string} heading of the first column
   * @param {(member: Member) => Record<string, string>} [more] further columns
   */
  resultTable(members, heading, more = () => ({})) {
    return table(
      members.map((member) => ({
        [heading]: `\`${member.name}\``,
        Type: this.type(member.optional ? `${member.type} | undefined` : member.type),
        Secret: "",
        Description: member.text,
        // What has a column already takes its place.
        ...more(member),
      })),
    );
  }

  /**
   * A type under a heading of its own.
   * @param {Exported} exported
   * @param {(members: Member[]) => string} show
   */
  typeSection({ name, node }, show) {
    const bases = ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []).flatMap(({ types }) => types) : [];
    const besides = bases.filter(({ expression }) => {
      const base = this.source.declarationOf(expression);
      return base && ts.isTypeAliasDeclaration(base) && this.source.exports.has(expression.getText());
    });
    return paragraphs(
      `### ${name}`,
      this.source.description(node, name),
      ts.isTypeAliasDeclaration(node) && this.#isReadable(node.type)
        ? `\`\`\`ts\ntype ${name} = ${sourceText(node.type)};\n\`\`\``
        : "",
      ts.isInterfaceDeclaration(node) ? show(this.source.members(node)) : "",
      besides.length > 0 ? `And everything of ${besides.map((base) => this.type(base.getText())).join(" and ")}.` : "",
    );
  }

  /**
   * Whether a reader knows every type that is named in it: one of the language, of the SDK, or one that is exported.
   * @param {ts.Node} node
   * @returns {boolean}
   */
  #isReadable(node) {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
      const declaration = this.source.declarationOf(node.typeName);
      const isPrivate = declaration && !declaration.getSourceFile().isDeclarationFile;
      if (isPrivate && !this.source.exports.has(node.typeName.text)) return false;
    }
    return ts.forEachChild(node, (child) => (this.#isReadable(child) ? undefined : true)) === undefined;
  }
}

/** The type of the arguments of a class or function. @param {ts.Declaration} node */
function argumentsType(node) {
  const callable = ts.isClassDeclaration(node) ? node.members.find(ts.isConstructorDeclaration) : node;
  if (!callable || !(ts.isConstructorDeclaration(callable) || ts.isFunctionDeclaration(callable))) return undefined;
  return callable.parameters.find(({ name }) => ["args", "options"].includes(name.getText()))?.type;
}

/** @param {ts.Declaration} node */
function isType(node) {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}
