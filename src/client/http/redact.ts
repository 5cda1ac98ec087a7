import { isSecretName } from "../../contract/secretNames";
import { oneLine } from "../../contract/untrusted";

/** `url`: where a transfer of ownership is confirmed. */
const isSecretField = (name: string): boolean => isSecretName(name) || /^url$/i.test(name);
const SHOWN = "[secret]";
/** In its place while secrets are looked for, which may be a part of it: no text has this character. */
const HIDDEN = "\uE000";

/** The user chooses the names here, so any value may be a secret. Short ones (`on`, `64MB`) occur in any message. */
const FREE_FIELD = /^(pg_settings|pgSettings)$/;
const SHORTEST_IN_FREE_FIELD = 8;
/** Where the name tells of a secret. */
const SHORTEST_UNDER_SECRET_NAME = 4;
/** A shorter value is hidden as a word alone: within words, what is left of them would tell it. */
const SHORTEST_WITHIN_WORDS = 4;

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

/**
 * The forms in which a service may echo a value: as it is, inside JSON (or JSON in a text of JSON), inside an address or a form, in
 * base64, with its line ends folded, or one line of it.
 */
function spellings(secret: string): string[] {
  const inJson = asInJson(secret);
  // Go escapes these in JSON as well.
  const inGo = inJson.replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
  // Half a surrogate pair has no form in an address.
  const inAddress = encodeURIComponent(secret.replace(/\p{Cs}/gu, ""));
  const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
  const inBase64 = (["base64", "base64url"] as const).map((form) => Buffer.from(secret).toString(form));
  const lines = secret.split(/[\r\n]+/).filter((line) => line.length >= SHORTEST_IN_FREE_FIELD);
  return [secret, inJson, asInJson(inJson), inGo, inAddress, inForm, ...inBase64, oneLine(secret), ...lines];
}

function placesOf(form: string): string | RegExp {
  if (form.length >= SHORTEST_WITHIN_WORDS) return form;
  const literally = form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literally}(?![\\p{L}\\p{N}])`, "gu");
}

const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The secrets that one account has seen. Text of the service passes here once, where it enters a message. */
export class Redactor {
  readonly #secrets: Set<string>;
  #hidden: readonly string[] | undefined;

  constructor(apiKey: string) {
    this.#secrets = new Set([apiKey]);
  }

  learn(...bodies: readonly unknown[]): void {
    const known = this.#secrets.size;
    for (const secret of secretsOf(bodies)) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#hidden = undefined;
  }

  /** Text of the service, fit for a message: without secrets and control characters, at most `cap` characters. */
  clean(text: string, cap = 500): string {
    // Hidden before the control characters go (they may be part of a secret) and before the cap (it may cut one in two).
    const clean = this.#hide(oneLine(this.#hide(text)))
      .replaceAll(HIDDEN, SHOWN)
      .trim();
    return clean.length > cap ? `${clean.slice(0, cap - 1)}…` : clean;
  }

  /** One after the other: a pattern of all of them is refused for a long secret, with an error that has it in its message. */
  #hide(text: string): string {
    if (this.#hidden === undefined) {
      const forms = [...new Set([...this.#secrets].flatMap(spellings))].filter((form) => form.trim() !== "");
      // Longest first, so that a secret that contains another one goes as a whole.
      this.#hidden = forms.sort((a, b) => b.length - a.length);
    }
    return this.#hidden.reduce((hidden, form) => hidden.replaceAll(placesOf(form), HIDDEN), text);
  }
}
