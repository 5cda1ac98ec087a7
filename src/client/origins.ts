/** An origin as browsers compare it: lower case, without the default port and a trailing slash. Anything else stays as it is. */
export function normalisedOrigin(text: string): string {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return trimmed;
  const { origin } = new URL(trimmed);
  // What the URL standard writes for schemes without an origin.
  return origin === "null" ? trimmed : origin;
}
