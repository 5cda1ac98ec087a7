import { isEmpty, type Item, type Page, type Section } from "./commandReport";
import { printable } from "./terminal";
import type { Text } from "./text";

/** For an issue, a pull request or a job's summary. */
export const toMarkdown = (page: Page): string => `${[`## ${inline(page.title)}`, ...blocksOf(page)].join("\n\n")}\n`;

function blocksOf({ headline, sections, parts = [], footer = [], fingerprint }: Page): string[] {
  return [
    ...(headline === undefined ? [] : [inline(headline)]),
    ...sections.flatMap((section) => (isEmpty(section) ? [] : sectionBlocks(section))),
    ...parts.flatMap((part) => [`## ${inline(part.title)}`, ...blocksOf(part)]),
    ...footer.map(inline),
    ...(fingerprint === undefined ? [] : [`Fingerprint ${code(fingerprint)}`]),
  ];
}

function sectionBlocks({ title, head = [], rows = [], items = [], lines = [] }: Section): string[] {
  const cells = [...rows, ...items.flatMap(rowsOf)];
  const bullet = title === undefined ? "" : "- ";
  const blocks = [
    title === undefined ? [] : [`### ${inline(title)}`],
    cells.length === 0
      ? []
      : [
          table(
            head.map(inline).map(capitalized),
            cells.map((row) => row.map(inline)),
          ),
        ],
    items.flatMap(listed),
    lines.map((line) => bullet + inline(line)),
  ];
  return blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
}

/** The subject stands in each row, and in one of its own if there is something beside what differs. */
function rowsOf({ subject, state, remark, rows }: Item): Text[][] {
  const whole = remark ?? (rows.length === 0 ? state : undefined);
  return [...(whole === undefined ? [] : [[whole]]), ...rows].map((row) => [subject, ...row]);
}

/** What the table has no column for. */
function listed({ subject, id, notes = [], repair }: Item): string[] {
  if (repair === undefined) return [];
  const of = id === undefined ? "" : ` (${inline(id)})`;
  const details = [...notes, ...repair.details].map((detail) => `  - ${inline(detail)}`);
  return [`- ${inline(subject)}${of}: ${inline(repair.line)}`, ...details];
}

/** Our own words as they are, and each value as code. */
const inline = ({ pieces }: Text): string =>
  pieces.map((piece) => ("words" in piece ? piece.words : code(piece.value, piece.longest))).join("");

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** A row may have fewer cells than the head. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${head.map((_, column) => cells[column] ?? "").join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/**
 * Text formatted as code, where HTML, mentions, links and emphasis have no effect. Characters that would end a code
 * span or a table cell are written as numeric references.
 */
export function code(text: string, longest?: number): string {
  const line = printable(text, longest);
  if (line.trim() !== "" && !/[`|\\]/.test(line)) return `\`${line}\``;
  return `<code>${line.replace(/[^A-Za-z0-9 ]/gu, (char) => `&#${char.codePointAt(0)};`)}</code>`;
}
