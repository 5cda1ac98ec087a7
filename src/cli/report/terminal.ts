import { stripVTControlCharacters, styleText } from "node:util";
import { terminalText } from "../output";
import { isEmpty, type Item, type Page, type Section } from "./commandReport";
import { joined, LONGEST_VALUE, type Text, text, type Tone, toned } from "./text";

/** `colours`: the caller has checked whether they are wanted. */
export const toText = (page: Page, colours = false): string =>
  pageLines(page, (line) => shown(line, colours))
    .map((line) => `${line}\n`)
    .join("");

/** A text alone, without colours. */
export const lineOf = (line: Text): string => shown(line, false);

/** A line on standard error, beside the report. */
export const say = (line: Text): void => void process.stderr.write(`pulumi-svc: ${lineOf(line)}\n`);

/** One line of limited length, without characters that act on a terminal or a page. */
export function printable(value: string, longest = LONGEST_VALUE): string {
  const visible = terminalText(value);
  return visible.length > longest ? `${visible.slice(0, longest - 1)}…` : visible;
}

/** Pieces of one tone are escaped together, because several harmless ones may be a command. */
function shown({ pieces }: Text, colours: boolean): string {
  const runs: { tone: Tone | undefined; run: string }[] = [];
  for (const piece of pieces) {
    const run = "words" in piece ? piece.words : printable(piece.value, piece.longest);
    const tone = colours ? piece.tone : undefined;
    const last = runs.at(-1);
    if (last?.tone === tone && last !== undefined) last.run += run;
    else runs.push({ tone, run });
  }
  return runs
    .map(({ tone, run }) => ({ tone, safe: terminalText(run) }))
    .map(({ tone, safe }) => (tone === undefined ? safe : styleText(tone, safe, { validateStream: false })))
    .join("");
}

type Show = (line: Text) => string;

function pageLines({ headline, sections, parts = [], footer = [], fingerprint }: Page, show: Show): string[] {
  const lines = headline === undefined ? [] : [show(headline)];
  for (const section of sections.filter((one) => !isEmpty(one))) {
    const { title, head, lines: sentences } = section;
    if (title !== undefined) lines.push("", show(title));
    // Rows continue the line above, and items have an empty line of their own.
    else if (sentences !== undefined && lines.length > 0) lines.push("");
    // What has the same head lines up.
    const alike = head === undefined ? [section] : sections.filter((one) => one.head === head);
    lines.push(...tableLines(section, widthsOf(alike, show), show));
    for (const line of sentences ?? []) lines.push((title === undefined ? "" : "  ") + show(line));
  }
  for (const part of parts) lines.push("", show(part.title), ...pageLines(part, show));
  const end = [...footer, ...(fingerprint === undefined ? [] : [text`fingerprint ${fingerprint}`])];
  return end.length === 0 ? lines : [...lines, "", ...end.map((line) => show(toned("dim", line)))];
}

const columnsOf = ({ head = [], items }: Section): readonly Text[] => (items === undefined ? head : head.slice(1));

function widthsOf(sections: readonly Section[], show: Show): readonly number[] {
  const widths: number[] = [];
  for (const section of sections)
    for (const row of [
      columnsOf(section),
      ...(section.rows ?? []),
      ...(section.items ?? []).flatMap((one) => one.rows),
    ])
      for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(show(cell)));
  return widths;
}

/** Of its own escapes, a cell has only ours. */
const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;

function tableLines(section: Section, widths: readonly number[], show: Show): string[] {
  const { title, rows = [], items = [] } = section;
  const row = (cells: readonly Text[]): string => {
    const padded = cells.map(show).map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
    return `  ${padded.join("  ")}`.trimEnd();
  };
  const columns = columnsOf(section).map((name) => toned("dim", name));
  const table = (all: Item["rows"]): string[] =>
    (all.length === 0 || columns.length === 0 ? all : [columns, ...all]).map(row);
  const ofItems = items.map((one) => itemLines(one, table(one.rows), show));
  return [
    ...table(rows),
    ...ofItems.flatMap((lines) => (title === undefined ? ["", ...lines] : lines.map((line) => `  ${line}`))),
  ];
}

function itemLines({ subject, id, state, remark, notes = [], repair }: Item, table: string[], show: Show): string[] {
  const whole = [subject, id === undefined ? undefined : text`(${id})`, state].filter((one) => one !== undefined);
  return [
    show(joined(whole, text` `)),
    ...(remark === undefined ? [] : [`  ${show(remark)}`]),
    ...table,
    ...notes.map((note) => `  ${show(note)}`),
    ...(repair === undefined ? [] : [`  repair: ${show(repair.line)}`]),
    ...(repair?.details ?? []).map((detail) => `    ${show(detail)}`),
  ];
}
