import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cli";

/** A fenced block of a document. */
export interface CodeBlock {
  /** The document's path from the root. */
  readonly page: string;
  /** The index of its first line, counted from 0. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The HTML comment before it, such as `continues`; it is invisible to readers. */
  readonly note: string;
  /** The file that the reader writes: named in the line before it, as in "`index.ts`:". */
  readonly file: string | undefined;
}

/** The documents for users: README.md, AGENTS.md and docs. */
export const documents = (): string[] => [
  "README.md",
  "AGENTS.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file))
    .sort(),
];

export const textOf = (page: string): string => readFileSync(join(ROOT, page), "utf8");

const FENCED =
  /(?:`(?<file>[\w./-]+)`:\n\n)?(?:^ *<!-- (?<note>.*) -->\n\n?)?^(?<indent> *)```(?<language>\w*)\n(?<text>[^]*?)^\k<indent>```$/gm;

/** A generated page. If only a part is generated, its end is marked, and the rest is hand-written. */
const PRINTED = /<!-- Written by `npm run docs`(?![^]*<!-- end of the table -->)[^]*/;

/**
 * The hand-written blocks of a document. Generated ones (`npm run docs`) come from the sources, which the compiler
 * checks.
 */
export function codeBlocks(page: string, markdown = textOf(page)): CodeBlock[] {
  const written = markdown.replace(PRINTED, "");
  return [...written.matchAll(FENCED)].map(({ 0: whole, index, groups = {} }) => {
    const { file, note = "", indent = "", language = "", text = "" } = groups;
    const before = written.slice(0, index + whole.length - `${text}${indent}\`\`\``.length);
    // Indented inside a list.
    const flush = text.replace(new RegExp(`^${indent}`, "gm"), "");
    return { page, line: before.split("\n").length - 1, language, text: flush, note, file };
  });
}
