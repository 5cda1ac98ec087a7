/** Nothing that moves a terminal's cursor, begins a line or turns the direction of reading. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

/** The message of whatever was thrown. It may quote the service, so it is one line. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.message !== "") return oneLine(thrown.message);
  if (typeof thrown === "string" && thrown !== "") return oneLine(thrown);
  return "an unexpected failure without a message";
}
