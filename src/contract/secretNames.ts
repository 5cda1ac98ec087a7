const SECRET_NAME = /secret|password|passphrase|token|api_?key|credential/i;

/**
 * Whether the name of a field tells that its value is a secret: a response of the service and a state that somebody
 * edited by hand mark it nowhere else.
 */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const SECRET_SETTING = /(?:^|[._-])(?:pw|pwd|pass|passwd|jwt|(?:access|encryption|master|private|signing)[_-]?key)$/i;

/** The same of a Postgres setting that an application has named: in short, as in `app.pw`. `app.jwt_exp` is none. */
export function isSecretSetting(name: string): boolean {
  return isSecretName(name) || SECRET_SETTING.test(name);
}

const PASSWORD_IN_ADDRESS = /:\/\/[^\s/?#@:]*:[^\s/?#@]+@/;
const PASSWORD_IN_WORDS = /\bpassword\s*=\s*[^\s&]/i;

/** Whether a text is or holds a connection string with a password: `postgres://user:password@host/db`, `host=… password=…`. */
export function holdsPassword(text: string): boolean {
  return PASSWORD_IN_ADDRESS.test(text) || PASSWORD_IN_WORDS.test(text);
}

const HARMLESS = /^(?:on|off|true|false|yes|no|default|-?\d{1,9}(?:\.\d+)?\s*(?:B|kB|MB|GB|TB|us|ms|s|min|h|d)?)?$/i;

export function isHarmless(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    typeof value === "boolean" ||
    typeof value === "number" ||
    (typeof value === "string" && HARMLESS.test(value))
  );
}

export function mayBeSecret(name: string, value: unknown): boolean {
  return !isHarmless(value) && (isSecretSetting(name) || (typeof value === "string" && holdsPassword(value)));
}
