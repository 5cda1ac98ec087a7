import { RUNNER_COMMAND } from "../contract/untrusted";

/** Whether standard output is a terminal that wants colours: `NO_COLOR` and its like count. */
export const wantsColours = (): boolean => process.stdout.isTTY && process.stdout.hasColors();

/** What a terminal or a page obeys: it moves the cursor, begins a line or turns the direction of reading. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** For sorting, by code units: the order is the same on every machine. */
export const compareText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

/** In one line, with such a character written by its number; so is the first one of a command to a CI runner. */
export function terminalText(text: string): string {
  return text.replace(OBEYED, byNumber).replace(RUNNER_COMMAND, byNumber);
}

const byNumber = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16)}}`;

/** Whether a terminal or a page would obey something in it. */
export const isObeyed = (text: string): boolean => text.search(OBEYED) >= 0;

/** JSON of which nothing reaches a terminal or a CI runner, also where JSON allows it. The line ends are those between values. */
export function terminalJson(value: unknown): string {
  return escaped(JSON.stringify(value, undefined, 2));
}

/** As JSON and TypeScript write it in a text. */
export function escaped(text: string): string {
  return text.replace(OBEYED, (char) => (char === "\n" ? char : inUnits(char))).replace(RUNNER_COMMAND, inUnits);
}

const inUnits = (char: string): string =>
  char
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
