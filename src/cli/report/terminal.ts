import { styleText } from "node:util";
import { terminalText } from "../output";
import { isEmpty, type Item, type Page, type Section } from "./commandReport";
import { joined, LONGEST_VALUE, type Text, text, type Tone, toned } from "./text";

/** A line or a cell as it is shown, and how many columns that takes. */
interface Shown {
  readonly shown: string;
  readonly width: number;
}

/** `colours`: the caller has checked whether they are wanted. */
export function toText(page: Page, colours = false): string {
  return new Terminal(colours)
    .lines(page)
    .map((line) => `${line}\n`)
    .join("");
}

/** A text alone, without colours. */
export const lineOf = (line: Text): string => new Terminal(false).line(line);

/** One line of limited length, without characters that act on a terminal or a page. */
export function printable(value: string, longest = LONGEST_VALUE): string {
  const visible = terminalText(value);
  return visible.length > longest ? `${visible.slice(0, longest - 1)}…` : visible;
}

class Terminal {
  constructor(private readonly colours: boolean) {}

  lines({ headline, sections, parts = [], footer = [], fingerprint }: Page): string[] {
    const lines = headline === undefined ? [] : [this.line(headline)];
    for (const section of sections.filter((one) => !isEmpty(one))) {
      if (section.title !== undefined) lines.push("", this.line(section.title));
      // Rows continue the line above, and items have an empty line of their own.
      else if (section.lines !== undefined && lines.length > 0) lines.push("");
      const alike = sections.filter(({ head }) => head === section.head).flatMap(({ items = [] }) => items);
      lines.push(...this.#itemLines(section, this.#widths(section, alike)), ...this.#rowLines(section));
      const indent = section.title === undefined ? "" : "  ";
      const sentences = [...(section.lines ?? []), ...(section.remedy === undefined ? [] : [section.remedy])];
      for (const line of sentences) lines.push(indent + this.line(line));
    }
    for (const part of parts) lines.push("", this.line(part.title), ...this.lines(part));
    const end = [...footer, ...(fingerprint === undefined ? [] : [text`fingerprint ${fingerprint}`])];
    if (end.length > 0) lines.push("", ...end.map((line) => this.line(toned("dim", line))));
    return lines;
  }

  line(line: Text): string {
    return this.#shown(line).shown;
  }

  /** Escaped as a whole, because several harmless pieces may be a command together. */
  #shown({ pieces }: Text): Shown {
    const runs: { tone: Tone | undefined; run: string }[] = [];
    for (const piece of pieces) {
      const run = "words" in piece ? piece.words : printable(piece.value, piece.longest);
      const last = runs.at(-1);
      if (last !== undefined && (last.tone === piece.tone || !this.colours)) last.run += run;
      else runs.push({ tone: piece.tone, run });
    }
    const safe = runs.map(({ tone, run }) => ({ tone, run: terminalText(run) }));
    const styled = safe.map(({ tone, run }) =>
      tone === undefined || !this.colours ? run : styleText(tone, run, { validateStream: false }),
    );
    return { shown: styled.join(""), width: safe.reduce((width, { run }) => width + run.length, 0) };
  }

  /** The rows of all items below the same head line up. */
  #widths({ head = [] }: Section, items: readonly Item[]): readonly number[] {
    return this.#columns([head.slice(1), ...items.flatMap(({ rows }) => rows)]);
  }

  #columns(rows: readonly (readonly Text[])[]): number[] {
    const widths: number[] = [];
    for (const row of rows)
      for (const [column, cell] of row.entries())
        widths[column] = Math.max(widths[column] ?? 0, this.#shown(cell).width);
    return widths;
  }

  #row(row: readonly Text[], widths: readonly number[]): string {
    const cells = row.map((cell, column) => {
      const { shown, width } = this.#shown(cell);
      return shown + " ".repeat((widths[column] ?? 0) - width);
    });
    return `  ${cells.join("  ")}`.trimEnd();
  }

  #itemLines({ title, head = [], items = [] }: Section, widths: readonly number[]): string[] {
    const indent = title === undefined ? "" : "  ";
    const columns = head.slice(1).map((name) => toned("dim", name));
    return items.flatMap(({ subject, id, state, remark, rows, notes = [], outcome }) => [
      ...(title === undefined ? [""] : []),
      indent +
        this.line(
          joined(
            [subject, ...(id === undefined ? [] : [text`(${id})`]), ...(state === undefined ? [] : [state])],
            text` `,
          ),
        ),
      ...(remark === undefined ? [] : [`${indent}  ${this.line(remark)}`]),
      ...(rows.length === 0 ? [] : [columns, ...rows].map((row) => indent + this.#row(row, widths))),
      ...notes.map((note) => `${indent}  ${this.line(note)}`),
      ...(outcome === undefined ? [] : [`${indent}  ${this.line(text`${outcome.label}: ${outcome.line}`)}`]),
      ...(outcome?.details ?? []).map((detail) => `${indent}    ${this.line(detail)}`),
    ]);
  }

  #rowLines({ head = [], rows = [], isLabelled }: Section): string[] {
    const label = isLabelled === true ? head.at(-1) : undefined;
    const shown = label === undefined ? rows : rows.map((row) => withLabel(row, label));
    const widths = this.#columns(shown);
    return shown.map((row) => this.#row(row, widths));
  }
}

const withLabel = (row: readonly Text[], label: Text): Text[] =>
  row.map((cell, column) => (column === row.length - 1 ? text`${label}: ${cell}` : cell));
