/** Blanks and line breaks that nobody sees: around names and in them, and around secrets. */

/** A line break, or another control character: in the header of a mail it would begin another one. */
const CONTROL = "\\p{Cc}\\u2028\\u2029";

/** A text on one line. */
export const ONE_LINE = new RegExp(`^[^${CONTROL}]*$`, "u");

/** Neither begins nor ends with a blank; line breaks are found by `ONE_LINE`. */
export const WITHOUT_BLANKS_AROUND = /^(?![\p{Zs}\uFEFF])[^]*(?<![\p{Zs}\uFEFF])$/u;

/** What a person may not have meant in a secret, to follow its name: "ends with a line break". A key may have lines. */
export function blanksAround(secret: string): string | undefined {
  if (/[\r\n\u2028\u2029]\s*$/.test(secret)) return "ends with a line break";
  if (/^\s/.test(secret)) return `begins ${/\s$/.test(secret) ? "and ends " : ""}with a blank`;
  return /\s$/.test(secret) ? "ends with a blank" : undefined;
}
