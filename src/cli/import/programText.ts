/** Writes the TypeScript program of an import, in prettier's default format. */

import { oneLine } from "../../contract/untrusted";
import { keyText, quotedIn } from "../code";

const WIDTH = 80;

/** Source code used as a value. */
export class Code {
  constructor(readonly text: string) {}
}

export type Argument = readonly [name: string, value: unknown, comment?: string];

/** A resource of the program. */
export interface DeclaredResource {
  readonly kind: string;
  readonly name: string;
  readonly variable: string;
  readonly args: readonly Argument[];
  /** The comment lines above the resource. */
  readonly comment?: readonly string[];
  readonly isProtected: boolean;
}

/** A value that the program uses several times. */
export interface Constant {
  readonly variable: string;
  readonly value: string;
  readonly comment?: string;
}

/** The modules that the program loads. */
interface Loading {
  readonly readsConfiguration: boolean;
  /** Use `require` instead of `import`, for a file that Node runs unchanged. */
  readonly isCommonJs: boolean;
  /** The only stack that declares the resources, if other stacks run the same program. */
  readonly onlyOf?: string | undefined;
}

export function programText(
  constants: readonly Constant[],
  resources: readonly DeclaredResource[],
  { readsConfiguration, isCommonJs, onlyOf }: Loading,
): string {
  const load = (name: string, from: string): string =>
    isCommonJs ? `const ${name} = require("${from}");` : `import * as ${name} from "${from}";`;
  const usesPulumi = readsConfiguration || onlyOf !== undefined;
  const head = [...(usesPulumi ? [load("pulumi", "@pulumi/pulumi")] : []), load("svc", "pulumi-svc")].join("\n");
  const width = onlyOf === undefined ? WIDTH : WIDTH - INDENT.length;
  const shared = [
    ...(readsConfiguration ? ["const config = new pulumi.Config();"] : []),
    ...constants.map((constant) => constantText(constant, width)),
  ].join("\n");
  const body = [shared, ...resources.map((one) => declaration(one, width))].filter((part) => part !== "").join("\n\n");
  return `${head}\n\n${onlyOf === undefined ? body : blockOf(onlyOf, body)}\n`;
}

const INDENT = "  ";

function blockOf(stack: string, body: string): string {
  return [
    "// Each of these objects exists once, so only one stack may declare it.",
    `if (pulumi.getStack() === ${quoted(stack)}) {`,
    body.replace(/^(?=.)/gm, INDENT),
    "}",
  ].join("\n");
}

function constantText({ variable, value, comment }: Constant, width: number): string {
  const flat = `const ${variable} = ${quoted(value)};`;
  const text = flat.length <= width ? flat : `const ${variable} =\n  ${quoted(value)};`;
  return comment === undefined ? text : `${text} ${lineComment(comment)}`;
}

function declaration(
  { kind, name, variable, args, comment = [], isProtected }: DeclaredResource,
  width: number,
): string {
  const begin = `const ${variable} = new svc.${kind}(`;
  const isShort = !isProtected && `${begin}${quoted(name)}, {`.length <= width;
  const indent = isShort ? "  " : "    ";
  const lines = args.map((argument) => property(argument, indent, width));
  const object = ["{", ...lines, `${indent.slice(2)}}`].join("\n");
  const all = [quoted(name), object, ...(isProtected ? ["{ protect: true }"] : [])];
  const given = isShort ? all.join(", ") : `\n${all.map((one) => `  ${one},\n`).join("")}`;
  return [...comment.map(lineComment), `${begin}${given});`].join("\n");
}

function property([name, value, comment]: Argument, indent: string, width: number): string {
  const after = comment === undefined ? "" : ` ${lineComment(comment)}`;
  if (value instanceof Code && value.text === name) return `${indent}${name},${after}`;
  const key = keyText(name, quoted);
  const flat = `${indent}${key}: ${flatText(value)},`;
  if (flat.length <= width && !isDeep(value)) return flat + after;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}  ${flatText(item)},`);
    return [`${indent}${key}: [`, ...items, `${indent}],${after}`].join("\n");
  }
  if (isObject(value)) {
    const inner = Object.entries(value).map((entry) => property(entry, `${indent}  `, width));
    return [`${indent}${key}: {`, ...inner, `${indent}},${after}`].join("\n");
  }
  // A line break after such a short key would gain nothing.
  return key.length <= 4 ? flat + after : `${indent}${key}:\n${indent}  ${flatText(value)},${after}`;
}

/** Settings are more readable on separate lines. */
const isDeep = (value: unknown): boolean => isObject(value) && Object.values(value).some(isObjectOrText);
const isObjectOrText = (value: unknown): boolean => typeof value === "object" || typeof value === "string";

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Code);

function flatText(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(flatText).join(", ")}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => `${keyText(name, quoted)}: ${flatText(inner)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}

/** Uses the quotes that need fewer escapes. */
function quoted(text: string): string {
  const count = (quote: string): number => text.split(quote).length - 1;
  return quotedIn(count('"') <= count("'") ? '"' : "'", text);
}

/** Text from the service must not end the comment. */
const lineComment = (text: string): string =>
  `// ${oneLine(text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Z}]+/gu, " "))}`.trimEnd();

/** Names that a module cannot declare, and names that the program uses. */
const RESERVED =
  /^(arguments|await|break|case|catch|class|config|const|continue|debugger|default|delete|do|else|enum|eval|export|exports|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|module|new|null|package|private|projectId|protected|public|pulumi|require|return|static|super|svc|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/;

/** Gives each resource a unique name and variable. */
export class Names {
  readonly #taken: Set<string>;

  /** `taken`: names of existing resources. */
  constructor(taken: readonly string[]) {
    this.#taken = new Set(taken.map(camelCase));
  }

  /**
   * Chooses from the first text that yields a name. `word` makes a repeated name unique: `api`, `api-compute`,
   * `api-compute-2`.
   */
  choose(word: string, ...texts: readonly (string | undefined)[]): { name: string; variable: string } {
    const base = texts.map(kebabCase).find((text) => text !== "") ?? word;
    const begin = /^\d/.test(base) ? `${word}-${base}` : base;
    const second = `-${begin}`.endsWith(`-${word}`) ? begin : `${begin}-${word}`;
    for (let count = second === begin ? 1 : 0; ; count++) {
      const name = count === 0 ? begin : count === 1 ? second : `${second}-${count}`;
      const variable = camelCase(name);
      if (RESERVED.test(variable) || this.#taken.has(variable)) continue;
      this.#taken.add(variable);
      return { name, variable };
    }
  }
}

/** `Reports (v2)` becomes `reports-v2`: letters a to z, digits and single hyphens. */
export function kebabCase(text = ""): string {
  // Removes accents.
  const letters = text.normalize("NFKD").replace(/\p{M}/gu, "");
  const words = letters.replace(/([a-z\d])([A-Z])/g, "$1-$2").split(/[^A-Za-z\d]+/);
  return words.filter(Boolean).join("-").toLowerCase();
}

/** `app-example-com` becomes `appExampleCom`. */
export function camelCase(text: string): string {
  return text.replace(/[^A-Za-z\d]+([A-Za-z\d])/g, (_all, letter: string) => letter.toUpperCase());
}
