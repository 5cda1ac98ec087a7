import { z } from "zod";
import { normalisedOrigin } from "../../client";
import { isExpired } from "../../contract/expiry";
import { appScheme, hasWildcard } from "../../contract/redirectDomains";
import { string } from "../shared/argumentSchemas";

const EXAMPLE = "such as https://app.example.com";

/** The parts that an origin cannot have, by name. */
const SURPLUS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^[^/?#\\]*@/, "user name or password"],
  [/^[^/?#\\]*[/\\][^?#]*[^/?#]|^[^/?#\\]*([/\\]{2}|\\)/, "path"],
  [/\?/, "query"],
  [/#/, "fragment"],
];

function reasonsAgainst(given: string): string[] {
  if (appScheme(given) !== undefined) return reasonsAgainstApp(given);
  const reasons: string[] = [];
  if (/\s/.test(given)) reasons.push(`must not contain a space: it is an origin ${EXAMPLE}`);
  const text = given.replace(/\s/g, "");
  if (!/^https?:\/\//i.test(text)) reasons.push(`must begin with http:// or https://, ${EXAMPLE}`);
  const rest = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "");
  const surplus = SURPLUS.filter(([pattern]) => pattern.test(rest)).map(([, name]) => name);
  if (surplus.length > 0) reasons.push(`must be an origin ${EXAMPLE}, without ${surplus.join(", ")}`);
  if (reasons.length === 0 && (rest === "" || rest.startsWith("/") || !URL.canParse(text))) {
    reasons.push(`must be an origin ${EXAMPLE}: its host or port is not valid`);
  }
  return reasons;
}

function reasonsAgainstApp(given: string): string[] {
  const rest = given.replace(/^[^:]*:\/\//, "");
  const surplus = SURPLUS.filter(([pattern, name]) => name !== "path" && pattern.test(rest)).map(([, name]) => name);
  return surplus.length === 0
    ? []
    : [`must be the address of an app such as myapp://callback, without ${surplus.join(", ")}`];
}

/** A redirect domain: an http(s) origin or the address of an app (docs/design/api.md, Redirect domains), normalised. */
export const originSchema = string.transform((text, context): string => {
  const reasons = reasonsAgainst(text);
  if (reasons.length === 0) return normalisedOrigin(text);
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
export function domainWarnings(domain: string, argument: string): string[] {
  const isApp = appScheme(domain) !== undefined;
  return [
    ...(hasWildcard(domain)
      ? [
          `${argument} has a wildcard: users may be redirected, with their sign-in, to every address that it matches, also to those of others`,
        ]
      : []),
    ...(isApp
      ? [
          `${argument} is the address of an app, not an http(s) origin: another app on a device may claim its scheme, and the service may refuse it`,
        ]
      : []),
  ];
}
