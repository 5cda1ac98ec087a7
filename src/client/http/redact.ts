import { isSecretName, isSecretSetting } from "../../contract/secretNames";
import { oneLine } from "../../contract/untrusted";
import { KnownValues } from "./knownValues";

/** `url`: the address that confirms a transfer of ownership. */
const isSecretField = (name: string): boolean => isSecretName(name) || /^url$/i.test(name);
/** Users choose the names here, so any value may be a secret. Short ones (`on`, `64MB`) occur in any message. */
const FREE_FIELD = /^(pg_settings|pgSettings)$/;
const SHORTEST_IN_FREE_FIELD = 8;
/** For a field whose name says that it is a secret. */
const SHORTEST_UNDER_SECRET_NAME = 4;

/**
 * The secret values of a body, of arguments or of a state, by the names of their fields. Makes no copies: lists may be
 * long.
 */
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
    const shortest = isSecretField(name) || isSecretSetting(name) ? SHORTEST_UNDER_SECRET_NAME : SHORTEST_IN_FREE_FIELD;
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

const REPEATS_SECRET = "[the service's message repeats a secret]";
const SECRET = "[secret]";

/** The secrets that one account has seen. Each text of the service passes here once, before it enters a message. */
export class Redactor {
  readonly #secrets = new KnownValues();

  constructor(apiKey: string) {
    this.#secrets.add(apiKey);
  }

  learn(...bodies: readonly unknown[]): void {
    for (const secret of secretsOf(bodies)) this.#secrets.add(secret);
  }

  /** Prepares a message of the service: all of it or nothing, without control characters, and capped. */
  message(text: string): string {
    return capped(this.#secrets.hide(text, REPEATS_SECRET), 500);
  }

  /** The same for one word: an id, a code, a status. `source`: the text that it was taken from in another spelling. */
  word(text: string, source = text): string {
    return capped(this.#secrets.hide(text, SECRET, source), 100);
  }
}

function capped(text: string, length: number): string {
  const clean = oneLine(text).trim();
  return clean.length > length ? `${clean.slice(0, length - 1)}…` : clean;
}
