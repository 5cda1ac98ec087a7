/** A redirect domain that is no http(s) origin: the address of an app, by the scheme that it claims on a device. */
const APP = /^([a-z][a-z0-9+.-]*):\/\/[!-~]*$/i;

/** What browsers and systems know, of which no sign-in sends anybody back to an app; some run or read what stands behind them. */
const OTHERS = /^(?:https?|wss?|ftps?|file|filesystem|blob|data|javascript|vbscript|about|mailto|view-source)$/;

/** The scheme, in lower case; undefined where it is no address of an app. */
export function appScheme(domain: string): string | undefined {
  const [, scheme = "https"] = APP.exec(domain) ?? [];
  const lower = scheme.toLowerCase();
  return OTHERS.test(lower) ? undefined : lower;
}

/** One place of many hosts, or of all. */
export const hasWildcard = (domain: string): boolean => domain.includes("*");
