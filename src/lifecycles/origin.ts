import { z } from "zod";

/** An origin as browsers compare it: lower case, without the default port and a trailing slash. */
export { normalisedOrigin } from "../client/origins";

const EXAMPLE = "such as https://app.example.com";

/** Everything that an origin has no room for, by name. */
const SURPLUS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^[^/?#\\]*@/, "user name or password"],
  [/^[^/?#\\]*[/\\][^?#]*[^/?#]|^[^/?#\\]*([/\\]{2}|\\)/, "path"],
  [/\?/, "query"],
  [/#/, "fragment"],
];

function reasonAgainst(text: string): string | undefined {
  if (/\s/.test(text)) return `must hold no blank: it is an origin ${EXAMPLE}`;
  const [scheme] = /^https?:\/\//i.exec(text) ?? [];
  if (scheme === undefined) return `must begin with http:// or https://, ${EXAMPLE}`;
  const rest = text.slice(scheme.length);
  const surplus = SURPLUS.filter(([pattern]) => pattern.test(rest)).map(([, name]) => name);
  if (surplus.length > 0) return `must be an origin ${EXAMPLE}, without ${surplus.join(", ")}`;
  if (rest === "" || rest.startsWith("/") || !URL.canParse(text)) {
    return `must be an origin ${EXAMPLE}: its host or port is not valid`;
  }
  return undefined;
}

/** A redirect domain: an http(s) origin (service notes, "Values"), normalised. */
export const originSchema = z.string({ error: "must be a string" }).transform((text, context): string => {
  const reason = reasonAgainst(text);
  if (reason === undefined) return new URL(text).origin;
  context.addIssue({ code: "custom", message: reason });
  return z.NEVER;
});
