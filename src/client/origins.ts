/** An origin as browsers compare it: lower case, without the default port and a trailing slash. */
export function normalisedOrigin(text: string): string {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return trimmed.toLowerCase();
  const { origin, protocol, host } = new URL(trimmed);
  return origin === "null" ? `${protocol}//${host}` : origin;
}
