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

function sectionBlocks({ title, head = [], items = [], rows = [], lines = [], remedy }: Section): string[] {
  const list = items.flatMap(listed);
  const all = [...items.flatMap((item) => rowsOf(item, head.length)), ...rows.map((row) => row.map(inline))];
  const bullet = title === undefined ? "" : "- ";
  return [
    ...(title === undefined ? [] : [`### ${inline(title)}`]),
    ...(all.length === 0
      ? []
      : [
          table(
            head.map((name) => capitalized(inline(name))),
            all,
          ),
        ]),
    ...(list.length === 0 ? [] : [list.join("\n")]),
    ...(lines.length === 0 ? [] : [lines.map((line) => bullet + inline(line)).join("\n")]),
    ...(remedy === undefined ? [] : [inline(remedy)]),
  ];
}

/** The subject stands in each row, and in one of its own if there is something beside what differs. */
function rowsOf({ subject, state, remark, rows }: Item, columns: number): string[][] {
  const whole = remark ?? (rows.length === 0 ? state : undefined);
  const first = whole === undefined ? [] : [[whole]];
  return [...first, ...rows].map((row) => {
    const cells = [subject, ...row].map(inline);
    return [...cells, ...Array.from({ length: columns - cells.length }, () => "")];
  });
}

/** What the table has no column for. */
function listed({ subject, id, notes = [], outcome }: Item): string[] {
  if (outcome === undefined) return [];
  const of = id === undefined ? "" : ` (${inline(id)})`;
  return [
    `- ${inline(subject)}${of}: ${inline(outcome.line)}`,
    ...[...notes, ...outcome.details].map((detail) => `  - ${inline(detail)}`),
  ];
}

/** Our own words as they are, and each value as code. */
const inline = ({ pieces }: Text): string =>
  pieces.map((piece) => ("words" in piece ? piece.words : code(piece.value, piece.longest))).join("");

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
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
