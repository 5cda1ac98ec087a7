import ts from "typescript";
import { contents, oneLine, paragraphs, table } from "./markdown.mts";
import { memberOf, objectOf, sourceText, tagOf, textOf, type Exported, type Member, type Source } from "./source.mts";

/** Some of the exports: a list of contents, and a section for each. */
interface Part {
  title: string;
  exports: Exported[];
  section: (exported: Exported) => string;
  /** The sections stand under a heading with the title. */
  headed?: boolean;
}

const RESOURCES = {
  file: "resources.md",
  title: "Resources",
  intro: `Each argument of a resource may be a \`pulumi.Input\`, at every depth; the tables show the type of the known value. An
argument that is left out is not managed: it is never sent and never drift.

Each argument is also an output of the same name. A secret one is encrypted in the state, whatever the program wraps it in.

All take \`pulumi.CustomResourceOptions\` (components \`pulumi.ComponentResourceOptions\`) as their last parameter.
Settings, drift and limits: [README](../README.md). Look-ups and helpers: [functions](functions.md).`,
};

const FUNCTIONS = {
  file: "functions.md",
  title: "Functions and helpers",
  intro: `Functions look things up at the service. They run in the program's own process, in previews too, and each has two forms:
one that takes known values and answers a promise, and one whose name ends in \`Output\`, which takes \`pulumi.Input\`s and
answers an Output. Helpers ask nobody: they compute. What can be declared: [resources](resources.md).`,
};

/** The reference pages: the text of each by its path. */
export function pagesOf(source: Source): Record<string, string> {
  return Object.fromEntries([RESOURCES, FUNCTIONS].map((page) => [`docs/${page.file}`, new Page(source, page).text()]));
}

class Page {
  readonly #source: Source;
  readonly #page: typeof RESOURCES;
  /** The heading of each export: its own, or that of what it belongs to. */
  readonly #headings = new Map<string, string>();

  constructor(source: Source, page: typeof RESOURCES) {
    this.#source = source;
    this.#page = page;
    for (const { name } of source.exports.values()) this.#headings.set(name, this.#mainForm(name));
    for (const { name, node } of source.exports.values()) {
      const args = argumentsType(node)?.getText() ?? "";
      if (source.exports.has(args)) this.#headings.set(args, this.#mainForm(name));
    }
  }

  text(): string {
    const { title, intro } = this.#page;
    const parts = this.#page === RESOURCES ? this.#resources() : this.#functions();
    const text = paragraphs(
      `# ${title}`,
      "<!-- Written by `npm run docs` from the JSDoc in src: change it there. -->",
      intro,
      ...parts.map(({ title, exports }) => contents(title, exports)),
      ...parts.flatMap(({ title, exports, section, headed }) => [headed ? `## ${title}` : "", ...exports.map(section)]),
    );
    for (const { name } of this.#source.exports.values()) {
      const heading = this.#headings.get(name) ?? "";
      const file = fileOf(this.#source.exports.get(heading)?.folder);
      const isMissing = file === this.#page.file && !text.includes(`# ${heading}\n`);
      if (!file || isMissing) this.#source.problems.push(`src/index.ts exports ${name}, which is on no page`);
    }
    return text;
  }

  #resources(): Part[] {
    const all = this.#source.of("resources", "components", "program");
    const classes = all.filter(({ node }) => ts.isClassDeclaration(node));
    const isResource = ({ node }: Exported): boolean => baseOf(node) !== undefined;
    const inComponents = ({ folder }: Exported): boolean => folder === "components";
    const provider = classes.filter((each) => !isResource(each) && !inComponents(each));
    const plain = (each: Exported): string => this.#class(each);
    return [
      { title: "Resources", exports: classes.filter(isResource), section: (each) => this.#resource(each) },
      { title: "Components", exports: classes.filter(inComponents), section: plain },
      { title: "Provider", exports: provider, section: plain },
      { title: "Types", exports: this.#types(all), section: (each) => this.#type(each, "Property"), headed: true },
    ];
  }

  #functions(): Part[] {
    const all = this.#source.of("functions");
    const functions = all.filter(({ name, node }) => !isType(node) && this.#headings.get(name) === name);
    const helpers = this.#source.of("helpers");
    const types = this.#types(helpers);
    return [
      { title: "Functions", exports: functions, section: (each) => this.#function(each) },
      {
        title: "Types of the functions",
        exports: this.#types(all),
        section: (each) => this.#type(each, /(Args|Options)$/.test(each.name) ? "Property" : "Field"),
        headed: true,
      },
      {
        title: "Helpers",
        exports: [...helpers.filter(({ node }) => !isType(node)), ...types],
        section: (each) => (types.includes(each) ? this.#type(each, "Property") : this.#helper(each)),
        headed: true,
      },
    ];
  }

  #resource({ name, node }: Exported): string {
    const source = this.#source;
    const base = baseOf(node);
    if (!ts.isClassDeclaration(node) || !base) return "";
    // The resource's declaration, and what the provider's side says.
    const declaration = objectOf(source.staticValue(base.declaration));
    const [argSecrecy, outputSecrecy] = [objectOf(declaration.args), objectOf(declaration.outputs)];
    const specs = objectOf(source.specs.get(name));
    if (Object.keys(specs).length === 0) source.problem(node, `the lifecycle of ${name} names no arguments`);
    const isSecret = (member: string): boolean => [argSecrecy[member], outputSecrecy[member]].includes("secret");
    const secrecy = (member: Member) => ({ Secret: isSecret(member.name) ? "yes" : "no" });
    const shape = this.#shape(node);
    const args = source.described(source.members(shape));
    const outputs = source.declarationOf(base.outputs);
    const all = source.described(source.members(outputs));
    const results = all.filter((member) => !args.some((arg) => arg.name === member.name));
    const get = node.members.find((member) => member.name?.getText() === "get");
    const order = declaration.deleteBeforeReplace
      ? "the old one goes before the new one is made"
      : "the new one is made before the old one goes";
    return paragraphs(
      `## ${name}`,
      source.description(node, name),
      `- When it is replaced, ${order}.` +
        (get ? `\n- \`${name}.get(name, id)\`: ${oneLine(source.description(get, `${name}.get`))}` : ""),
      `### Arguments of ${name}`,
      shape && textOf(shape),
      this.#table(args, "Argument", (each) => ({
        ...secrecy(each),
        "Changing it": changing(objectOf(specs[each.name])),
      })),
      `### Outputs of ${name}`,
      outputs && textOf(outputs),
      this.#table(results, "Output", secrecy),
      alwaysKnown(args, all),
    );
  }

  /** The type that `ArgumentsOf` and `AllOrNone` make the arguments from: its description is that of all of them. */
  #shape(node: ts.Declaration): ts.Declaration | undefined {
    const args = this.#args(node);
    if (!args || !ts.isTypeAliasDeclaration(args) || !ts.isTypeReferenceNode(args.type)) return args;
    return this.#source.declarationOf(madeFrom(args.type).typeName);
  }

  /** A component, or the provider. */
  #class({ name, folder, node }: Exported): string {
    const source = this.#source;
    const properties = folder === "components" && ts.isClassDeclaration(node) ? node.members : [];
    const results = [...properties].filter(ts.isPropertyDeclaration).map(memberOf);
    return paragraphs(
      `## ${name}`,
      source.description(node, name),
      `### Arguments of ${name}`,
      this.#table(source.described(source.members(this.#args(node))), "Argument"),
      results.length > 0 ? `### Outputs of ${name}` : "",
      this.#table(source.described(results), "Output"),
    );
  }

  #function({ name, node, text }: Exported): string {
    const source = this.#source;
    const forms = [name, `${name}Output`].flatMap((form) => source.exports.get(form) ?? []);
    const lines = forms.map((form) => {
      const about = oneLine(source.description(form.node, form.name));
      const call = `- \`${form.name}(args, opts?)\` answers ${this.#code(answer(form.node))}`;
      return form.name === name ? call : `${call}: ${about}`;
    });
    const args = source.described(source.members(this.#args(node)));
    return paragraphs(`## ${name}`, text, lines.join("\n"), this.#table(args, "Argument"));
  }

  #helper({ name, node, declarations }: Exported): string {
    const throws = tagOf(node, "throws");
    const other = this.#source.exports.get(`${name}Output`);
    const about = other && oneLine(this.#source.description(other.node, other.name));
    return paragraphs(
      `### ${name}`,
      `\`\`\`ts\n${declarations.map(signature).join("\n")}\n\`\`\``,
      this.#source.description(node, name),
      other ? `\`${other.name}(options)\` answers an Output: ${about}` : "",
      throws && `Throws: ${throws}`,
      this.#table(this.#source.members(this.#args(node)), "Option"),
    );
  }

  #type({ name, node }: Exported, column: "Property" | "Field"): string {
    const source = this.#source;
    const bases = ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []).flatMap(({ types }) => types) : [];
    // The properties of an interface are in the table.
    const others = bases.filter(({ expression }) => {
      const base = source.declarationOf(expression);
      return base && ts.isTypeAliasDeclaration(base);
    });
    const alias = ts.isTypeAliasDeclaration(node) && this.#isReadable(node.type) ? sourceText(node.type) : "";
    return paragraphs(
      `### ${name}`,
      source.description(node, name),
      alias && `\`\`\`ts\ntype ${name} = ${alias};\n\`\`\``,
      ts.isInterfaceDeclaration(node) ? this.#table(source.described(source.members(node)), column) : "",
      others.length > 0 ? `And everything of ${others.map((base) => this.#code(base.getText())).join(" and ")}.` : "",
    );
  }

  #table(members: Member[], column: string, more: (member: Member) => Record<string, string> = () => ({})): string {
    const isResult = column === "Output" || column === "Field";
    return table(
      members.map((member) => ({
        [column]: `\`${member.name}\``,
        Type: this.#code(isResult && member.optional ? `${member.type} | undefined` : member.type),
        Required: isResult ? "" : member.only ? `with ${member.only}` : member.optional ? "no" : "yes",
        Default: tagOf(member.node, "default").replace(/^("[^"]*"|\[\]|\d+|true|false)(?=\s|$)/, "`$1`"),
        Secret: "",
        Description: member.text,
        // What has a column already takes its place.
        ...more(member),
      })),
    );
  }

  /** Code that leads to the first documented name in it. */
  #code(code: string): string {
    const words = [...code.matchAll(/(?<!")\b\w+\b(?!")/g)].map(([word]) => word);
    const found = this.#source.exports.get(words.find((word) => this.#headings.has(word)) ?? "");
    if (!found) return `\`${code}\``;
    const file = fileOf(found.folder) ?? "";
    return `[\`${code}\`](${file === this.#page.file ? "" : file}#${this.#headings.get(found.name)?.toLowerCase()})`;
  }

  /** `getX` for `getXOutput`. */
  #mainForm(name: string): string {
    const main = name.replace(/Output$/, "");
    const node = this.#source.exports.get(main)?.node;
    return node && ts.isFunctionDeclaration(node) ? main : name;
  }

  /** Those of them that are types under a heading of their own. */
  #types(all: Exported[]): Exported[] {
    return all.filter(({ name, node }) => isType(node) && this.#headings.get(name) === name);
  }

  /** The declaration of the arguments of a class or function. */
  #args(node: ts.Declaration): ts.Declaration | undefined {
    const type = argumentsType(node);
    return type && ts.isTypeReferenceNode(type) ? this.#source.declarationOf(type.typeName) : undefined;
  }

  /** Whether a reader knows every type that is named in it: one of the language, of the SDK, or one that is exported. */
  #isReadable(node: ts.Node): boolean {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
      const declaration = this.#source.declarationOf(node.typeName);
      const isPrivate = declaration && !declaration.getSourceFile().isDeclarationFile;
      if (isPrivate && !this.#source.exports.has(node.typeName.text)) return false;
    }
    return ts.forEachChild(node, (child) => (this.#isReadable(child) ? undefined : true)) === undefined;
  }
}

function fileOf(folder: string | undefined): string | undefined {
  if (["resources", "components", "program"].includes(folder ?? "")) return RESOURCES.file;
  return folder === "functions" || folder === "helpers" ? FUNCTIONS.file : undefined;
}

/** What a change of an argument does, by its specification (`ArgumentSpec`). */
function changing({ replaces, createOnly }: Record<string, unknown>): string {
  if (replaces) return "replaces it";
  return createOnly ? "no effect after creation" : "updates it in place";
}

/** Optional arguments that are outputs as well, and have a value there. */
function alwaysKnown(args: Member[], outputs: Member[]): string {
  const have = outputs.filter(({ optional }) => !optional).map(({ name }) => name);
  const known = args.filter(({ name, optional }) => optional && have.includes(name));
  const names = known.map(({ name }) => `\`${name}\``).join(" and ");
  if (known.length > 1) return `As outputs, ${names} have values also when left out.`;
  return known.length === 1 ? `As an output, ${names} has a value also when left out.` : "";
}

function madeFrom(type: ts.TypeReferenceNode): ts.TypeReferenceNode {
  const [argument] = type.typeArguments ?? [];
  return argument && ts.isTypeReferenceNode(argument) ? madeFrom(argument) : type;
}

interface Base {
  args: ts.TypeNode;
  outputs: ts.Node;
  declaration: ts.Expression;
}

/** What `resource<Args, Shape, Outputs>(declaration)` is given, which the class of a resource extends. */
function baseOf(node: ts.Declaration): Base | undefined {
  const call = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined;
  if (!call || !ts.isCallExpression(call) || call.expression.getText() !== "resource") return undefined;
  const [args, , outputs] = call.typeArguments ?? [];
  const [declaration] = call.arguments;
  if (!args || !outputs || !ts.isTypeReferenceNode(outputs) || !declaration) return undefined;
  return { args, outputs: outputs.typeName, declaration };
}

function argumentsType(node: ts.Declaration): ts.TypeNode | undefined {
  const base = baseOf(node);
  if (base) return base.args;
  const callable = ts.isClassDeclaration(node) ? node.members.find(ts.isConstructorDeclaration) : node;
  if (!callable || !(ts.isConstructorDeclaration(callable) || ts.isFunctionDeclaration(callable))) return undefined;
  return callable.parameters.find(({ name }) => ["args", "options"].includes(name.getText()))?.type;
}

function isType(node: ts.Declaration): boolean {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function answer(node: ts.Declaration): string {
  return ts.isFunctionDeclaration(node) && node.type ? sourceText(node.type) : "unknown";
}

function signature(node: ts.Declaration): string {
  if (ts.isFunctionDeclaration(node)) {
    return `function ${node.name?.text}(${node.parameters.map(sourceText).join(", ")}): ${answer(node)};`;
  }
  if (ts.isVariableDeclaration(node) && node.type) return `const ${node.name.getText()}: ${sourceText(node.type)};`;
  throw new Error(`no signature is known for ${sourceText(node)}`);
}
