import ts from "typescript";
import { contents, oneLine, paragraphs } from "./markdown.mjs";
import { GENERATED, Page } from "./page.mjs";
import { sourceText, tagOf, textOf } from "./source.mjs";

/** @typedef {import("./source.mjs").Exported} Exported */

const INTRO = `Functions look things up at the service. They run in the program's own process, in previews too, and each has two forms:
one that takes known values and answers a promise, and one whose name ends in \`Output\`, which takes \`pulumi.Input\`s and
answers an Output. Helpers ask nobody: they compute. What can be declared: [resources](resources.md).`;

/**
 * docs/functions.md: functions, what they answer, and helpers.
 * @param {import("./source.mjs").Source} source
 */
export function functionsPage(source) {
  const page = new Page(source, "functions.md");
  const functions = source
    .of("functions")
    .filter(({ name, node }) => ts.isFunctionDeclaration(node) && page.headings.get(name) === name);
  const types = page.types("functions");
  const helperTypes = page.types("helpers");
  const helpers = source
    .of("helpers")
    .filter(({ node }) => ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node));
  const list = (/** @type {string} */ title, /** @type {Exported[]} */ named) =>
    contents(
      title,
      named.map(({ name, node }) => ({ name, text: textOf(node) })),
    );
  return paragraphs(
    "# Functions and helpers",
    GENERATED,
    INTRO,
    list("Functions", functions),
    list("Types of the functions", types),
    list("Helpers", [...helpers, ...helperTypes]),
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
    ...helpers.map((each) => helperSection(page, each)),
    ...helperTypes.map((type) => page.typeSection(type, (members) => page.argumentTable(members, "Property"))),
  );
}

/**
 * @param {Page} page
 * @param {Exported} exported
 */
function functionSection(page, { name, node }) {
  const { source } = page;
  const forms = [name, `${name}Output`].flatMap((form) => source.exports.get(form) ?? []);
  return paragraphs(
    `## ${name}`,
    source.description(node, name),
    forms
      .map((form) => {
        const about = form.name === name ? "" : `: ${oneLine(source.description(form.node, form.name))}`;
        return `- \`${form.name}(args, opts?)\` answers ${page.type(answer(form.node))}${about}`;
      })
      .join("\n"),
    page.argumentTable(source.members(page.args(node))),
  );
}

/** @param {ts.Declaration} node */
function answer(node) {
  return ts.isFunctionDeclaration(node) && node.type ? sourceText(node.type) : "unknown";
}

/**
 * @param {Page} page
 * @param {Exported} exported
 */
function helperSection(page, { name, node, declarations }) {
  const { source } = page;
  const throws = tagOf(node, "throws");
  const other = source.exports.get(`${name}Output`);
  return paragraphs(
    `### ${name}`,
    `\`\`\`ts\n${declarations.map(signature).join("\n")}\n\`\`\``,
    source.description(node, name),
    other &&
      `\`${other.name}(options)\` answers an Output: ${oneLine(source.description(other.node, other.name))}`,
    throws && `Throws: ${throws}`,
    page.argumentTable(source.members(page.args(node), false), "Option"),
  );
}

/** @param {ts.Declaration} node */
function signature(node) {
  if (ts.isFunctionDeclaration(node)) {
    return `function ${node.name?.text}(${node.parameters.map(sourceText).join(", ")}): ${answer(node)};`;
  }
  if (ts.isVariableDeclaration(node) && node.type) return `const ${node.name.getText()}: ${sourceText(node.type)};`;
  throw new Error(`no signature is known for ${sourceText(node)}`);
}
