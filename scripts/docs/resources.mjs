import ts from "typescript";
import { declarationOf, isSvcResource, outputTypes } from "./declaration.mjs";
import { docOf, textOf } from "./jsdoc.mjs";
import { contentsLine, oneLine, paragraphs, table } from "./markdown.mjs";
import { membersOf, shapeOf, sourceText } from "./members.mjs";
import { GENERATED, Page } from "./page.mjs";

/** @typedef {{ name: string, folder: string, declaration: ts.ClassDeclaration }} Class */
/** @typedef {import("./members.mjs").Member} Member */

const INTRO = `Each argument of a resource may be a \`pulumi.Input\`, at every depth; the tables show the type of the known value. An
argument that is left out is not managed: it is never sent and never drift.

Each argument is also an output of the same name. A secret one is encrypted in the state, whatever the program wraps it in.

All take \`pulumi.CustomResourceOptions\` (components \`pulumi.ComponentResourceOptions\`) as their last parameter.
Settings, drift and limits: [README](../README.md). Look-ups and helpers: [functions](functions.md).`;

/**
 * docs/resources.md: resources, components, the provider and their types.
 * @param {import("./surface.mjs").Surface} surface
 */
export function resourcesPage(surface) {
  const page = new Page(surface, "resources.md");
  const classes = surface
    .of("resources", "components")
    .flatMap(({ name, folder, declaration }) =>
      ts.isClassDeclaration(declaration) ? [{ name, folder, declaration }] : [],
    );
  const parts = [
    {
      title: "Resources",
      classes: classes.filter(({ declaration }) => isSvcResource(declaration)),
      section: resourceSection,
    },
    {
      title: "Components",
      classes: classes.filter(({ folder }) => folder === "components"),
      section: componentSection,
    },
    {
      title: "Provider",
      classes: classes.filter(({ folder, declaration }) => folder === "resources" && !isSvcResource(declaration)),
      section: providerSection,
    },
  ];
  const types = page.types("resources", "components");
  return paragraphs(
    "# Resources",
    GENERATED,
    INTRO,
    ...parts.map(({ title, classes }) =>
      [`**${title}**\n`, ...classes.map((each) => contentsLine(each.name, textOf(each.declaration)))].join("\n"),
    ),
    ["**Types**\n", ...types.map(({ name }) => contentsLine(name))].join("\n"),
    ...parts.flatMap(({ classes, section }) => classes.map((each) => section(page, each))),
    "## Types",
    ...types.map((type) => page.typeSection(type, (members) => page.argumentTable(members, "Property"))),
  );
}

/**
 * @param {Page} page
 * @param {Class} exported
 */
function resourceSection(page, { name, declaration }) {
  const { surface } = page;
  surface.place(name);
  const { secrets, deleteBeforeReplace } = declarationOf(declaration);
  const whole = page.description(declaration, name);
  const [sentence, id] = /\bits\s+Pulumi\s+id\s+is\s+(`[^`]+`)\.?/is.exec(whole) ?? [];
  if (!sentence) surface.problem(declaration, `${name} does not say what its Pulumi id is`);
  const shape = shapeOf(surface, page.args(declaration));
  const args = membersOf(surface, shape);
  const outputs = declaration
    .getSourceFile()
    .statements.filter(ts.isInterfaceDeclaration)
    .find((each) => each.name.text === `${name}Outputs`);
  const results = membersOf(surface, outputs);
  checkMembers(page, name, declaration, args, results);
  const look = declaration.members.find((member) => member.name?.getText() === "get");
  return paragraphs(
    `## ${name}`,
    // Where it is a sentence of its own, the list below says it.
    whole.replace(/\s*\bIts\s+Pulumi\s+id\s+is\s+`[^`]+`\./, ""),
    [
      `- Pulumi id: ${id}`,
      `- When it is replaced, ${deleteBeforeReplace ? "the old one goes before the new one is made" : "the new one is made before the old one goes"}.`,
      ...(look ? [`- \`${name}.get(name, id)\`: ${oneLine(page.description(look, `${name}.get`))}`] : []),
    ].join("\n"),
    `### Arguments of ${name}`,
    shape ? textOf(shape) : "",
    table(
      args.map(({ name, type, optional, only, doc }) => ({
        Argument: `\`${name}\``,
        Type: page.type(type),
        Required: only ? `with ${only}` : optional ? "no" : "yes",
        Default: doc.standard ?? "",
        Secret: secrets.includes(name) ? "yes" : "no",
        Description: doc.text,
        "Changing it": doc.changing ?? "updates it in place",
      })),
    ),
    `### Outputs of ${name}`,
    outputs ? textOf(outputs) : "",
    table(
      results.map(({ name, type, optional, doc }) => ({
        Output: `\`${name}\``,
        Type: page.type(optional ? `${type} | undefined` : type),
        Secret: secrets.includes(name) ? "yes" : "no",
        Description: doc.text,
      })),
    ),
    alwaysKnown(declaration, args),
  );
}

/**
 * The page agrees with the class: its outputs are those that are documented, and what it marks as secret is said to be.
 * @param {Page} page
 * @param {string} name
 * @param {ts.ClassDeclaration} declaration
 * @param {Member[]} args
 * @param {Member[]} results
 */
function checkMembers(page, name, declaration, args, results) {
  const members = [...args, ...results];
  page.checkDescribed(members);
  const { secrets } = declarationOf(declaration);
  for (const { name, node, doc } of members) {
    if (doc.secret !== secrets.includes(name))
      page.surface.problem(node, `${name}: only one of JSDoc and class says that it is secret`);
  }
  for (const output of outputTypes(declaration).keys()) {
    if (members.some((member) => member.name === output)) continue;
    page.surface.problem(declaration, `${name}.${output} is neither an argument nor an output that is documented`);
  }
}

/**
 * @param {ts.ClassDeclaration} declaration
 * @param {Member[]} args
 */
function alwaysKnown(declaration, args) {
  const types = outputTypes(declaration);
  const known = args.filter(({ name, optional, only }) => optional && !only && !types.get(name)?.includes("undefined"));
  if (known.length === 0) return "";
  const names = known.map(({ name }) => `\`${name}\``).join(" and ");
  return `As ${known.length === 1 ? "an output" : "outputs"}, ${names} ${known.length === 1 ? "has a value" : "have values"} also when left out.`;
}

/**
 * @param {Page} page
 * @param {Class} exported
 */
function componentSection(page, { name, declaration }) {
  page.surface.place(name);
  const args = membersOf(page.surface, page.args(declaration));
  const results = declaration.members.filter(ts.isPropertyDeclaration).map((node) => ({
    name: node.name.getText(),
    type: node.type ? sourceText(node.type) : "unknown",
    optional: false,
    doc: docOf(node),
    node,
  }));
  page.checkDescribed([...args, ...results]);
  return paragraphs(
    `## ${name}`,
    page.description(declaration, name),
    `### Arguments of ${name}`,
    page.argumentTable(args),
    `### Outputs of ${name}`,
    page.resultTable(results, "Output"),
  );
}

/**
 * @param {Page} page
 * @param {Class} exported
 */
function providerSection(page, { name, declaration }) {
  page.surface.place(name);
  const args = membersOf(page.surface, page.args(declaration));
  page.checkDescribed(args);
  return paragraphs(
    `## ${name}`,
    page.description(declaration, name),
    `### Arguments of ${name}`,
    page.argumentTable(args),
  );
}
