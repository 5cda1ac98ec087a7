import ts from "typescript";
import { textOf } from "./jsdoc.mjs";
import { paragraphs, table, typeLink } from "./markdown.mjs";
import { basesOf, membersOf, sourceText } from "./members.mjs";
import { argumentsOf, placesOf, typesOf } from "./places.mjs";

/** @typedef {import("./members.mjs").Member} Member */

/** What both pages are made of. */
export class Page {
  /**
   * @param {import("./surface.mjs").Surface} surface
   * @param {string} file
   */
  constructor(surface, file) {
    this.surface = surface;
    this.file = file;
    this.places = placesOf(surface);
  }

  /** @param {string[]} folders */
  types(...folders) {
    return typesOf(this.surface, this.places, ...folders);
  }

  /** @param {string} code */
  type(code) {
    return typeLink(code, this.places, this.file);
  }

  /**
   * The declaration of the type of an export's arguments.
   * @param {ts.Declaration} declaration
   */
  args(declaration) {
    const type = argumentsOf(declaration)?.type;
    if (!type || !ts.isTypeReferenceNode(type)) return undefined;
    this.surface.place(type.typeName.getText());
    return this.surface.declarationOf(type.typeName);
  }

  /**
   * The text of a JSDoc that has to be there.
   * @param {ts.Node} node
   * @param {string} name
   */
  description(node, name) {
    const text = textOf(node);
    if (text === "") this.surface.problem(node, `${name} has no description`);
    return text;
  }

  /** @param {Member[]} members */
  checkDescribed(members) {
    for (const { node, name, doc } of members) {
      if (doc.text === "") this.surface.problem(node, `${name} has no description`);
    }
  }

  /**
   * @param {Member[]} members
   * @param {string} heading of the first column
   */
  argumentTable(members, heading = "Argument") {
    if (members.length === 0) return "";
    const secret = secrecy(members);
    return table(
      members.map(({ name, type, optional, only, doc }) => ({
        [heading]: `\`${name}\``,
        Type: this.type(type),
        Required: only ? `with ${only}` : optional ? "no" : "yes",
        Default: doc.standard ?? "",
        Secret: secret(doc),
        Description: doc.text,
        "Changing it": doc.changing ?? "",
      })),
    );
  }

  /**
   * A table of what is handed out.
   * @param {Member[]} members
   * @param {string} heading of the first column
   */
  resultTable(members, heading) {
    if (members.length === 0) return "";
    const secret = secrecy(members);
    return table(
      members.map(({ name, type, optional, doc }) => ({
        [heading]: `\`${name}\``,
        Type: this.type(optional ? `${type} | undefined` : type),
        Secret: secret(doc),
        Description: doc.text,
      })),
    );
  }

  /**
   * A type under a heading of its own.
   * @param {import("./surface.mjs").Exported} exported
   * @param {(members: Member[]) => string} show
   */
  typeSection({ name, declaration }, show) {
    this.surface.place(name);
    const members = ts.isInterfaceDeclaration(declaration) ? membersOf(this.surface, declaration) : [];
    this.checkDescribed(members);
    const alias = ts.isTypeAliasDeclaration(declaration) ? declaration.type : undefined;
    const bases = ts.isInterfaceDeclaration(declaration) ? basesOf(declaration) : [];
    const besides = bases.filter((base) => this.#isExportedAlias(base)).map((base) => this.type(base.getText()));
    return paragraphs(
      `### ${name}`,
      this.description(declaration, name),
      alias && this.#isReadable(alias) ? `\`\`\`ts\ntype ${name} = ${sourceText(alias)};\n\`\`\`` : "",
      members.length > 0 ? show(members) : "",
      besides.length > 0 ? `And everything of ${besides.join(" and ")}.` : "",
    );
  }

  /**
   * Whether it is a base whose properties stand under its own heading.
   * @param {ts.Node} base
   */
  #isExportedAlias(base) {
    const declaration = this.surface.declarationOf(base);
    return declaration && ts.isTypeAliasDeclaration(declaration) && this.surface.exports.has(base.getText());
  }

  /**
   * Whether a reader knows every type that is named in it: one of the language, of the SDK, or one that is exported.
   * @param {ts.Node} node
   * @returns {boolean}
   */
  #isReadable(node) {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
      const declaration = this.surface.declarationOf(node.typeName);
      const isPrivate = declaration && !declaration.getSourceFile().isDeclarationFile;
      if (isPrivate && !this.surface.exports.has(node.typeName.text)) return false;
    }
    return ts.forEachChild(node, (child) => (this.#isReadable(child) ? undefined : true)) === undefined;
  }
}

/**
 * Shown where one of the members is secret.
 * @param {Member[]} members
 * @returns {(doc: Member["doc"]) => string}
 */
function secrecy(members) {
  return members.some(({ doc }) => doc.secret) ? ({ secret }) => (secret ? "yes" : "no") : () => "";
}

export const GENERATED = "<!-- Written by `npm run docs` from the JSDoc in src: change it there. -->";
