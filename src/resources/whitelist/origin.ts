import { z } from "zod";
import { string } from "../shared/schemas";

const EXAMPLE = "such as https://app.example.com";

/** Everything that an origin has no room for, by name. */
const SURPLUS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^[^/?#\\]*@/, "user name or password"],
  [/^[^/?#\\]*[/\\][^?#]*[^/?#]|^[^/?#\\]*([/\\]{2}|\\)/, "path"],
  [/\?/, "query"],
  [/#/, "fragment"],
];

function reasonsAgainst(given: string): string[] {
  const reasons: string[] = [];
  if (/\s/.test(given)) reasons.push(`must not contain a blank: it is an origin ${EXAMPLE}`);
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

/** A redirect domain: an http(s) origin (docs/design/api.md, Redirect domains), normalised. */
export const originSchema = string.transform((text, context): string => {
  const reasons = reasonsAgainst(text);
  if (reasons.length === 0) return new URL(text).origin;
  for (const message of reasons) context.addIssue({ code: "custom", message });
  return z.NEVER;
});
