import ts from "typescript";
import {
  memberOf,
  sourceText,
  tagOf,
  textOf,
  type Behaviour,
  type Exported,
  type Member,
  type Source,
} from "./source.mts";

/** Some of the exports: a list of contents, and a section for each. */
interface Part {
  title: string;
  holds: (exported: Exported) => boolean;
  /** The sections stand under a heading with the title. */
  headed?: boolean;
}

/** A page of the reference. An export stands in the first part that holds it. */
interface Page {
  file: string;
  title: string;
  intro: string;
  parts: Part[];
}

const isType = ({ node }: Exported): boolean => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
const isClass = ({ node }: Exported): boolean => ts.isClassDeclaration(node);
const isIn = ({ folder }: Exported, ...folders: string[]): boolean => folders.includes(folder);

const PAGES: Page[] = [
  {
    file: "resources.md",
    title: "Resources",
    intro: `Each argument of a resource may be a \`pulumi.Input\`, at every depth; the tables show the type of the known value. An
argument that is left out is not managed: it is never sent and never drift.

Each argument is also an output of the same name. A secret one is encrypted in the state, whatever the program wraps it in.

All take \`pulumi.CustomResourceOptions\` (components \`pulumi.ComponentResourceOptions\`) as their last parameter.
Settings, drift and limits: [README](../README.md). Look-ups and helpers: [functions](functions.md).`,
    parts: [
      { title: "Resources", holds: (each) => isClass(each) && isIn(each, "resources") },
      { title: "Components", holds: (each) => isClass(each) && isIn(each, "components") },
      { title: "Provider", holds: (each) => isClass(each) && isIn(each, "program") },
      {
        title: "Types",
        holds: (each) => isType(each) && isIn(each, "resources", "components", "program"),
        headed: true,
      },
    ],
  },
  {
    file: "functions.md",
    title: "Functions and helpers",
    intro: `Functions look things up at the service. They run in the program's own process, in previews too, and each has two forms:
one that takes known values and answers a promise, and one whose name ends in \`Output\`, which takes \`pulumi.Input\`s and
answers an Output. Helpers ask nobody: they compute. What can be declared: [resources](resources.md).`,
    parts: [
      { title: "Functions", holds: (each) => !isType(each) && isIn(each, "functions") },
      { title: "Types of the functions", holds: (each) => isType(each) && isIn(each, "functions"), headed: true },
      { title: "Helpers", holds: (each) => isIn(each, "helpers"), headed: true },
    ],
  },
];

/** The reference pages: the text of each by its path. */
export function pagesOf(source: Source, behaviours: Map<string, Behaviour>): Record<string, string> {
  const reference = new Reference(source, behaviours);
  return Object.fromEntries(PAGES.map((page) => [`docs/${page.file}`, reference.text(page)]));
}

class Reference {
  readonly #source: Source;
  readonly #behaviours: Map<string, Behaviour>;
  /** The heading of each export: its own, or that of what it belongs to, and the page that it is on. */
  readonly #headings = new Map<string, { heading: string; file: string }>();
  /** The page that is being written. */
  #file = "";

  constructor(source: Source, behaviours: Map<string, Behaviour>) {
    this.#source = source;
    this.#behaviours = behaviours;
    for (const exported of source.exports.values()) {
      const { name, node } = exported;
      const file = PAGES.find(({ parts }) => parts.some(({ holds }) => holds(exported)))?.file;
      if (!file) source.problems.push(`src/index.ts exports ${name}, which is on no page`);
      const main = source.exports.get(name.replace(/Output$/, "")) ?? exported;
      // `getX` for `getXOutput`, and the class or function for its arguments.
      const place = { heading: ts.isFunctionDeclaration(main.node) ? main.name : name, file: file ?? "" };
      if (!this.#headings.has(name)) this.#headings.set(name, place);
      const args = typesOf(node)[0]?.getText() ?? "";
      if (source.exports.has(args)) this.#headings.set(args, place);
    }
  }

  text({ file, title, intro, parts }: Page): string {
    this.#file = file;
    const own = [...this.#source.exports.values()]
      .filter(({ name }) => this.#headings.get(name)?.heading === name)
      .sort((left, right) => Number(isType(left)) - Number(isType(right)) || (left.name < right.name ? -1 : 1));
    const held = parts.map((part) => ({ ...part, exports: own.filter(part.holds) }));
    return paragraphs(
      `# ${title}`,
      "<!-- Written by `npm run docs` from the JSDoc in src: change it there. -->",
      intro,
      ...held.map(({ title, exports }) => contents(title, exports)),
      ...held.flatMap(({ title, exports, headed }) => [
        headed ? `## ${title}` : "",
        ...exports.map((each) => `${headed ? "###" : "##"} ${each.name}\n\n${this.#section(each)}`),
      ]),
    );
  }

  #section(exported: Exported): string {
    if (isClass(exported)) return this.#class(exported);
    if (isType(exported)) return this.#type(exported);
    return isIn(exported, "functions") ? this.#function(exported) : this.#helper(exported);
  }

  /** A resource, a component, or the provider. */
  #class({ name, folder, node }: Exported): string {
    const source = this.#source;
    const behaviour = this.#behaviours.get(name);
    const specs = Object.keys(behaviour?.specs ?? {});
    if (folder === "resources" && specs.length === 0) source.problems.push(`${name} has no lifecycle with arguments`);
    const members = ts.isClassDeclaration(node) ? [...node.members] : [];
    const [args, shape, outputs] = typesOf(node).map((type) => source.declarationOf(type));
    const given = source.members(shape ?? args);
    const properties = folder === "components" ? members.filter(ts.isPropertyDeclaration).map(memberOf) : [];
    const all = outputs ? source.members(outputs) : properties;
    const isArgument = ({ name }: Member): boolean => given.some((arg) => arg.name === name);
    const results = all.filter((member) => !behaviour || !isArgument(member));
    const get = members.find((member) => member.name?.getText() === "get");
    const order = behaviour?.deleteBeforeReplace
      ? "the old one goes before the new one is made"
      : "the new one is made before the old one goes";
    return paragraphs(
      source.description(node, name),
      (behaviour ? `- When it is replaced, ${order}.` : "") +
        (get ? `\n- \`${name}.get(name, id)\`: ${oneLine(source.description(get, `${name}.get`))}` : ""),
      `### Arguments of ${name}`,
      shape && textOf(shape),
      this.#table("Argument", given, behaviour),
      results.length > 0 ? `### Outputs of ${name}` : "",
      outputs && textOf(outputs),
      this.#table("Output", results, behaviour),
      behaviour && alwaysKnown(given, all),
    );
  }

  #function({ name, node, text }: Exported): string {
    const forms = [name, `${name}Output`].flatMap((form) => this.#source.exports.get(form) ?? []);
    const lines = forms.map((form) => {
      const about = oneLine(this.#source.description(form.node, form.name));
      const call = `- \`${form.name}(args, opts?)\` answers ${this.#code(answer(form.node))}`;
      return form.name === name ? call : `${call}: ${about}`;
    });
    return paragraphs(text, lines.join("\n"), this.#table("Argument", this.#argumentsOf(node)));
  }

  #helper({ name, node, declarations }: Exported): string {
    const throws = tagOf(node, "throws");
    const other = this.#source.exports.get(`${name}Output`);
    const about = other && oneLine(this.#source.description(other.node, other.name));
    return paragraphs(
      `\`\`\`ts\n${declarations.map(signature).join("\n")}\n\`\`\``,
      this.#source.description(node, name),
      other && `\`${other.name}(options)\` answers an Output: ${about}`,
      throws && `Throws: ${throws}`,
      this.#table("Option", this.#argumentsOf(node)),
    );
  }

  #type({ name, folder, node }: Exported): string {
    const bases = ts.isInterfaceDeclaration(node) ? (node.heritageClauses ?? []).flatMap(({ types }) => types) : [];
    // The properties of an interface are in the table.
    const others = bases.filter(({ expression }) => {
      const base = this.#source.declarationOf(expression);
      return base && ts.isTypeAliasDeclaration(base);
    });
    const alias = ts.isTypeAliasDeclaration(node) && this.#isReadable(node.type) ? sourceText(node.type) : "";
    const column = folder === "functions" && !/(Args|Options)$/.test(name) ? "Field" : "Property";
    return paragraphs(
      this.#source.description(node, name),
      alias && `\`\`\`ts\ntype ${name} = ${alias};\n\`\`\``,
      this.#table(column, ts.isInterfaceDeclaration(node) ? this.#source.members(node) : []),
      others.length > 0 && `And everything of ${others.map((base) => this.#code(base.getText())).join(" and ")}.`,
    );
  }

  #table(column: string, members: Member[], behaviour?: Behaviour): string {
    const isResult = column === "Output" || column === "Field";
    return table(
      members.map(({ name, type, optional, only, node, text }) => ({
        [column]: `\`${name}\``,
        Type: this.#code(isResult && optional ? `${type} | undefined` : type),
        Required: isResult ? "" : only ? `with ${only}` : optional ? "no" : "yes",
        Default: tagOf(node, "default").replace(/^("[^"]*"|\[\]|\d+|true|false)(?=\s|$)/, "`$1`"),
        Secret: behaviour ? (behaviour.secrecy[name] === "secret" ? "yes" : "no") : "",
        // The names of the options of a helper may say enough.
        Description: text || (column === "Option" ? "" : this.#source.description(node, name)),
        "Changing it": behaviour && column === "Argument" ? changing(behaviour.specs[name]) : "",
      })),
    );
  }

  /** Code that leads to the first documented name in it. */
  #code(code: string): string {
    const words = [...code.matchAll(/(?<!")\b\w+\b(?!")/g)].map(([word]) => word);
    const found = words.map((word) => this.#headings.get(word)).find((place) => place !== undefined);
    if (!found) return `\`${code}\``;
    return `[\`${code}\`](${found.file === this.#file ? "" : found.file}#${found.heading.toLowerCase()})`;
  }

  #argumentsOf(node: ts.Declaration): Member[] {
    return this.#source.members(this.#source.declarationOf(typesOf(node)[0]));
  }

  /** Whether a reader knows every type that is named in it: one of the language, of the SDK, or one that is exported. */
  #isReadable(node: ts.Node): boolean {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
      const declaration = this.#source.declarationOf(node);
      const isPrivate = declaration && !declaration.getSourceFile().isDeclarationFile;
      if (isPrivate && !this.#source.exports.has(node.typeName.text)) return false;
    }
    return ts.forEachChild(node, (child) => (this.#isReadable(child) ? undefined : true)) === undefined;
  }
}

/**
 * The types that something is made with, as they are written: the arguments of a class or function; of a resource, which
 * extends `resource<Args, Shape, Outputs>(declaration)`, those three.
 */
function typesOf(node: ts.Declaration): readonly ts.TypeNode[] {
  const base = ts.isClassDeclaration(node) ? node.heritageClauses?.[0]?.types[0]?.expression : undefined;
  if (base && ts.isCallExpression(base)) return base.typeArguments ?? [];
  const callable = ts.isClassDeclaration(node) ? node.members.find(ts.isConstructorDeclaration) : node;
  if (!callable || !(ts.isConstructorDeclaration(callable) || ts.isFunctionDeclaration(callable))) return [];
  const { type } = callable.parameters.find(({ name }) => ["args", "options"].includes(name.getText())) ?? {};
  return type ? [type] : [];
}

/** What a change of an argument does. */
function changing({ replaces, createOnly }: Behaviour["specs"][string] = {}): string {
  if (replaces) return "replaces it";
  return createOnly ? "no effect after creation" : "updates it in place";
}

/** Optional arguments that are outputs as well, and have a value there. */
function alwaysKnown(args: Member[], outputs: Member[]): string {
  const have = outputs.filter(({ optional }) => !optional).map(({ name }) => name);
  const known = args.filter(({ name, optional }) => optional && have.includes(name));
  const names = known.map(({ name }) => `\`${name}\``).join(" and ");
  if (known.length === 0) return "";
  return `${known.length > 1 ? `As outputs, ${names} have values` : `As an output, ${names} has a value`} also when left out.`;
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

/** A table of the columns that say something, from rows with the same keys: the headings. */
export function table(rows: Record<string, string>[]): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const cells = rows.map((row) => columns.map((column) => oneLine(row[column]).replace(/\|/g, "\\|")));
  const lines = [columns, columns.map(() => "---"), ...cells];
  return rows.length === 0 ? "" : lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

/** A list of links to headings, each with the first sentence of its text. */
function contents(title: string, headings: Exported[]): string {
  const lines = headings.map(({ name, text }) => {
    const [first] = oneLine(text).split(/(?<=\.) (?=[A-Z`])/);
    return `- [${name}](#${name.toLowerCase()})${first && `: ${first}`}`;
  });
  return `**${title}**\n\n${lines.join("\n")}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function paragraphs(...parts: (string | false | undefined)[]): string {
  return parts.filter(Boolean).join("\n\n");
}
