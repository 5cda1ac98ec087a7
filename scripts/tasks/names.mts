import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** Documents for contributors, checked together with the comments in these folders. */
const DOCUMENTS = /^(CONTRIBUTING\.md|docs\/design\/.*\.md)$/;
const COMMENTED = /^(src|test|scripts)\/.*\.[cm]?[jt]s$/;
const CODE = /\.([cm]?[jt]s|json|ya?ml)$/;

/** A comment starts a line or follows white space, so that none begins in a glob or a URL. */
const COMMENT = /(?<=^|\s)(?:\/\*[^]*?\*\/|\/\/.*$)/gm;
const FENCED = /^( *)```.*\n([^]*?)^\1```/gm;
const INLINE = /`([^`\n]+)`/g;

const SCRIPT = /^npm run ([\w:-]+)/;
const OPTION = /^--[a-z][\w-]*/;
const FILE = /^[\w@./-]+\.([cm]?[jt]s|json|md|ya?ml|svg)$/;
/** `name`, `object.name`, `name(…)`; files were handled before. */
const CALLED = /^([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(\(.*\))?$/;
/** A single word that names something in code: it contains a capital. The service's own names have underscores. */
const NAME = /^[A-Z][a-z]|[a-z\d][A-Z]/;
/** `X` stands for any name. */
const PATTERN = /[a-z]X([A-Z]|$)/;

/** White space in place of removed text, so that line numbers stay the same. */
const blank = (text: string): string => text.replace(/[^\n]/g, " ");

/**
 * The names between backticks in CONTRIBUTING.md, docs/design and the comments that do not exist: files, script
 * options, functions and types. A name exists if it occurs anywhere in the code, also as a JSON key, or in the SDK. The
 * files are relative to the root; the result is `file:line: what is wrong`.
 */
export function lostNames(root: string, files: string[]): string[] {
  const textOf = (file: string): string => (existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "");
  const codeOf = (file: string): string => {
    if (file.endsWith(".md")) return [...textOf(file).matchAll(FENCED)].map(([, , block]) => block).join("\n");
    return CODE.test(file) ? textOf(file).replace(COMMENT, blank) : "";
  };
  const code = files.map(codeOf).join("\n");
  const known = new Set(`${code}\n${sdkOf(root)}`.match(/[A-Za-z_$][\w$]*/g));
  // Only the scripts of the root.
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
      return lost.map((name) => `${file}:${at + 1}: nothing has the name \`${name}\``);
    });
  });
}

/** The comments only, each on its line. */
function commentsOf(text: string): string {
  let behind = 0;
  const parts = [...text.matchAll(COMMENT)].map(({ 0: comment, index }) => {
    const before = text.slice(behind, index);
    behind = index + comment.length;
    return blank(before) + comment;
  });
  return parts.join("");
}

/** The SDK's declarations: its names are Pulumi's. */
function sdkOf(root: string): string {
  const sdk = join(root, "node_modules", "@pulumi", "pulumi");
  return globSync("{{*,runtime/*,dynamic/*,automation/*}.d.ts,cmd/dynamic-provider/*.js}", { cwd: sdk })
    .map((file) => readFileSync(join(sdk, file), "utf8"))
    .join("\n");
}
