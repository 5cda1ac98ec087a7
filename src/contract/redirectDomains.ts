/**
 * A redirect domain that is not an http(s) origin: the address of an app, by the scheme that it registers on a device.
 */
const APP = /^([a-z][a-z0-9+.-]*):\/\/[!-~]*$/i;

/** Schemes of browsers and systems: no sign-in returns to an app through them, and some run or read their target. */
const OTHERS = /^(?:https?|wss?|ftps?|file|filesystem|blob|data|javascript|vbscript|about|mailto|view-source)$/;

/** The scheme, in lower case; undefined if it is not the address of an app. */
export function appScheme(domain: string): string | undefined {
  const [, scheme = "https"] = APP.exec(domain) ?? [];
  const lower = scheme.toLowerCase();
  return OTHERS.test(lower) ? undefined : lower;
}

/** A wildcard stands for many hosts, or for all. */
export const hasWildcard = (domain: string): boolean => domain.includes("*");
