/**
 * Redirect domains (docs/design/api.md, Redirect domains): which texts are one, and which mean the same. Programs, the
 * provider, the client and commands ask this file. No message contains the text, which may be a secret.
 */

/** An http(s) origin, or the address of an app by the scheme that it registers on a device. */
export interface RedirectDomain {
  /** The one form of all its spellings. */
  readonly form: string;
  /** Without the colon, in lower case. */
  readonly scheme: string;
  /** As `URL` writes it, without the port; it may contain a wildcard. */
  readonly host: string;
  readonly isApp: boolean;
}

const APP = /^([a-z][a-z0-9+.-]*):\/\/[!-~]*$/i;

/** Schemes of browsers and systems: no sign-in returns to an app through them, and some run or read their target. */
const OTHERS = /^(?:https?|wss?|ftps?|file|filesystem|blob|data|javascript|vbscript|about|mailto|view-source)$/;

/** The scheme of an app's address, in lower case; undefined if it is none. */
function appScheme(text: string): string | undefined {
  const [, scheme = "https"] = APP.exec(text) ?? [];
  const lower = scheme.toLowerCase();
  return OTHERS.test(lower) ? undefined : lower;
}

/** Scheme, host and port of an origin; `*` stands for any port. */
const ORIGIN = /^(https?):\/\/(\[[^\]]*\]|[^/?#\\@:\s]+)(?::(\d*|\*))?\/?$/i;

/**
 * Of an origin, what browsers do not tell apart is the same: case, a default port, a slash at the end, xn-- or Unicode.
 * Of an app's address, the case of the scheme. Undefined for anything else.
 */
export function redirectDomainIn(text: string): RedirectDomain | undefined {
  const given = text.trim();
  const app = appScheme(given);
  if (app !== undefined) {
    const rest = given.slice(app.length);
    return { form: app + rest, scheme: app, host: /^:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(rest)?.[1] ?? "", isApp: true };
  }
  const [, scheme, host, port = ""] = ORIGIN.exec(given) ?? [];
  // A parser of URLs knows no such port.
  const isAnyPort = port === "*";
  const address = `${scheme}://${host}:${isAnyPort ? "" : port}`;
  if (scheme === undefined || !URL.canParse(address)) return undefined;
  const { origin, hostname } = new URL(address);
  return { form: origin + (isAnyPort ? ":*" : ""), scheme: scheme.toLowerCase(), host: hostname, isApp: false };
}

/** The one form of all its spellings. What is no redirect domain, but may be on a list of the service, has only its own. */
export const domainForm = (text: string): string =>
  redirectDomainIn(text)?.form ?? text.trim().replace(/^[a-z][a-z0-9+.-]*(?=:)/i, (scheme) => scheme.toLowerCase());

/** A wildcard stands for many hosts or ports, or for all. */
export const hasWildcard = ({ form }: RedirectDomain): boolean => form.includes("*");

/** Browsers tell it from the host without the dot. */
export const endsInDot = ({ host, isApp }: RedirectDomain): boolean => !isApp && host.endsWith(".");

const EXAMPLE = "such as https://app.example.com";

/** The parts that an origin cannot have, by name. */
const SURPLUS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^[^/?#\\]*@/, "user name or password"],
  [/^[^/?#\\]*[/\\][^?#]*[^/?#]|^[^/?#\\]*([/\\]{2}|\\)/, "path"],
  [/\?/, "query"],
  [/#/, "fragment"],
];

const surplusIn = (rest: string, ...allowed: readonly string[]): string[] =>
  SURPLUS.filter(([pattern, name]) => !allowed.includes(name) && pattern.test(rest)).map(([, name]) => name);

/** Why a program cannot declare it; none: it can. */
export function domainProblems(given: string): string[] {
  if (appScheme(given) !== undefined) {
    const surplus = surplusIn(given.replace(/^[^:]*:\/\//, ""), "path");
    return surplus.length === 0
      ? []
      : [`must be the address of an app such as myapp://callback, without ${surplus.join(", ")}`];
  }
  const reasons: string[] = [];
  if (/\s/.test(given)) reasons.push(`must not contain a space: it is an origin ${EXAMPLE}`);
  const text = given.replace(/\s/g, "");
  if (!/^https?:\/\//i.test(text)) reasons.push(`must begin with http:// or https://, ${EXAMPLE}`);
  const surplus = surplusIn(text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, ""));
  if (surplus.length > 0) reasons.push(`must be an origin ${EXAMPLE}, without ${surplus.join(", ")}`);
  if (reasons.length === 0 && redirectDomainIn(text) === undefined)
    reasons.push(`must be an origin ${EXAMPLE}: its host or port is not valid`);
  return reasons;
}
