/** Writes values as code of a program. */
import { escaped } from "./output";

export type Quote = '"' | "'" | "`";

/** A quoted string literal. It contains no character that reverses the direction of the text. */
export function quotedIn(quote: Quote, text: string): string {
  const double = escaped(JSON.stringify(text));
  if (quote === '"') return double;
  const inner = double.slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
  return `${quote}${quote === "`" ? inner.replaceAll("${", "\\${") : inner}${quote}`;
}

/** A property name, quoted if necessary. */
export function keyText(name: string, quoted: (text: string) => string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A word of a shell command. */
export const inShell = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
