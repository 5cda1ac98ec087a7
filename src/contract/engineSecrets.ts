/** How the engine marks a secret in a state, an import file, an event log and a request. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** Whether the engine has marked the value secret, encrypted or in clear. */
export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, SIGNATURE) === SECRET;
}

/** Marks a value secret for the engine, which encrypts it and returns it in clear. */
export const asSecret = (value: unknown): object => ({ [SIGNATURE]: SECRET, value });

/** A copy in which `replace` substitutes each value that a provider has marked, at any depth. */
export function mapSecrets(value: unknown, replace: (secret: unknown) => unknown): unknown {
  if (isSecret(value)) return replace(Reflect.get(Object(value), "value"));
  if (Array.isArray(value)) return value.map((one) => mapSecrets(one, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapSecrets(one, replace)]));
}
