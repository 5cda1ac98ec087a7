/**
 * Whether a text repeats a value that no message may show. A service repeats a value as its tools print it: in JSON, in
 * JSON within JSON, in an address, in a page, in an SQL statement, in base64 or hex. So each decoded form of the text is
 * searched. The answer is yes or no: no code has to know where in the text the value is.
 */

const NOT_SEARCHED = "[a text that could not be searched for secrets]";
/** Room for the longest value, encoded twice. A longer text is not a message. */
const LONGEST_TEXT = 512 * 1024;

/** A shorter value is found only as a whole word: it may be a part of any word. */
const SHORTEST_WITHIN_WORDS = 4;
/** A shorter line of a value may be a word of any message. */
const SHORTEST_LINE = 8;
/** A truncated value is recognized by its first half, unless that is so short that it may be a word of any message. */
const SHORTEST_START = 12;
const LONGEST_START = 32;
/** The start of an address or a path, which others share. An address that contains a password has no shared start. */
const SHARED_START = /^(?:[a-z][\w+.-]*:\/\/[^/?#@]+(?=[/?#])|(?:\/[\w.-]+){2,}\/)/i;

/** Separators and invisible characters, except a single space. A service may repeat a value in one line. */
const FOLDED = /(?! (?![\s\p{Cc}\p{Cf}]))[\s\p{Cc}\p{Cf}]+/gu;
const folded = (text: string): string => text.replace(FOLDED, " ");

export class KnownValues {
  readonly #values = new Set<string>();
  /** How much of each value, and of each of its long lines, is enough to recognize it. */
  readonly #starts: string[] = [];
  readonly #words: RegExp[] = [];

  add(value: string): void {
    if (this.#values.has(value)) return;
    this.#values.add(value);
    const lines = value.split(/[\r\n]+/).map((line) => folded(line).trim());
    const whole = folded(value);
    // Surrounding blanks may be missing.
    for (const text of new Set([whole, whole.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)])) {
      if (text.trim() === "") continue;
      if (text.length < SHORTEST_WITHIN_WORDS) this.#words.push(wordOf(text));
      else this.#starts.push(startOf(text));
    }
  }

  /** The text; or `instead`, if it, or what it was taken from, repeats a value in any encoding. */
  hide(text: string, instead: string, source = text): string {
    const both = source === text ? [text] : [text, source];
    if (both.some(({ length }) => length > LONGEST_TEXT)) return NOT_SEARCHED;
    try {
      return both.some((one) => this.#isIn(one)) ? instead : text;
    } catch {
      // The error may contain the text.
      return NOT_SEARCHED;
    }
  }

  #isIn(text: string): boolean {
    for (const form of formsOf(text)) {
      const line = folded(form);
      if (this.#starts.some((start) => line.includes(start)) || this.#words.some((word) => word.test(line)))
        return true;
    }
    return false;
  }
}

function startOf(text: string): string {
  const [{ length: shared } = ""] = SHARED_START.exec(text) ?? [];
  const half = Math.ceil((text.length - shared) / 2);
  return text.slice(0, shared + Math.max(SHORTEST_START, Math.min(half, LONGEST_START)));
}

function wordOf(text: string): RegExp {
  const literally = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literally}(?![\\p{L}\\p{N}])`, "u");
}

/** A value in a message has fewer levels: form encoding within JSON within JSON has four. */
const DEEPEST = 5;
/** For all forms of a text together. No real text has as many. */
const MOST_UNITS = 4 * 1024 * 1024;

/** The text itself first, then the forms with the fewest decodings. @throws RangeError if there are too many. */
function* formsOf(text: string): Generator<string> {
  const depths = new Map([[text, 0]]);
  let units = 0;
  // The map grows during the loop.
  for (const [form, depth] of depths) {
    units += form.length;
    if (units > MOST_UNITS) throw new RangeError("too many forms");
    yield form;
    if (depth === DEEPEST) continue;
    const decoded = DECODERS.map(([pattern, decode]) => form.replace(pattern, decode));
    for (const next of [...decoded, ...textsIn(form)]) if (!depths.has(next)) depths.set(next, depth + 1);
  }
}

type Decoder = readonly [pattern: RegExp, decode: (part: string) => string];

/** Bytes that are not UTF-8 may be Latin-1. */
const ofBytes = (pattern: RegExp, bytesOf: (part: string) => Buffer): Decoder[] =>
  (["utf8", "latin1"] as const).map((encoding) => [pattern, (part) => bytesOf(part).toString(encoding)]);

const ofHex = (part: string): Buffer => Buffer.from(part.replace(/[\\x%]/g, ""), "hex");
const ofOctal = (part: string): Buffer => Buffer.from((part.match(/\d+/g) ?? []).map((byte) => parseInt(byte, 8)));

/** The escapes of JSON and of most languages. Any other escaped character stands for itself. */
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", "0": "\0" };

function unescaped(part: string): string {
  const [, character = ""] = part;
  if (part.length === 1 + character.length) return ESCAPED[character] ?? character;
  return ofCode(parseInt(part.replace(/[^\dA-Fa-f]/g, ""), 16), part);
}

const ofCode = (code: number, part: string): string => (code > 0x10ffff ? part : String.fromCodePoint(code));

/** Named HTML entities that HTML encoders write for ASCII, each before its character. */
const ENTITIES_OF_ASCII =
  'excl ! quot " QUOT " num # dollar $ percnt % amp & AMP & apos \' lpar ( rpar ) ast * midast * plus + comma , period . ' +
  "sol / colon : semi ; lt < LT < equals = gt > GT > quest ? commat @ lsqb [ lbrack [ bsol \\ rsqb ] rbrack ] Hat ^ " +
  "lowbar _ UnderBar _ grave ` lcub { lbrace { verbar | vert | rcub } rbrace }";
/** In order, from code 160. */
const ENTITIES_OF_LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro " +
  "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil " +
  "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave " +
  "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml " +
  "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute " +
  "thorn yuml";
const ENTITIES = new Map([
  ...[...ENTITIES_OF_ASCII.matchAll(/(\w+) (\S)/g)].map(([, name = "", character = ""]) => [name, character] as const),
  ...ENTITIES_OF_LATIN_1.split(" ").map((name, index) => [name, String.fromCharCode(160 + index)] as const),
  ["Tab", "\t"],
  ["NewLine", "\n"],
]);

function entity(part: string): string {
  const [, hex, decimal, name = ""] = /^&(?:#[xX](.*)|#(.*)|(.*));$/.exec(part) ?? [];
  if (hex !== undefined) return ofCode(parseInt(hex, 16), part);
  return decimal === undefined ? (ENTITIES.get(name) ?? part) : ofCode(Number(decimal), part);
}

/** Each may occur within another, so they are applied in any order. */
const DECODERS: readonly Decoder[] = [
  [/\\(?:u\{[\dA-Fa-f]{1,6}\}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8}|[^])/gu, unescaped],
  ...ofBytes(/(?:\\x[\dA-Fa-f]{2})+/g, ofHex),
  ...ofBytes(/(?:\\[0-3][0-7]{2})+/g, ofOctal),
  ...ofBytes(/(?:%[\dA-Fa-f]{2})+/g, ofHex),
  // A blank in form encoding.
  [/\+/g, () => " "],
  [/&(?:#\d{1,8}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z]\w{1,30});/g, entity],
  // A quote in SQL and CSV.
  [/''/g, () => "'"],
  [/""/g, () => '"'],
];

/** `shifts`: the digits of a run at which a byte may begin, because characters before it may look like a part of it. */
const RUNS: readonly (readonly [pattern: RegExp, encoding: "base64" | "hex", shifts: readonly number[]])[] = [
  // Also URL-safe base64, and the lines of mail. Anything below four bytes is a word.
  [/[\w+/-]{6,}/g, "base64", [0, 1, 2, 3]],
  [/(?<![\w+/-])(?:[\w+/-]{40,}\s+)+[\w+/-]*/g, "base64", [0, 1, 2, 3]],
  // Also with separators between the bytes.
  [/[\dA-Fa-f](?:[ :-]?[\dA-Fa-f]){7,}/g, "hex", [0, 1]],
];
/** Most words that look like base64 encode no text. U+FFFD stands for bytes that are none. */
const TEXT = /[^\x01-\x08\x0e-\x1f\x7f-\x9f\ufffd]{4,}/gu;

/** The texts that are encoded in base64 and hex in a text. */
function textsIn(form: string): string[] {
  return RUNS.flatMap(([pattern, encoding, shifts]) =>
    (form.match(pattern) ?? []).flatMap((run) => {
      const digits = encoding === "hex" ? run.replace(/[ :-]/g, "") : run;
      return shifts.flatMap(
        (shift) => Buffer.from(digits.slice(shift), encoding).toString().match(TEXT)?.join("\ufffd") ?? [],
      );
    }),
  );
}
