import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Documents for who works on this, beside the comments of the code in these folders. */
const DOCUMENTS = /^(CONTRIBUTING\.md|docs\/design\/.*\.md)$/;
const COMMENTED = /^(src|test|scripts)\/.*\.[cm]?[jt]s$/;
const CODE = /\.([cm]?[jt]s|json|ya?ml)$/;

/** A comment begins behind nothing or white space, so that none begins in a glob or a URL. */
const COMMENT = /(?<=^|\s)(?:\/\*[^]*?\*\/|\/\/.*$)/gm;
const FENCED = /^( *)```.*\n([^]*?)^\1```/gm;
const INLINE = /`([^`\n]+)`/g;

const SCRIPT = /^npm run ([\w:-]+)/;
const OPTION = /^--[a-z][\w-]*/;
const FILE = /^[\w@./-]+\.([cm]?[jt]s|json|md|ya?ml|svg)$/;
/** `name`, `object.name`, `name(…)`; a file has been told apart before. */
const CALLED = /^([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(\(.*\))?$/;
/** A single word that is a name of code: it has a capital. What the service calls its own has underscores. */
const NAME = /^[A-Z][a-z]|[a-z\d][A-Z]/;
/** Here `X` stands for any name. */
const PATTERN = /[a-z]X([A-Z]|$)/;

/** White space in place of what is left out, so that lines keep their numbers. */
const blank = (text: string): string => text.replace(/[^\n]/g, " ");

/**
 * The names between backticks in CONTRIBUTING.md, docs/design and the comments of the code that nothing bears: files, scripts and
 * options, functions and types. A name exists where the code has it anywhere, also as the key of some JSON, or the SDK does.
 * The files are relative to the root; the answer is `file:line: what is wrong`.
 */
export function lostNames(root: string, files: string[]): string[] {
  const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "");
  const codeOf = (file: string): string => {
    if (file.endsWith(".md")) return [...textOf(file).matchAll(FENCED)].map(([, , block]) => block).join("\n");
    return CODE.test(file) ? textOf(file).replace(COMMENT, blank) : "";
  };
  const code = files.map(codeOf).join("\n");
  const known = new Set(`${code}\n${sdkOf(root)}`.match(/[A-Za-z_$][\w$]*/g));
  // The scripts of the root only.
  const { scripts = {} } = JSON.parse(textOf("package.json") || "{}") as { scripts?: object };
  const isFile = (name: string, from: string): boolean => {
    const places = ["", posix.dirname(from)].map((folder) => posix.join(folder, name));
    return files.some((file) => places.includes(file) || `/${file}`.includes(`/${name}`)) || code.includes(name);
  };
  const isThere = (name: string, from: string): boolean => {
    const script = SCRIPT.exec(name)?.[1];
    if (script !== undefined) return Object.hasOwn(scripts, script);
    const option = OPTION.exec(name)?.[0];
    if (option !== undefined) return code.includes(option) || known.has(option.slice(2));
    if (FILE.test(name)) return isFile(name, from);
    const [, path = "", call] = CALLED.exec(name) ?? [];
    const parts = path.split(".");
    const isWord = call === undefined && parts.length === 1 && !NAME.test(path);
    return isWord || PATTERN.test(path) || parts.every((part) => known.has(part)) || isFile(name, from);
  };
  return files.flatMap((file) => {
    const text = textOf(file);
    const prose = DOCUMENTS.test(file) ? text.replace(FENCED, blank) : COMMENTED.test(file) ? commentsOf(text) : "";
    return prose.split("\n").flatMap((line, at) => {
      const lost = [...line.matchAll(INLINE)].map(([, name = ""]) => name).filter((name) => !isThere(name, file));
      return lost.map((name) => `${file}:${at + 1}: nothing is called \`${name}\``);
    });
  });
}

/** The comments alone, each on its line. */
function commentsOf(text: string): string {
  let behind = 0;
  const parts = [...text.matchAll(COMMENT)].map(({ 0: comment, index }) => {
    const before = text.slice(behind, index);
    behind = index + comment.length;
    return blank(before) + comment;
  });
  return parts.join("");
}

/** What the SDK declares: its own names are Pulumi's. */
function sdkOf(root: string): string {
  const sdk = join(root, "node_modules", "@pulumi", "pulumi");
  return globSync("{{*,runtime/*,dynamic/*,automation/*}.d.ts,cmd/dynamic-provider/*.js}", { cwd: sdk })
    .map((file) => readFileSync(join(sdk, file), "utf8"))
    .join("\n");
}
