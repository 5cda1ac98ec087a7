/**
 * Recognises secrets that nothing marks: a field of a response, an edited state, a setting, a text. The only list of
 * names and forms, for all code that hides or marks secrets. Names and texts come from anywhere, up to many kilobytes,
 * so each expression below runs in linear time.
 */

/** Anywhere in a name, even without separators: `CLIENTSECRET`, `dbpassword2`. */
const STEM =
  /secret|passw(?:or)?d(?!less)|passphrase|passcode|token(?!i[sz])|credential|recovery_?code|backup_?code|seed_?phrase|mnemonic|otp_?seed|connection_?string|conninfo|private_?jwk|(?:bind|db|pg|ssh|smtp|mail|user|root|admin|mysql|redis)(?:pass|pwd?)(?:_|\d|$)|(?:access|account|api|encryption|encrypt|hmac|master|private|server|service|session|shared|signing|sign)_?keys?(?:_|\d|$)|auth_?key(?:_|\d|$)/;

/** As a separate word. */
const WORD = /(?:^|_)(?:pwd?|creds?)(?:_|\d|$)/;

/**
 * As the last word: `jwt_claims` and `pass_rate` are not secrets. The salt of an application (`anon.salt`) is a key:
 * with it, hashed values can be guessed.
 */
const LAST_WORD = /(?:^|_)(?:pass|jwt|salt|pepper|authorization|bearer)(?:_?v?\d+)?$/;

/** The last word of a name that describes a secret: `password_min_length`, `token_ttl`, `apiKeyFile`. */
const ABOUT =
  /_(?:at|age|alg|algo|algorithms?|allowed|arn|aud|audience|auth|backend|bits|bytes|checks?|claims?|column|contains?|cost|count|days?|dir|directory|disabled|duration|enabled|encryption|endpoint|env|expir(?:ation|ed|es|y)|exp|field|file|folder|format|hasher|header|helper|hint|host|hours?|(?<!secret_)ids?|in|interval|issuer|iss|iterations?|kind|label|len|length|level|lifetime|limit|location|manager|max|method|min|minutes?|mode|ms|names?|path|pattern|policy|port|prefix|provider|regex|region|required|role|rotation|rounds|schema|scopes?|seconds?|size|source|status|store|strength|supported|table|timeout|ttl|type|ur[il]|variable|version)$/;

/** Any key with a word before it. */
const KEY = /_key(?:_|\d|$)/;
const OTHER_KEY =
  /(?:^|_)(?:anon|cache|claim|cluster|composite|dedup|dedupe|distribution|foreign|group|idempotency|index|join|kms|locale|lock|lookup|map|natural|object|order|ordering|partition|primary|pub|public|publishable|route|routing|row|shard|sharding|sort|surrogate|translation|unique)_(?:[a-z]{1,20}_)?key(?:_|\d|$)/;

/** `smtpPassword`, `SMTP-Password` and `smtp.password` become `smtp_password`. */
function words(name: unknown): string {
  if (typeof name !== "string") return "";
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_")
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "")
    .toLowerCase();
}

/** Whether the name of a field, an argument or a variable says that its value is a secret. */
export function isSecretName(name: string): boolean {
  const text = words(name);
  return (STEM.test(text) || WORD.test(text) || LAST_WORD.test(text)) && !ABOUT.test(text);
}

/** The same for a Postgres setting. Applications use short names: `app.cookie_key` is a secret too. */
export function isSecretSetting(name: string): boolean {
  const text = words(name);
  return isSecretName(name) || (KEY.test(text) && !OTHER_KEY.test(text) && !ABOUT.test(text));
}

/** Tokens with the prefix of their issuer. */
const ISSUED =
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{36}|github_pat_\w{22}|glpat-[\w-]{20}|[rs]k_(?:live|test)_\w{16}|whsec_\w{16}|sk-(?:(?:ant|proj)-[\w-]{20}|[A-Za-z0-9]{32})|xox[abeprs]-[\w-]{10}|AIza[\w-]{35}|GOCSPX-[\w-]{20}|SG\.[\w-]{16,64}\.[\w-]{16}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{30}|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|pul-[0-9a-f]{40}|hvs\.[\w-]{20}|AGE-SECRET-KEY-1)/;
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/;
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/;
/** A private or shared JWK. */
const JWK_SECRET = /"[dk]"\s{0,9}:\s{0,9}"[^"]/;
/** A bearer token as a request carries it. */
const BEARER = /(?<![A-Za-z])bearer\s{1,9}(?=\S{0,100}\d)[\w.~+/=-]{16}/i;
/** An address that grants access: by a signature, a code, or a part of the path. */
const CAPABILITY =
  /[?&](?:code|sig|signature|x-amz-signature)=(?=[^&#\s]{0,100}\d)[\w%+/=-]{16}|\/\/hooks\.slack\.com\/services\/\w{1,20}\/\w{1,20}\/\w{8}/i;
/** A password in SQL that creates or alters a role. */
const PASSWORD_IN_SQL = /password\s{1,9}'[^']/i;

/**
 * `name=value`, or `name: value` of YAML or JSON, in a connection string, an address or a document. Not in an ARN,
 * whose `secret:` is followed by a name.
 */
const ASSIGNED =
  /(?<=(?<name>[\w.-]{1,100})\\{0,9}["']?\s{0,9})(?:=|:(?=\s|(?<=["']\s{0,9}:)))\s{0,9}(?:\\{0,9}["'])?(?=(?<value>[^\s"'\\&;,)}\]]{1,100}))/g;

/**
 * Whether a text is or contains a secret by its form: an address or a connection string with a password, a document
 * with a password, a private key, a JWT, a token of a well-known service.
 */
export function holdsSecret(text: string): boolean {
  if (typeof text !== "string") return false;
  return (
    [ISSUED, PRIVATE_KEY, JWT, BEARER, CAPABILITY, PASSWORD_IN_SQL].some((form) => form.test(text)) ||
    (text.includes('"kty"') && JWK_SECRET.test(text)) ||
    hasSecretInAddress(text) ||
    assignsSecret(text)
  );
}

function assignsSecret(text: string): boolean {
  for (const { groups: { name = "", value = "" } = {} } of text.matchAll(ASSIGNED))
    if (isSecretName(name) && !FLAG.test(value)) return true;
  return false;
}

/** The user of a web address is a token even without a password; the user of a database address is a role. */
function hasSecretInAddress(text: string): boolean {
  const parts = text.split("://");
  return parts.slice(1).some((part, index) => {
    const isOfWeb = /(?:https?|wss?)$/i.test(parts[index]?.slice(-10) ?? "");
    if (isOfWeb && /^[^\s/?#@"'<>]+@/.test(part)) return true;
    // In an address without a user, the colon is followed by a port.
    return /^[^\s/?#@:]*:(?!\d{1,5}[/?#])[^\s"'<>]+@/.test(part);
  });
}

const FLAG = /^(?:on|off|yes|no|true|false|default|none|null|enabled|disabled)$/i;
const NUMBER = /^[-+]?\d{1,5}(?:\.\d{1,5})?$|^[-+]?\d{1,10}(?:\.\d{1,5})?\s?(?:B|kB|MB|GB|TB|us|ms|s|min|h|d)$/;

/**
 * Not a secret, whatever its name: a flag or a word for none, a small number or one with a Postgres unit, an empty
 * value.
 */
export function isHarmless(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "boolean") return true;
  if (typeof value !== "string" && typeof value !== "number") return false;
  const text = String(value).trim();
  return text === "" || FLAG.test(text) || NUMBER.test(text);
}

/**
 * Whether a value may be a secret, by its name or its form. Does not look inside lists and objects. A reference
 * (references.ts) is not a secret; the caller checks for it.
 */
export function mayBeSecret(name: string, value: unknown): boolean {
  return !isHarmless(value) && (isSecretSetting(name) || (typeof value === "string" && holdsSecret(value)));
}
