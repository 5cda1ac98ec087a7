import ts from "typescript";
import { tagOf, textOf } from "./jsdoc.mjs";
import { contentsLine, oneLine, paragraphs } from "./markdown.mjs";
import { membersOf, sourceText } from "./members.mjs";
import { GENERATED, Page } from "./page.mjs";
import { mainForm } from "./places.mjs";

/** @typedef {import("./surface.mjs").Exported} Exported */

const INTRO = `Functions look things up at the service. They run in the program's own process, in previews too, and each has two forms:
one that takes known values and answers a promise, and one whose name ends in \`Output\`, which takes \`pulumi.Input\`s and
answers an Output. Helpers ask nobody: they compute. What can be declared: [resources](resources.md).`;

/**
 * docs/functions.md: functions, what they answer, and helpers.
 * @param {import("./surface.mjs").Surface} surface
 */
export function functionsPage(surface) {
  const page = new Page(surface, "functions.md");
  const functions = surface
    .of("functions")
    .filter(({ name, declaration }) => ts.isFunctionDeclaration(declaration) && mainForm(surface, name) === name);
  const types = page.types("functions");
  const helpers = surface.of("helpers").filter(({ declaration }) => !isInterface(declaration));
  const helperTypes = new Set(page.types("helpers"));
  const values = helpers.filter((each) => !helperTypes.has(each));
  const list = (/** @type {string} */ title, /** @type {Exported[]} */ named) =>
    [`**${title}**\n`, ...named.map((each) => contentsLine(each.name, textOf(each.declaration)))].join("\n");
  return paragraphs(
    "# Functions and helpers",
    GENERATED,
    INTRO,
    list("Functions", functions),
    list("Types of the functions", types),
    list("Helpers", [...values, ...helperTypes]),
    ...functions.map((each) => functionSection(page, each)),
    "## Types of the functions",
    ...types.map((type) =>
      page.typeSection(type, (members) =>
        /(Args|Options)$/.test(type.name)
          ? page.argumentTable(members, "Property")
          : page.resultTable(members, "Field"),
      ),
    ),
    "## Helpers",
    ...values.map((each) => helperSection(page, each)),
    ...[...helperTypes].map((type) => page.typeSection(type, (members) => page.argumentTable(members, "Property"))),
  );
}

/**
 * @param {Page} page
 * @param {Exported} exported
 */
function functionSection(page, { name, declaration }) {
  const { surface } = page;
  const forms = [name, `${name}Output`].flatMap((form) => surface.exports.get(form) ?? []);
  const args = membersOf(surface, page.args(declaration));
  page.checkDescribed(args);
  return paragraphs(
    `## ${name}`,
    page.description(declaration, name),
    forms
      .map((form) => {
        surface.place(form.name);
        const about = form.name === name ? "" : `: ${oneLine(page.description(form.declaration, form.name))}`;
        return `- \`${form.name}(args, opts?)\` answers ${page.type(answer(form.declaration))}${about}`;
      })
      .join("\n"),
    page.argumentTable(args),
  );
}

/** @param {ts.Declaration} declaration */
function answer(declaration) {
  return ts.isFunctionDeclaration(declaration) && declaration.type ? sourceText(declaration.type) : "unknown";
}

/**
 * @param {Page} page
 * @param {Exported} exported
 */
function helperSection(page, { name, declaration, overloads }) {
  page.surface.place(name);
  const other = page.surface.exports.get(`${name}Output`);
  if (other) page.surface.place(other.name);
  const documented = overloads.find((each) => textOf(each) !== "") ?? declaration;
  const throws = tagOf(documented, "throws");
  return paragraphs(
    `### ${name}`,
    `\`\`\`ts\n${overloads.map(signature).join("\n")}\n\`\`\``,
    page.description(documented, name),
    other
      ? `\`${other.name}(options)\` answers an Output: ${oneLine(page.description(other.declaration, other.name))}`
      : "",
    throws ? `Throws: ${throws}` : "",
    page.argumentTable(membersOf(page.surface, page.args(declaration)), "Option"),
  );
}

/** @param {ts.Declaration} declaration */
function signature(declaration) {
  if (ts.isFunctionDeclaration(declaration)) {
    const parameters = declaration.parameters.map(sourceText).join(", ");
    return `function ${declaration.name?.text}(${parameters}): ${answer(declaration)};`;
  }
  if (ts.isVariableDeclaration(declaration) && declaration.type) {
    return `const ${declaration.name.getText()}: ${sourceText(declaration.type)};`;
  }
  throw new Error(`no signature is known for ${sourceText(declaration)}`);
}

/** @param {ts.Declaration} declaration */
function isInterface(declaration) {
  return ts.isInterfaceDeclaration(declaration);
}
