/** How the commands write values into a program. */
import { escaped } from "./output";

export type Quote = '"' | "'" | "`";

/** A text in the given quotes. Nothing in it turns the direction in which the program is read. */
export function quotedIn(quote: Quote, text: string): string {
  const double = escaped(JSON.stringify(text));
  if (quote === '"') return double;
  const inner = double.slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
  return `${quote}${quote === "`" ? inner.replaceAll("${", "\\${") : inner}${quote}`;
}

/** The name of a property, in quotes where it needs them. */
export function keyText(name: string, quoted: (text: string) => string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}
