import ts from "typescript";
import { docOf } from "./jsdoc.mjs";

/**
 * A property that a type declares.
 * @typedef {object} Member
 * @property {string} name
 * @property {string} type As it is written.
 * @property {boolean} optional
 * @property {string} [only] Of a union: the condition under which it is there.
 * @property {import("./jsdoc.mjs").Doc} doc
 * @property {ts.Node} node
 */

/** Generic types that change no name: one puts an Input at each place, the other says which belong together. */
const KEEP_NAMES = ["ArgumentsOf", "AllOrNone"];

/**
 * The properties of a type as its declarations write them: of an interface with those that it inherits from others of
 * ours, of a union with the variants that they belong to. What only a generic type computes is left out.
 * @param {import("./surface.mjs").Surface} surface
 * @param {ts.Node | undefined} node
 * @returns {Member[]}
 */
export function membersOf(surface, node) {
  if (!node) return [];
  if (ts.isInterfaceDeclaration(node)) {
    const inherited = basesOf(node)
      .map((base) => surface.declarationOf(base))
      .filter((base) => base && isOurs(base));
    return [...inherited.flatMap((base) => membersOf(surface, base)), ...declared(node)];
  }
  if (ts.isTypeLiteralNode(node)) return declared(node);
  if (ts.isTypeAliasDeclaration(node)) return membersOf(surface, node.type);
  if (ts.isUnionTypeNode(node)) return variants(node.types.map((type) => membersOf(surface, type)));
  if (!ts.isTypeReferenceNode(node)) return [];
  if (KEEP_NAMES.includes(node.typeName.getText())) return membersOf(surface, node.typeArguments?.[0]);
  const declaration = surface.declarationOf(node.typeName);
  return declaration && isOurs(declaration) ? membersOf(surface, declaration) : [];
}

/**
 * The interface or alias that `ArgumentsOf` is made from, else the type itself: whose JSDoc speaks of all properties.
 * @param {import("./surface.mjs").Surface} surface
 * @param {ts.Node | undefined} node
 * @returns {ts.Node | undefined}
 */
export function shapeOf(surface, node) {
  if (node && ts.isTypeAliasDeclaration(node) && ts.isTypeReferenceNode(node.type)) {
    const [argument] = node.type.typeArguments ?? [];
    const inner = node.type.typeName.getText() === "ArgumentsOf" ? argument : undefined;
    const shape = inner && ts.isTypeReferenceNode(inner) && isAllOrNone(inner) ? inner.typeArguments?.[0] : inner;
    if (shape && ts.isTypeReferenceNode(shape)) return surface.declarationOf(shape.typeName);
  }
  return node;
}

/** @param {ts.TypeReferenceNode} node */
const isAllOrNone = (node) => node.typeName.getText() === "AllOrNone";

/** @param {ts.InterfaceDeclaration} node */
export function basesOf(node) {
  return (node.heritageClauses ?? []).flatMap(({ types }) => types).map(({ expression }) => expression);
}

/** @param {ts.Node} node */
export function sourceText(node) {
  return node.getText().replace(/\s+/g, " ");
}

/** @param {ts.Declaration} declaration */
function isOurs(declaration) {
  return !declaration.getSourceFile().isDeclarationFile;
}

/**
 * @param {ts.InterfaceDeclaration | ts.TypeLiteralNode} node
 * @returns {Member[]}
 */
function declared(node) {
  return node.members.filter(ts.isPropertySignature).map((member) => {
    const optional = member.questionToken !== undefined;
    const type = member.type ? sourceText(member.type) : "unknown";
    return {
      name: member.name.getText(),
      // An optional property may be given as undefined: that says nothing new.
      type: optional ? type.replace(/ \| undefined$/, "") : type,
      optional,
      doc: docOf(member),
      node: member,
    };
  });
}

/**
 * One list out of those of a union's variants, which a property with a text of its own tells apart.
 * @param {Member[][]} lists
 * @returns {Member[]}
 */
function variants(lists) {
  const names = [...new Set(lists.flat().map(({ name }) => name))];
  const inEach = (/** @type {string} */ name) =>
    lists.map((members) => members.find((member) => member.name === name)).filter((member) => member !== undefined);
  const tag = names.find((name) => inEach(name).length === lists.length && inEach(name).every(isText));
  return names.map((name) => {
    const found = inEach(name);
    const [first] = found;
    if (name === tag) {
      const text = found.map(({ type, doc }) => `\`${type}\`: ${doc.text}`).join(" ");
      return { ...first, type: found.map(({ type }) => type).join(" | "), doc: { ...first.doc, text } };
    }
    const holders = lists.filter((members) => members.some((member) => member.name === name));
    if (holders.length === lists.length) return first;
    const tags = holders.flat().filter((member) => member.name === tag);
    return { ...first, only: tags.map(({ type }) => `\`${tag}: ${type}\``).join(" or ") };
  });
}

/** @param {Member} member */
function isText({ type }) {
  return /^"[^"]*"$/.test(type);
}
