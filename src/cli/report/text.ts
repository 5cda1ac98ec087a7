export type Tone = "bold" | "red" | "yellow" | "green" | "dim" | "gray";

/** Our own words, or a value, of which at most `longest` characters are shown. Only the renderers read it. */
type Piece = ({ readonly words: string } | { readonly value: string; readonly longest: number }) & {
  readonly tone?: Tone;
};

export const LONGEST_VALUE = 160;
const LONGEST_MESSAGE = 2_000;

/**
 * What people read, before a renderer escapes it. Our own words come from the program's source alone (`text`, `word`);
 * everything else is a value, whoever wrote it, so that no caller has to remember to escape it.
 */
class Text {
  // Private, so that no other object is a text.
  readonly #pieces: readonly Piece[];

  constructor(...pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }
}

export type { Text };

/** The literal parts are our words, a string between them is a value, and a number is shown as it is. */
export function text(words: TemplateStringsArray, ...between: readonly (Text | string | number)[]): Text {
  const pieces = words.flatMap((ours, index): readonly Piece[] => {
    const next = between[index];
    return [...(ours === "" ? [] : [{ words: ours }]), ...(next === undefined ? [] : piecesOf(next))];
  });
  return new Text(...pieces);
}

function piecesOf(between: Text | string | number): readonly Piece[] {
  if (between instanceof Text) return between.pieces;
  return typeof between === "number" ? [{ words: String(between) }] : [{ value: between, longest: LONGEST_VALUE }];
}

/** One of the words that its type lists, such as a kind. It does not compile for any text. */
export const word = <Word extends string>(one: string extends Word ? never : Word): Text => new Text({ words: one });

/** A whole sentence that may quote anything. It may be longer than a name. */
export const message = (sentence: string): Text => new Text({ value: sentence, longest: LONGEST_MESSAGE });

/** For a terminal with colours. */
export const toned = (tone: Tone, { pieces }: Text): Text => new Text(...pieces.map((piece) => ({ ...piece, tone })));

export const joined = (texts: readonly Text[], separator = text`, `): Text =>
  new Text(...texts.flatMap(({ pieces }, index) => (index === 0 ? pieces : [...separator.pieces, ...pieces])));

export const counted = <Noun extends string>(count: number, noun: string extends Noun ? never : Noun): Text =>
  text`${count} ${word(noun)}${count === 1 ? text`` : text`s`}`;

/** Of a table: our words, separated by commas. */
export const columns = (names: TemplateStringsArray): readonly Text[] =>
  names
    .join("")
    .split(", ")
    .map((words) => new Text({ words }));
