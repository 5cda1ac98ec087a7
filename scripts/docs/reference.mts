import { globSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, relative } from "node:path";
import { register } from "ts-node";
import ts from "typescript";
import { ROOT } from "../lib/paths.mjs";
import { orderText } from "./replacements.mts";

/** The pages, with their section titles by folder of src. The last section lists the types. */
const PAGES: Record<string, Record<string, string>> = {
  "docs/resources.md": {
    resources: "Resources",
    components: "Components",
    program: "Explicit providers, secrets by reference",
    contract: "Types",
  },
  "docs/functions.md": { lookups: "Functions", helpers: "Helpers" },
};

/** Resources and components have hand-written pages of their own, to which their tables are added. */
const WITH_PAGES = ["resources", "components"];

/** An export and the exports named after it, such as `getXOutput` and `GetXArgs` after `getX`. */
interface Section {
  main: ts.Symbol;
  others: ts.Symbol[];
  /** The page that lists it. */
  list: string;
  /** The title of its section there. */
  title: string;
  /** Where it is described: its own page, or a heading of the list. */
  target: string;
}

/** The parts of a resource's declaration that the pages and the schema show. */
export interface Declared {
  args: Record<string, Rules>;
  outputs: Record<string, Rules>;
}
interface Rules {
  required?: true;
  secret?: boolean;
  reference?: unknown;
  replaces?: unknown;
  container?: string;
  createOnly?: true;
}

type Column = "Argument" | "Output";

/** The pages about the package's exports. */
export class Reference {
  /** Missing parts of the sources. */
  readonly problems: string[] = [];
  /** The section of each export. */
  readonly #sections = new Map<string, Section>();
  readonly #program: ts.Program;
  readonly checker: ts.TypeChecker;
  /** What src/index.ts exports, by name. */
  readonly exported: ReadonlyMap<string, ts.Symbol>;
  /** The declaration of each resource. */
  readonly declared: ReadonlyMap<string, Declared>;

  constructor() {
    register({ transpileOnly: true, cwd: ROOT });
    this.declared = declarations();
    const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
    this.#program = ts.createProgram([join(ROOT, "src", "index.ts")], { ...options, types: [] });
    this.checker = this.#program.getTypeChecker();
    const exported = this.exportsOf("src/index.ts");
    this.exported = new Map(exported.map((symbol) => [symbol.name, symbol]));
    for (const symbol of exported) this.#add(symbol, exported);
  }

  /** What a file of the package exports. */
  exportsOf(path: string): ts.Symbol[] {
    const file = this.#program.getSourceFile(join(ROOT, path));
    const module = file && this.checker.getSymbolAtLocation(file);
    if (!module) throw new Error(`${path} does not exist, or exports nothing`);
    return this.checker
      .getExportsOfModule(module)
      .map((each) => (each.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(each) : each));
  }

  #add(symbol: ts.Symbol, exported: ts.Symbol[]): void {
    // The arguments of one form of a resource are in its table.
    const whole = symbol.name.replace(/^(Shared|Standard)(?=\w+Args$)/, "");
    const stem = whole.replace(/(Output|Args|Options)$/, "").toLowerCase();
    const main = exported.find(({ name }) => name.toLowerCase() === stem) ?? symbol;
    // Arguments of a function or class need no text of their own.
    if (symbol === main || !isType(symbol)) this.#needsText(symbol);
    const folder = placeOf(main).split(/[\\/]/)[1];
    const [page = "", titles = {}] = Object.entries(PAGES).find(([, titles]) => folder in titles) ?? [];
    if (page === "") this.problems.push(`src/index.ts exports ${symbol.name}, which is on no page`);
    const title = isType(main) ? "Types" : titles[folder];
    const hasPage = WITH_PAGES.includes(folder) && !isType(main);
    const target = hasPage ? `docs/resources/${main.name}.md` : `${page}#${main.name.toLowerCase()}`;
    const section = this.#sections.get(main.name) ?? { main, others: [], list: page, title, target };
    if (symbol !== main) section.others.push(symbol);
    this.#sections.set(main.name, section).set(symbol.name, section);
  }

  #needsText(symbol: ts.Symbol): void {
    if (this.#text(symbol) === "") this.problems.push(`${placeOf(symbol)}: ${symbol.name} has no description`);
  }

  /** The text of the doc comment, with links to the documents that it names. */
  #text(symbol: ts.Symbol | undefined): string {
    return this.plainText(symbol).replace(/\bdocs\/([\w/-]+\.md)/g, "[$&]($&)");
  }

  /** The text of the doc comment. */
  plainText(symbol: ts.Symbol | undefined): string {
    if (!symbol) return "";
    const throws = this.tag(symbol, "throws");
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
    return withoutSources(throws ? `${text}\n\nThrows: ${throws}` : text).replace(
      /\bexamples\/[\w-]+/g,
      "`$&` in the repository",
    );
  }

  /** The text of a tag in the doc comment; undefined if there is no such tag. */
  tag(symbol: ts.Symbol, name: string): string | undefined {
    const found = symbol.getJsDocTags(this.checker).find((tag) => tag.name === name);
    return found && ts.displayPartsToString(found.text);
  }

  /** The form of the Pulumi id, from the text of its class; empty for a component. */
  idOf(name: string): string {
    const [, id = ""] = /Pulumi id is (`[^`]+`)/.exec(oneLine(this.#text(this.#sections.get(name)?.main))) ?? [];
    if (id === "" && this.declared.has(name))
      this.problems.push(`the text of ${name} does not say: Its Pulumi id is …`);
    return id;
  }

  /** The text to write into each page, by its path. */
  pages(): Record<string, string> {
    const sections = [...new Set(this.#sections.values())].sort((left, right) =>
      left.main.name < right.main.name ? -1 : 1,
    );
    const lists = Object.keys(PAGES).map((page) => [page, this.#list(page, sections)]);
    const own = sections.filter(hasPage).map((section) => [section.target, this.#class(section)]);
    return Object.fromEntries([...lists, ...own].map(([page, text]) => [page, linkedFrom(page, text)]));
  }

  #list(page: string, sections: Section[]): string {
    const contents = [];
    const texts = [];
    for (const title of new Set([...Object.values(PAGES[page]), "Types"])) {
      const held = sections.filter((section) => section.list === page && section.title === title);
      contents.push(`**${title}**`, held.map((each) => this.#entry(each)).join("\n"));
      const described = held.filter((each) => !hasPage(each));
      if (described.length > 0) texts.push(`## ${title}`, ...described.map((each) => this.#section(each)));
    }
    return paragraphs(...contents, ...texts);
  }

  /** Its entry in the table of contents, with the first sentence. */
  #entry(section: Section): string {
    const [sentence] = oneLine(this.#text(section.main)).split(/(?<=\.) (?=[A-Z`])/);
    return `- ${link(section.main.name, section)}: ${sentence}`;
  }

  #section(section: Section): string {
    const { main, others } = section;
    return paragraphs(
      `### ${main.name}`,
      this.#text(main),
      main.declarations?.some(ts.isClassDeclaration)
        ? this.#class(section)
        : this.#code(section, [main, ...others].flatMap(printed).join("\n\n")),
    );
  }

  /** A code block, and links to the exports that it names. */
  #code(section: Section, code: string): string {
    const named = this.#named(code).filter((each) => each !== section);
    const links = named.map((each) => link(each.main.name, each));
    return paragraphs(`\`\`\`ts\n${code}\n\`\`\``, links.length > 0 && `See ${links.join(", ")}.`);
  }

  /** The sections of the exports that the code names. */
  #named(code: string): Section[] {
    const words = code.match(/\b\w+\b/g) ?? [];
    return [...new Set(words.flatMap((word) => this.#sections.get(word) ?? []))];
  }

  /** The tables of a resource, a component, or the provider. */
  #class(section: Section): string {
    const { name, exports, declarations } = section.main;
    const node = declarations?.find(ts.isClassDeclaration);
    if (!node) throw new Error(`${name} is not a class`);
    const { shape, outputs = node } = shapesOf(node);
    const args = shape ?? node.members.find(ts.isConstructorDeclaration)?.parameters[1].type;
    const declared = this.declared.get(name);
    if (shape && !declared) this.problems.push(`${name} has no declaration`);
    const get = exports?.get(ts.escapeLeadingUnderscores("get"));
    if (get) this.#needsText(get);
    const facts = [
      declared && `Pulumi id: ${this.idOf(name)}`,
      declared && orderText(name),
      get && `\`${name}.get(name, id)\`: ${oneLine(this.#text(get))}`,
    ];
    const level = hasPage(section) ? "###" : "####";
    return paragraphs(
      facts.flatMap((fact) => (fact ? [`- ${fact}`] : [])).join("\n"),
      `${level} Arguments`,
      args && this.#properties("Argument", args, section),
      `${level} Outputs`,
      this.#properties("Output", outputs, section),
    );
  }

  /** The text of a type, and a table of its properties without those of the SDK. */
  #properties(column: Column, node: ts.Node, section: Section): string {
    const type = this.checker.getTypeAtLocation(node);
    const about = type.aliasSymbol ?? type.symbol;
    const properties = this.checker.getPropertiesOfType(type).filter(({ declarations }) => declarations?.some(isOurs));
    return paragraphs(
      about !== section.main && this.#text(about),
      table(properties.map((property) => this.#row(column, property, type, section.main))),
    );
  }

  #row(column: Column, property: ts.Symbol, type: ts.Type, main: ts.Symbol): Record<string, string> {
    const { name } = property;
    this.#needsText(property);
    const texts = textsOf(property, (each) => this.#text(this.checker.getSymbolAtLocation(each)));
    const types = Object.keys(texts);
    const code = types.join(" | ") + (column === "Output" && isOptional(property) ? " | undefined" : "");
    const [target] = this.#named(code);
    const standard = this.tag(property, "default") ?? "";
    const { args, outputs } = this.declared.get(main.name) ?? {};
    const rules = args?.[name];
    const isSecret = { ...args, ...outputs }[name]?.secret === true;
    const told = oneLine(Object.values(texts).join(" "));
    for (const problem of column === "Argument" && rules ? differing({ ...rules, secret: isSecret }, told) : [])
      this.problems.push(`${placeOf(property)}: ${main.name}.${name} ${problem}`);
    return {
      [column]: `\`${name}\``,
      Type: target ? link(`\`${code}\``, target) : `\`${code}\``,
      Required: column === "Argument" ? this.#required(name, type) : "",
      Default: standard.replace(/^("[^"]*"|\[\]|\d+|true|false)(?=\s|$)/, "`$1`"),
      Secret: args && outputs ? (isSecret ? "yes" : "no") : "",
      Description:
        types.length > 1
          ? types.map((type) => `\`${type}\`: ${texts[type]}`).join(" ")
          : this.#text(property).replace(args ? IN_COLUMN : "", ""),
      "Changing it": column === "Argument" && rules ? changing(rules) : "",
    };
  }

  #required(name: string, type: ts.Type): string {
    const variants = type.isUnion() ? type.types : [type];
    const needing = variants.filter((variant) => !isOptional(variant.getProperty(name)));
    if (needing.length === variants.length) return "yes";
    const tags = needing.flatMap((variant) => variant.getProperty("type") ?? []);
    const values = tags.map((tag) => this.checker.typeToString(this.checker.getTypeOfSymbol(tag)));
    return values.length > 0 ? `with \`type: ${values.join(" | ")}\`` : "no";
  }
}

/** A resource extends `resource<Args, Shape, Outputs>(declaration)`. */
export function shapesOf(node: ts.ClassDeclaration): { shape?: ts.TypeNode; outputs?: ts.TypeNode } {
  const base = node.heritageClauses?.[0].types[0].expression;
  const [, shape, outputs] = (base && ts.isCallExpression(base) && base.typeArguments) || [];
  return { shape, outputs };
}

/** The text of a property for each of its types as written: several if the members of a union differ. */
export function textsOf({ declarations = [] }: ts.Symbol, text: (name: ts.Node) => string): Record<string, string> {
  return Object.fromEntries(
    declarations.filter(isOurs).map((node) => [oneLine(node.type?.getText() ?? "unknown"), text(node.name)]),
  );
}

/** By kind, loaded from the compiled package. */
function declarations(): Map<string, Declared> {
  const load = createRequire(join(ROOT, "package.json"));
  const modules = globSync("src/resources/*/*Declaration.ts", { cwd: ROOT }).map((file) => load(join(ROOT, file)));
  const exported = modules.flatMap((module) => Object.values<Declared & { kind?: string }>(module));
  return new Map(exported.flatMap((each) => (each.kind === undefined ? [] : [[each.kind, each]])));
}

/** Where it is declared, such as `src/index.ts:1`. */
function placeOf({ declarations = [] }: ts.Symbol): string {
  const [node] = declarations;
  const source = node.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(node.getStart());
  return `${relative(ROOT, source.fileName)}:${line + 1}`;
}

export function isOptional(symbol: ts.Symbol | undefined): boolean {
  return symbol !== undefined && (symbol.flags & ts.SymbolFlags.Optional) !== 0;
}

function isType({ flags }: ts.Symbol): boolean {
  return (flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0;
}

/** A property that src declares. */
function isOurs(node: ts.Declaration): node is ts.PropertySignature | ts.PropertyDeclaration {
  return (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) && !node.getSourceFile().isDeclarationFile;
}

/** The declarations as written, without function bodies, and with their texts if these are shown nowhere else. */
function printed({ declarations = [] }: ts.Symbol, index: number): string[] {
  // Of overloads, the last one is not visible from outside.
  const seen = declarations.length > 1 ? declarations.slice(0, -1) : declarations;
  return seen.map((node) => {
    if (ts.isVariableDeclaration(node)) return `const ${node.name.getText()}: ${node.type?.getText()};`;
    const source = node.getSourceFile();
    const end = ts.isFunctionDeclaration(node) && node.body ? node.body.pos : node.end;
    const text = source.text.slice(node.getStart(source, index > 0), end);
    return withoutSources(text.replace(/^export (async )?/m, "").replace(FOR_SCHEMA, ""));
  });
}

/** A tag in a comment that only the schema of the plugin needs. */
const FOR_SCHEMA = /\n *\* @integer(?=\n)| @integer(?= \*\/)/g;

/** Without the documents that the code names as its sources: the package does not contain them. */
function withoutSources(text: string): string {
  return text.replace(/\s*\(docs\/design\/[^()]*\)/g, "").replace(/[,;]\s*docs\/design\/[^()]*(?=\))/g, "");
}

/** An argument's text in editors must agree with its table. */
function differing({ replaces, createOnly, secret }: Rules, text: string): string[] {
  const said: [RegExp, unknown][] = [
    [/\bChanging this replaces\b/, replaces],
    [/\bChanging this later has no effect\b/, createOnly],
    [/\bSecret\b/, secret],
  ];
  return said
    .filter(([words, holds]) => words.test(text) !== Boolean(holds))
    .map(([words]) => `differs from its table: ${words.source.replaceAll("\\b", "")}`);
}

/** The text in editors about a change; the table has a column for it. */
const IN_COLUMN = /\s*Changing this (replaces the [\w ]+|later has no effect)\./;

/** The effect of changing an argument. */
function changing({ replaces, createOnly }: Rules): string {
  if (replaces) return "replaces it";
  return createOnly ? "no effect after creation" : "updates it in place";
}

function hasPage({ list, target }: Section): boolean {
  return !target.startsWith(`${list}#`);
}

/** Relative to the root, until the page is known. */
function link(text: string, { target }: Section): string {
  return `[${text}](${target})`;
}

/** The links of a text, relative to a page. */
function linkedFrom(page: string, text: string): string {
  return text.replace(/\]\((docs\/[^)#]+)(#[^)]*)?\)/g, (_, target: string, anchor = "") =>
    target === page && anchor ? `](${anchor})` : `](${posix.relative(posix.dirname(page), target)}${anchor})`,
  );
}

/** A table of the columns that have any content, from rows with the same keys: the headings. */
export function table(rows: Record<string, string>[]): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => rows.some((row) => row[column]));
  const cells = rows.map((row) => columns.map((column) => oneLine(row[column]).replace(/\|/g, "\\|")));
  const lines = [columns, columns.map(() => "---"), ...cells];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function paragraphs(...parts: (string | false | undefined)[]): string {
  return parts.filter(Boolean).join("\n\n");
}
