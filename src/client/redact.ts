const SECRET_FIELD = /secret|password|token|api_?key/i;
const SHOWN = "[secret]";

/** Their names are the user's, and a value there may be a secret. Short ones (`on`, `64MB`) are words of any message. */
const FREE_FIELD = /^(pg_settings|pgSettings)$/;
const SHORTEST_IN_FREE_FIELD = 8;
/** Where the user's name tells of a secret. */
const SHORTEST_UNDER_SECRET_NAME = 4;

/** The values of a body, or of anything that it was made of, that must not come back in a message: found by the names of their fields. */
export function secretsOf(body: unknown): string[] {
  return fieldsOf(body).flatMap(([name, value]) => {
    if (FREE_FIELD.test(name)) return secretSettings(value);
    return typeof value === "string" && SECRET_FIELD.test(name) ? [value] : secretsOf(value);
  });
}

function secretSettings(settings: unknown): string[] {
  return fieldsOf(settings).flatMap(([name, value]) => {
    const shortest = SECRET_FIELD.test(name) ? SHORTEST_UNDER_SECRET_NAME : SHORTEST_IN_FREE_FIELD;
    return typeof value === "string" && value.length >= shortest ? [value] : secretSettings(value);
  });
}

const fieldsOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

function withoutControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ");
}

function inAddress(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    // Half a surrogate pair has no form in an address.
    return text;
  }
}

/** The forms in which a service may echo a value: as it is, inside JSON, inside an address, with its line ends folded. */
function spellings(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inAddress(secret), withoutControlCharacters(secret)];
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Makes text of the service fit for a message: without these secrets, without control characters, capped. */
export function redactor(secrets: readonly string[]): (text: string, cap?: number) => string {
  const hidden = [...new Set(secrets.flatMap(spellings))].filter((form) => form.trim() !== "");
  // Longest first, so that a secret that contains another one goes as a whole.
  hidden.sort((a, b) => b.length - a.length);
  const pattern = hidden.length === 0 ? undefined : new RegExp(hidden.map(literally).join("|"), "g");
  const hide = (text: string): string => (pattern === undefined ? text : text.replace(pattern, SHOWN));
  // Hidden before the control characters go (they may be part of a secret) and before the cap (it may cut one in two).
  return (text, cap = 500) => {
    const clean = hide(withoutControlCharacters(hide(text))).trim();
    return clean.length > cap ? `${clean.slice(0, cap - 1)}…` : clean;
  };
}
