import { z } from "zod";
import { isExpired } from "../../contract/expiry";
import { domainForm, domainProblems, endsInDot, hasWildcard, redirectDomainIn } from "../../contract/redirectDomains";
import { string } from "../shared/argumentSchemas";

/** A redirect domain: an http(s) origin or the address of an app (docs/design/api.md, Redirect domains), normalised. */
export const originSchema = string.transform((text, context): string => {
  const reasons = domainProblems(text);
  if (reasons.length === 0) return domainForm(text);
  for (const message of reasons) context.addIssue({ code: "custom", message });
  return z.NEVER;
});

/** A plan's warning about a domain whose day has come. `argument`: as below. */
export function expiryWarnings(expiresOn: string | undefined, argument: string): string[] {
  if (expiresOn === undefined || !isExpired(expiresOn)) return [];
  return [
    `${argument} is today or in the past (UTC). The domain stays on the whitelist until it is removed from the program: remove it, or set a later day`,
  ];
}

/**
 * A plan's warnings about a domain that is added. `argument`: named instead of the value, which may be a secret of the
 * program.
 */
export function domainWarnings(text: string, argument: string): string[] {
  const domain = redirectDomainIn(text);
  if (domain === undefined) return [];
  return [
    ...(hasWildcard(domain)
      ? [
          `${argument} has a wildcard: users may be redirected, with their sign-in, to every address that it matches, also to those of others`,
        ]
      : []),
    ...(domain.isApp
      ? [
          `${argument} is the address of an app, not an http(s) origin: another app on a device may claim its scheme, and the service may refuse it`,
        ]
      : []),
    ...(endsInDot(domain)
      ? [
          `the host of ${argument} ends in a dot: for browsers this is another origin than the one without the dot, to which users cannot be redirected with it`,
        ]
      : []),
  ];
}
