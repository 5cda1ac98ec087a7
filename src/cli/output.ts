import { RUNNER_COMMAND } from "../contract/untrusted";

/** Whether standard output is a terminal with colours: respects `NO_COLOR` and similar variables. */
export const wantsColours = (): boolean => process.stdout.isTTY && process.stdout.hasColors();

/** Characters that act on a terminal or a page: they move the cursor, start a line or change the text direction. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Compares by code units, so that the order is the same on every machine. */
export const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** The text on one line, with these characters and the first character of a CI runner's command escaped. */
export function terminalText(text: string): string {
  return text.replace(OBEYED, byNumber).replace(RUNNER_COMMAND, byNumber);
}

const byNumber = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16)}}`;

/** Whether the text contains a character that acts on a terminal or a page. */
export const isObeyed = (text: string): boolean => text.search(OBEYED) >= 0;

/**
 * JSON without characters that act on a terminal or a CI runner, even where JSON allows them. Line ends stand only
 * between values.
 */
export function terminalJson(value: unknown): string {
  return escaped(JSON.stringify(value, undefined, 2));
}

/** Escapes as in JSON and TypeScript strings. */
export function escaped(text: string): string {
  return text.replace(OBEYED, (char) => (char === "\n" ? char : inUnits(char))).replace(RUNNER_COMMAND, inUnits);
}

const inUnits = (char: string): string =>
  char
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
