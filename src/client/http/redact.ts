import { isSecretName } from "../../contract/secretNames";
import { oneLine } from "../../contract/untrusted";

/** `url`: where a transfer of ownership is confirmed. */
const isSecretField = (name: string): boolean => isSecretName(name) || /^url$/i.test(name);
const SHOWN = "[secret]";

/** The user chooses the names here, so any value may be a secret. Short ones (`on`, `64MB`) occur in any message. */
const FREE_FIELD = /^(pg_settings|pgSettings)$/;
const SHORTEST_IN_FREE_FIELD = 8;
/** Where the name tells of a secret. */
const SHORTEST_UNDER_SECRET_NAME = 4;

/** The secret values of a body, of arguments or of a state: found by the names of their fields. Long lists come here: no copies. */
export function secretsOf(body: unknown, found: string[] = []): string[] {
  forEachField(body, (name, value) => {
    if (name === undefined) secretsOf(value, found);
    else if (FREE_FIELD.test(name)) secretSettings(value, found);
    else if (typeof value === "object") secretsOf(value, found);
    else if (typeof value === "string" && isSecretField(name)) found.push(value);
  });
  return found;
}

function secretSettings(settings: unknown, found: string[]): void {
  forEachField(settings, (name = "", value) => {
    const shortest = isSecretField(name) ? SHORTEST_UNDER_SECRET_NAME : SHORTEST_IN_FREE_FIELD;
    if (typeof value !== "string") secretSettings(value, found);
    else if (value.length >= shortest) found.push(value);
  });
}

/** An item of an array has no name. */
function forEachField(value: unknown, visit: (name: string | undefined, field: unknown) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) for (const item of value) visit(undefined, item);
  else for (const name of Object.keys(value)) visit(name, Reflect.get(value, name));
}

/** The forms in which a service may echo a value: as it is, inside JSON, inside an address, with its line ends folded. */
function spellings(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  // Go escapes these in JSON as well.
  const inGo = inJson.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  // Half a surrogate pair has no form in an address.
  const inAddress = encodeURIComponent(secret.replace(/\p{Cs}/gu, ""));
  return [secret, inJson, inGo, inAddress, oneLine(secret)];
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The secrets that one account has seen. Text of the service passes here once, where it enters a message. */
export class Redactor {
  readonly #secrets: Set<string>;
  #pattern: RegExp | undefined;

  constructor(apiKey: string) {
    this.#secrets = new Set([apiKey]);
  }

  learn(...bodies: readonly unknown[]): void {
    const known = this.#secrets.size;
    for (const secret of secretsOf(bodies)) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#pattern = undefined;
  }

  /** Text of the service, fit for a message: without secrets and control characters, at most `cap` characters. */
  clean(text: string, cap = 500): string {
    // Hidden before the control characters go (they may be part of a secret) and before the cap (it may cut one in two).
    const clean = this.#hide(oneLine(this.#hide(text))).trim();
    return clean.length > cap ? `${clean.slice(0, cap - 1)}…` : clean;
  }

  #hide(text: string): string {
    if (this.#pattern === undefined) {
      const hidden = [...new Set([...this.#secrets].flatMap(spellings))].filter((form) => form.trim() !== "");
      // Longest first, so that a secret that contains another one goes as a whole.
      hidden.sort((a, b) => b.length - a.length);
      this.#pattern = new RegExp(hidden.map(literally).join("|"), "g");
    }
    return text.replace(this.#pattern, SHOWN);
  }
}
