/** Redirect domains that should not stay: from the day `expiresOn` on plans warn, and drift and audit report them. */
import { isSecret } from "./engineSecrets";
import type { Kind } from "./pointer";

/** The day in UTC, as 2027-01-31. Such texts are in the order of their days. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** A state or a plan may have any text there. */
export const isExpired = (expiresOn: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(expiresOn) && expiresOn <= dayOf(new Date());

const isDated = (element: unknown): element is { readonly origin?: unknown; readonly expiresOn?: unknown } =>
  typeof element === "object" && element !== null && !isSecret(element);

/** The domain of an element of a list. A state or a plan may have anything there. */
export const originIn = (element: unknown): unknown => (isDated(element) ? element.origin : element);

/** The day of an element of a list; undefined for a plain text. */
export const expiresOnIn = (element: unknown): unknown => (isDated(element) ? element.expiresOn : undefined);

/** The redirect domains of a resource with their days, as a state or a plan has them: each may be a secret. */
export function datesIn(
  kind: Kind,
  { domain, domains, expiresOn }: Readonly<Record<string, unknown>>,
): { readonly origin: unknown; readonly expiresOn: unknown }[] {
  if (kind === "WhitelistDomain") return [{ origin: domain, expiresOn }];
  if (kind !== "Whitelist") return [];
  const all: unknown[] = Array.isArray(domains) ? domains : [domains];
  return all.map((one) => ({ origin: originIn(one), expiresOn: isSecret(one) ? one : expiresOnIn(one) }));
}
