import ts from "typescript";

const RESOURCES = "resources.md";
const FUNCTIONS = "functions.md";

/**
 * The heading under which each export is documented: its own, or that of what takes it as its arguments.
 * @param {import("./surface.mjs").Surface} surface
 * @returns {import("./markdown.mjs").Places}
 */
export function placesOf(surface) {
  /** @type {import("./markdown.mjs").Places} */
  const places = new Map();
  for (const { name, folder } of surface.exports.values()) {
    places.set(name, { page: ["resources", "components"].includes(folder) ? RESOURCES : FUNCTIONS, heading: name });
  }
  for (const { name, declaration } of surface.exports.values()) {
    const place = places.get(mainForm(surface, name));
    const args = argumentsOf(declaration)?.type;
    if (place) places.set(name, place);
    if (place && args && places.has(args.getText())) places.set(args.getText(), place);
  }
  return places;
}

/**
 * The types of these folders that stand under a heading of their own.
 * @param {import("./surface.mjs").Surface} surface
 * @param {import("./markdown.mjs").Places} places
 * @param {string[]} folders
 */
export function typesOf(surface, places, ...folders) {
  return surface
    .of(...folders)
    .filter(({ name, declaration }) => isType(declaration) && places.get(name)?.heading === name);
}

/**
 * `getX` for `getXOutput`, where both are there.
 * @param {import("./surface.mjs").Surface} surface
 * @param {string} name
 */
export function mainForm(surface, name) {
  const main = name.replace(/Output$/, "");
  const declaration = surface.exports.get(main)?.declaration;
  return declaration && ts.isFunctionDeclaration(declaration) ? main : name;
}

/**
 * The parameter with the arguments, of a class or of a function.
 * @param {ts.Declaration} declaration
 */
export function argumentsOf(declaration) {
  const callable = ts.isClassDeclaration(declaration)
    ? declaration.members.find(ts.isConstructorDeclaration)
    : declaration;
  if (!callable || !(ts.isConstructorDeclaration(callable) || ts.isFunctionDeclaration(callable))) return undefined;
  return callable.parameters.find(({ name }) => ["args", "options"].includes(name.getText()));
}

/** @param {ts.Declaration} declaration */
function isType(declaration) {
  return ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration);
}
