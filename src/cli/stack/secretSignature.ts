/** How the engine marks a secret in a state, an import file and an event log. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** As the engine takes it: what it stores is encrypted. */
export function asSecret(value: string): object {
  return { [SIGNATURE]: SECRET, plaintext: JSON.stringify(value) };
}

export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, SIGNATURE) === SECRET;
}

/** A text of a state that was exported with its secrets in clear: undefined where it is something else. */
export function clearText(value: unknown): string | undefined {
  if (!isSecret(value)) return typeof value === "string" ? value : undefined;
  // Marked as a secret, so an object.
  const { plaintext } = value as { plaintext?: unknown };
  const text: unknown = typeof plaintext === "string" ? JSON.parse(plaintext) : undefined;
  return typeof text === "string" ? text : undefined;
}
