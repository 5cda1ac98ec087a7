import ts from "typescript";
import { contents, oneLine, paragraphs } from "./markdown.mjs";
import { GENERATED, Page } from "./page.mjs";
import { memberOf, objectOf, textOf } from "./source.mjs";

/** @typedef {{ name: string, folder: string, node: ts.ClassDeclaration }} Class */

const INTRO = `Each argument of a resource may be a \`pulumi.Input\`, at every depth; the tables show the type of the known value. An
argument that is left out is not managed: it is never sent and never drift.

Each argument is also an output of the same name. A secret one is encrypted in the state, whatever the program wraps it in.

All take \`pulumi.CustomResourceOptions\` (components \`pulumi.ComponentResourceOptions\`) as their last parameter.
Settings, drift and limits: [README](../README.md). Look-ups and helpers: [functions](functions.md).`;

/**
 * docs/resources.md: resources, components, the provider and their types.
 * @param {import("./source.mjs").Source} source
 */
export function resourcesPage(source) {
  const page = new Page(source, "resources.md");
  const classes = source
    .of("resources", "components")
    .flatMap(({ name, folder, node }) => (ts.isClassDeclaration(node) ? [{ name, folder, node }] : []));
  const isResource = (/** @type {Class} */ { node }) => node.heritageClauses?.[0]?.getText() === "extends SvcResource";
  const parts = [
    { title: "Resources", classes: classes.filter(isResource), section: resourceSection },
    { title: "Components", classes: classes.filter(({ folder }) => folder === "components"), section: classSection },
    {
      title: "Provider",
      classes: classes.filter((each) => each.folder === "resources" && !isResource(each)),
      section: classSection,
    },
  ];
  const types = page.types("resources", "components");
  return paragraphs(
    "# Resources",
    GENERATED,
    INTRO,
    ...parts.map(({ title, classes }) =>
      contents(
        title,
        classes.map(({ name, node }) => ({ name, text: textOf(node) })),
      ),
    ),
    contents(
      "Types",
      types.map(({ name }) => ({ name })),
    ),
    ...parts.flatMap(({ classes, section }) => classes.map((each) => section(page, each))),
    "## Types",
    ...types.map((type) => page.typeSection(type, (members) => page.argumentTable(members, "Property"))),
  );
}

/**
 * @param {Page} page
 * @param {Class} exported
 */
function resourceSection(page, { name, node }) {
  const { source } = page;
  // What the constructor hands to `SvcResource` (its type `Declaration`), and what the provider's side says.
  const {
    secretArgs = [],
    secretOutputs = [],
    deleteBeforeReplace,
  } = objectOf(source.staticValue(superArgument(node)));
  const secrets = [secretArgs, secretOutputs].flat();
  const specs = objectOf(source.specs.get(name));
  if (Object.keys(specs).length === 0) source.problem(node, `the lifecycle of ${name} names no arguments`);
  /** @type {(member: import("./source.mjs").Member) => Record<string, string>} */
  const secrecy = (member) => ({ Secret: secrets.includes(member.name) ? "yes" : "no" });
  const shape = shapeOf(page, node);
  const args = source.members(shape);
  const outputs = node
    .getSourceFile()
    .statements.filter(ts.isInterfaceDeclaration)
    .find((each) => each.name.text === `${name}Outputs`);
  const results = source.members(outputs);
  const properties = node.members.filter(ts.isPropertyDeclaration).map(memberOf);
  for (const property of properties) {
    if ([...args, ...results].some((member) => member.name === property.name)) continue;
    source.problem(property.node, `${name}.${property.name} is neither an argument nor an output that is documented`);
  }
  const look = node.members.find((member) => member.name?.getText() === "get");
  return paragraphs(
    `## ${name}`,
    source.description(node, name),
    [
      `- When it is replaced, ${deleteBeforeReplace ? "the old one goes before the new one is made" : "the new one is made before the old one goes"}.`,
      ...(look ? [`- \`${name}.get(name, id)\`: ${oneLine(source.description(look, `${name}.get`))}`] : []),
    ].join("\n"),
    `### Arguments of ${name}`,
    shape && textOf(shape),
    page.argumentTable(args, "Argument", (member) => ({
      ...secrecy(member),
      "Changing it": changing(specs[member.name]),
    })),
    `### Outputs of ${name}`,
    outputs && textOf(outputs),
    page.resultTable(results, "Output", secrecy),
    alwaysKnown(args, properties),
  );
}

/** What a change of an argument does, by its specification (`ArgumentSpec`). @param {unknown} spec */
function changing(spec) {
  const { replaces, createOnly } = objectOf(spec);
  if (replaces) return "replaces it";
  return createOnly ? "no effect after creation" : "updates it in place";
}

/**
 * What the constructor gives to that of its base first.
 * @param {ts.Node} node
 * @returns {ts.Node | undefined}
 */
function superArgument(node) {
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) return node.arguments[0];
  return ts.forEachChild(node, superArgument);
}

/**
 * The type that `ArgumentsOf` and `AllOrNone` make the arguments from: its description is that of all of them.
 * @param {Page} page
 * @param {ts.ClassDeclaration} node
 */
function shapeOf(page, node) {
  const args = page.args(node);
  if (!args || !ts.isTypeAliasDeclaration(args) || !ts.isTypeReferenceNode(args.type)) return args;
  return page.source.declarationOf(madeFrom(args.type).typeName);
}

/** @param {ts.TypeReferenceNode} type @returns {ts.TypeReferenceNode} */
function madeFrom(type) {
  const [argument] = type.typeArguments ?? [];
  return argument && ts.isTypeReferenceNode(argument) ? madeFrom(argument) : type;
}

/**
 * @param {import("./source.mjs").Member[]} args
 * @param {import("./source.mjs").Member[]} properties
 */
function alwaysKnown(args, properties) {
  const canLack = properties.filter(({ type }) => /\bundefined\b/.test(type)).map(({ name }) => name);
  const known = args.filter(({ name, optional, only }) => optional && !only && !canLack.includes(name));
  if (known.length === 0) return "";
  const names = known.map(({ name }) => `\`${name}\``).join(" and ");
  return `As ${known.length === 1 ? "an output" : "outputs"}, ${names} ${known.length === 1 ? "has a value" : "have values"} also when left out.`;
}

/**
 * A component, or the provider.
 * @param {Page} page
 * @param {Class} exported
 */
function classSection(page, { name, folder, node }) {
  const { source } = page;
  const results = folder === "components" ? node.members.filter(ts.isPropertyDeclaration).map(memberOf) : [];
  source.checkDescribed(results);
  return paragraphs(
    `## ${name}`,
    source.description(node, name),
    `### Arguments of ${name}`,
    page.argumentTable(source.members(page.args(node))),
    results.length > 0 ? `### Outputs of ${name}` : "",
    page.resultTable(results, "Output"),
  );
}
