/** Nothing that moves a terminal's cursor, begins a line or turns the direction of reading. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}
