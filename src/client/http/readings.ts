/**
 * The decoded forms of a text. A service repeats a value as its tools print it: in JSON, in JSON within JSON, in an
 * address, in a page, in an SQL statement, in base64 or hex. So each reading of the text is searched for values.
 */
import { ENTITIES } from "./entities";

/** A text, and the position in the original of each of its UTF-16 units. */
export interface Reading {
  readonly text: string;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** A value in a message has fewer levels: form encoding within JSON within JSON has four. */
const DEEPEST = 5;
/** For all readings of a text together. No real text has as many. */
const MOST_UNITS = 4 * 1024 * 1024;

/** The text itself first, then the readings with the fewest decodings. @throws RangeError if there are too many. */
export function* readingsOf(text: string): Generator<Reading> {
  const starts = Int32Array.from({ length: text.length }, (_, index) => index);
  const itself: Reading = { text, starts, ends: starts.map((start) => start + 1) };
  const found = [{ reading: itself, depth: 0 }];
  const seen = new Set<string>();
  const seenRuns = new Set<string>();
  let units = 0;
  // The array grows during the loop.
  for (const { reading, depth } of found) {
    // Equal bytes may occur at several places, with and without base64 padding.
    const key = `${reading.starts[0]} ${reading.ends.at(-1)} ${reading.text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    units += reading.text.length;
    if (units > MOST_UNITS) throw new RangeError("too many readings");
    yield reading;
    if (depth === DEEPEST) continue;
    for (const next of [...RULES.map((rule) => decodedBy(rule, reading)), ...textsIn(reading, seenRuns)])
      if (next !== undefined) found.push({ reading: next, depth: depth + 1 });
  }
}

/** Composes a reading from parts of another one. No encoding is shorter than the text that it encodes. */
class Composition {
  readonly #parts: string[] = [];
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  #length = 0;

  constructor(
    private readonly source: Reading,
    longest = source.text.length,
  ) {
    this.#starts = new Int32Array(longest);
    this.#ends = new Int32Array(longest);
  }

  /** Copies the units from `from` to `to`. */
  copy(from: number, to: number): void {
    this.#parts.push(this.source.text.slice(from, to));
    this.#starts.set(this.source.starts.subarray(from, to), this.#length);
    this.#ends.set(this.source.ends.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  /** Adds the decoded text of those units. */
  put(text: string, from: number, to: number): void {
    this.#parts.push(text);
    const end = this.#length + text.length;
    this.#starts.fill(this.source.starts[from] ?? 0, this.#length, end);
    this.#ends.fill(this.source.ends[to - 1] ?? 0, this.#length, end);
    this.#length = end;
  }

  reading(): Reading {
    const [starts, ends] = [this.#starts.subarray(0, this.#length), this.#ends.subarray(0, this.#length)];
    return { text: this.#parts.join(""), starts, ends };
  }
}

/** The decoded text of a part, with the units that encode it. */
type Decoded = readonly [text: string, from: number, to: number];

interface Rule {
  readonly pattern: RegExp;
  readonly decode: (part: string) => Iterable<Decoded>;
}

/** Undefined if there is nothing to decode. */
function decodedBy({ pattern, decode }: Rule, reading: Reading): Reading | undefined {
  let made: Composition | undefined;
  let last = 0;
  for (const { 0: part, index } of reading.text.matchAll(pattern)) {
    made ??= new Composition(reading);
    made.copy(last, index);
    for (const [text, from, to] of decode(part)) made.put(text, index + from, index + to);
    last = index + part.length;
  }
  made?.copy(last, reading.text.length);
  return made?.reading();
}

/** A rule whose matches decode to one text each. */
const each = (pattern: RegExp, decode: (part: string) => string): Rule => ({
  pattern,
  decode: (part) => [[decode(part), 0, part.length]],
});

/** A rule for runs of bytes with `width` units each. Bytes that are not UTF-8 are read as Latin-1. */
const ofBytes = (pattern: RegExp, width: number, byteOf: (part: string) => number): Rule => ({
  pattern,
  *decode(part) {
    const bytes = Array.from({ length: part.length / width }, (_, at) => byteOf(part.substr(at * width, width)));
    for (const { text, from, to } of charactersOf(Buffer.from(bytes)))
      yield [text ?? String.fromCharCode(bytes[from] ?? 0), from * width, to * width];
  },
});

/** The characters of UTF-8, with the bytes of each; undefined for a byte that belongs to none. */
function* charactersOf(bytes: Buffer): Generator<{ text: string | undefined; from: number; to: number }> {
  for (let from = 0, to = 1; from < bytes.length; from = to, to += 1) {
    const lead = bytes[from] ?? 0;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const text = bytes.toString("utf8", from, from + length);
    const isOne = length === 1 || Buffer.from(text).equals(bytes.subarray(from, from + length));
    if (isOne) to = from + length;
    yield { text: isOne ? text : undefined, from, to };
  }
}

/** The escapes of JSON and of most languages. Any other escaped character stands for itself. */
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", "0": "\0" };

function unescaped(part: string): string {
  const [, character = ""] = part;
  if (part.length === 1 + character.length) return ESCAPED[character] ?? character;
  return ofCode(parseInt(part.replace(/[^\dA-Fa-f]/g, ""), 16), part);
}

const ofCode = (code: number, part: string): string => (code > 0x10ffff ? part : String.fromCodePoint(code));

function entity(part: string): string {
  const [, hex, decimal, name = ""] = /^&(?:#[xX](.*)|#(.*)|(.*));$/.exec(part) ?? [];
  if (hex !== undefined) return ofCode(parseInt(hex, 16), part);
  return decimal === undefined ? (ENTITIES.get(name) ?? part) : ofCode(Number(decimal), part);
}

/** Each may occur within another, so they are applied in any order. */
const RULES: readonly Rule[] = [
  each(/\\(?:u\{[\dA-Fa-f]{1,6}\}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[^])/gu, unescaped),
  ofBytes(/(?:\\x[\dA-Fa-f]{2})+/g, 4, (part) => parseInt(part.slice(2), 16)),
  ofBytes(/(?:\\[0-3][0-7]{2})+/g, 4, (part) => parseInt(part.slice(1), 8)),
  ofBytes(/(?:%[\dA-Fa-f]{2})+/g, 3, (part) => parseInt(part.slice(1), 16)),
  // A blank in form encoding.
  each(/\+/g, () => " "),
  each(/&(?:#\d{1,8}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});/g, entity),
  // A quote in SQL and CSV.
  each(/''/g, () => "'"),
  each(/""/g, () => '"'),
];

/** Separators and invisible characters, except a single space. */
const FOLDED = /(?! (?![\s\p{Cc}\p{Cf}]))[\s\p{Cc}\p{Cf}]+/gu;
const FOLDING = each(FOLDED, () => " ");

/** Replaces each run of these by one space: a service may repeat a value in one line. */
export const folded = (reading: Reading): Reading => decodedBy(FOLDING, reading) ?? reading;

export const foldedText = (text: string): string => text.replace(FOLDED, " ");

interface Digits {
  readonly encoding: "base64" | "hex";
  readonly digit: RegExp;
  readonly bits: number;
  /** The number of positions among the digits at which a byte may begin. */
  readonly shifts: number;
}

const BASE64: Digits = { encoding: "base64", digit: /[\w+/-]/, bits: 6, shifts: 4 };
const HEX: Digits = { encoding: "hex", digit: /[\dA-Fa-f]/, bits: 4, shifts: 2 };
const RUNS: readonly (readonly [pattern: RegExp, digits: Digits])[] = [
  // Also URL-safe base64, and the lines of mail. Anything below four bytes is a word.
  [/[\w+/-]{6,}={0,2}/g, BASE64],
  [/(?<![\w+/-])(?:[\w+/-]{40,}\s+)+[\w+/-]*={0,2}/g, BASE64],
  // Also with separators between the bytes.
  [/[\dA-Fa-f](?:[ :-]?[\dA-Fa-f]){7,}/g, HEX],
];
/** In place of a byte that belongs to no text. */
const NO_TEXT = "\x01";
/** Most words that look like base64 encode no text. */
const TEXT = /[^\x01-\x08\x0e-\x1f\x7f-\x9f]{4,}/gu;

/** The texts encoded in base64 and hex in a text. `seen`: the runs that were decoded in other readings. */
function* textsIn(reading: Reading, seen: Set<string>): Generator<Reading> {
  for (const [pattern, digits] of RUNS) {
    for (const { 0: run, index } of reading.text.matchAll(pattern)) {
      const end = index + run.length;
      const key = `${digits.bits} ${reading.starts[index]} ${reading.ends[end - 1]} ${run}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const places = [...run].flatMap((unit, at) => (digits.digit.test(unit) ? index + at : []));
      // Preceding characters may look like a part of it.
      for (let skipped = 0; skipped < digits.shifts; skipped += 1) {
        const { text, starts, ends } = bytesAt(places.slice(skipped), end, { reading, digits });
        for (const { 0: part, index: from } of text.matchAll(TEXT)) {
          const to = from + part.length;
          yield { text: part, starts: starts.subarray(from, to), ends: ends.subarray(from, to) };
        }
      }
    }
  }
}

/** `end`: the end of the run, including padding. */
function bytesAt(places: number[], end: number, { reading, digits }: { reading: Reading; digits: Digits }): Reading {
  const { encoding, bits } = digits;
  const bytes = Buffer.from(places.map((at) => reading.text[at]).join(""), encoding);
  const made = new Composition(reading, bytes.length);
  for (const { text = NO_TEXT, from, to } of charactersOf(bytes)) {
    const isFilledUp = to === bytes.length && encoding === "base64";
    const last = places[Math.ceil((to * 8) / bits) - 1] ?? 0;
    made.put(text, places[Math.floor((from * 8) / bits)] ?? 0, isFilledUp ? end : last + 1);
  }
  return made.reading();
}
