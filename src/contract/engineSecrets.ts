/** How the engine marks a secret in a state, an import file, an event log and a request. */
export const SIGNATURE = "4dabf18193072939515e22adb298388d";
export const SECRET = "1b47061264138c4ac30d75fd1eb44270";

/** Whether the engine has marked it, encrypted or in clear. */
export function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && Reflect.get(value, SIGNATURE) === SECRET;
}

/** A value as a provider hands it to the engine, which encrypts it and hands it back in clear. */
export const asSecret = (value: unknown): object => ({ [SIGNATURE]: SECRET, value });
