import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cli";

/** A fenced block of a document. */
export interface CodeBlock {
  /** The document, from the root. */
  readonly page: string;
  /** Where its text begins, from 0. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The HTML comment right before it, such as `continues`; readers do not see it. */
  readonly note: string;
  /** The file that the reader writes it to: named in the line before it, as in "`index.ts`:". */
  readonly file: string | undefined;
}

/** The documents that users read: README.md, AGENTS.md and what stands in docs. */
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

/** A whole page that is printed. Of a part, whose end is marked, the rest of its page is written by people. */
const PRINTED = /<!-- Written by `npm run docs`(?![^]*<!-- end of the table -->)[^]*/;

/** The blocks of a document that people have written. What `npm run docs` prints comes from the sources, which the compiler reads. */
export function codeBlocks(page: string, markdown = textOf(page)): CodeBlock[] {
  const written = markdown.replace(PRINTED, "");
  return [...written.matchAll(FENCED)].map(({ 0: whole, index, groups = {} }) => {
    const { file, note = "", indent = "", language = "", text = "" } = groups;
    const before = written.slice(0, index + whole.length - `${text}${indent}\`\`\``.length);
    // In a list it is indented.
    const flush = text.replace(new RegExp(`^${indent}`, "gm"), "");
    return { page, line: before.split("\n").length - 1, language, text: flush, note, file };
  });
}
