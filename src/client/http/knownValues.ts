import { folded, foldedText, readingsOf } from "./readings";

const SHOWN = "[secret]";
const NOT_SHOWN = "[a text that could not be searched for secrets]";
/** Room for the longest value, encoded twice. A longer text is not a message. */
const LONGEST_TEXT = 512 * 1024;

/** A shorter value is hidden only as a whole word: inside words, the rest of the word would reveal it. */
const SHORTEST_WITHIN_WORDS = 4;
/** A shorter line of a value may be a word of any message. */
const SHORTEST_LINE = 8;
/** A truncated value is recognised by its first half, unless that is so short that it may be a word of any message. */
const SHORTEST_START = 12;
const LONGEST_START = 32;
/** The start of an address or a path, which others share. An address that contains a password has no shared start. */
const SHARED_START = /^(?:[a-z][\w+.-]*:\/\/[^/?#@]+(?=[/?#])|(?:\/[\w.-]+){2,}\/)/i;

interface Form {
  readonly text: string;
  /** How much of the value is enough to recognise it. */
  readonly start: string;
}

/** Half-open, in UTF-16 units of a text. */
type Span = readonly [from: number, to: number];

/** Values that no message may show. */
export class KnownValues {
  readonly #values = new Set<string>();
  /** By their first units. */
  readonly #forms = new Map<string, Form[]>();
  readonly #words: RegExp[] = [];

  add(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    const lines = value.split(/[\r\n]+/).map((line) => foldedText(line).trim());
    const whole = foldedText(value);
    // Surrounding blanks may be missing; if they are present, they are hidden too.
    for (const text of new Set([whole, whole.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)])) {
      if (text.trim() === "") continue;
      if (text.length < SHORTEST_WITHIN_WORDS) this.#words.push(wordOf(text));
      else this.#addForm(text);
    }
  }

  #addForm(text: string): void {
    const [{ length: shared } = ""] = SHARED_START.exec(text) ?? [];
    const half = Math.ceil((text.length - shared) / 2);
    const least = shared + Math.max(SHORTEST_START, Math.min(half, LONGEST_START));
    const key = text.slice(0, SHORTEST_WITHIN_WORDS);
    const forms = this.#forms.get(key) ?? [];
    forms.push({ text, start: text.slice(0, least) });
    this.#forms.set(key, forms);
  }

  /** The text with `[secret]` in place of each value, in any encoding. */
  hide(text: string): string {
    if (text.length > LONGEST_TEXT) return NOT_SHOWN;
    const shown: string[] = [];
    let last = 0;
    try {
      for (const [from, to] of this.#placesIn(text).sort(([left], [right]) => left - right)) {
        if (from >= last) shown.push(text.slice(last, from), SHOWN);
        last = Math.max(last, to);
      }
    } catch {
      // An error may contain the text.
      return NOT_SHOWN;
    }
    return [...shown, text.slice(last)].join("");
  }

  #placesIn(text: string): Span[] {
    const places: Span[] = [];
    for (const reading of readingsOf(text)) {
      const { text: line, starts, ends } = folded(reading);
      for (const [from, to] of [...this.#formsIn(line), ...this.#wordsIn(line)])
        places.push([starts[from] ?? 0, ends[to - 1] ?? text.length]);
    }
    return places;
  }

  *#wordsIn(line: string): Generator<Span> {
    for (const word of this.#words)
      for (const { 0: match, index } of line.matchAll(word)) yield [index, index + match.length];
  }

  *#formsIn(line: string): Generator<Span> {
    /** Where to search for each form next: rescanning matches would take too long in a text of one repeated letter. */
    const next = new Map<Form, number>();
    for (let from = 0; from <= line.length - SHORTEST_WITHIN_WORDS; from += 1) {
      for (const form of this.#forms.get(line.slice(from, from + SHORTEST_WITHIN_WORDS)) ?? []) {
        const { text, start } = form;
        if (from < (next.get(form) ?? 0) || !line.startsWith(start, from)) continue;
        let length = start.length;
        while (length < text.length && line[from + length] === text[length]) length += 1;
        next.set(form, from + length - start.length + 1);
        yield [from, from + length];
      }
    }
  }
}

function wordOf(text: string): RegExp {
  const literally = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literally}(?![\\p{L}\\p{N}])`, "gu");
}
