/** The authorization codes of the emulator's sign-in: what they stand for, and who may use them. */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import type { Place } from "../http/keySet";
import type { StoredUser } from "../model/records";

const CODE_LIFE_MS = 60_000;
export const SUPPORTED = { response_type: "code", code_challenge_method: "S256" } as const;

/** Where errors cannot be sent: they must not follow an address that nobody has allowed. */
export const asker = z.object({ client_id: z.string().default(""), redirect_uri: z.string().default("") });

export const asked = z.object({
  response_type: z.string().default(""),
  code_challenge: z.string().default(""),
  code_challenge_method: z.string().default("plain"),
  scope: z.string().default("openid"),
  state: z.string().optional(),
  nonce: z.string().optional(),
  prompt: z.string().optional(),
});

export type Asked = z.output<typeof asker> & z.output<typeof asked>;

/** What a code stands for, until it is used. */
interface Grant extends Place {
  readonly asked: Asked;
  readonly user: StoredUser;
  readonly until: number;
}

/** An error of RFC 6749, which the application receives. */
export class OAuthError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** @throws OAuthError for a request that the emulator does not support. */
export function requireSupported({ response_type, code_challenge, code_challenge_method, prompt }: Asked): void {
  if (response_type !== SUPPORTED.response_type)
    throw new OAuthError("unsupported_response_type", 'the emulator knows response_type "code" only');
  if (!/^[A-Za-z0-9_-]{43}$/.test(code_challenge) || code_challenge_method !== SUPPORTED.code_challenge_method)
    throw new OAuthError("invalid_request", "PKCE is required: a code_challenge with code_challenge_method S256");
  if (prompt === "none") throw new OAuthError("login_required", "nobody is signed in: the emulator keeps no session");
}

export class Grants {
  readonly #grants = new Map<string, Grant>();

  /** Returns a code. */
  issue(grant: Omit<Grant, "until">): string {
    // Nobody has come for these.
    for (const [old, { until }] of this.#grants) if (until < Date.now()) this.#grants.delete(old);
    const code = randomBytes(24).toString("base64url");
    this.#grants.set(code, { ...grant, until: Date.now() + CODE_LIFE_MS });
    return code;
  }

  /** A code counts once, for the integration, the client and the address that it was issued for. @throws OAuthError */
  redeem({ project, integration }: Place, given: Record<string, string>): Grant {
    const { grant_type, code = "", client_id, redirect_uri, code_verifier = "" } = given;
    if (grant_type !== "authorization_code")
      throw new OAuthError("unsupported_grant_type", 'the emulator knows grant_type "authorization_code" only');
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const refuse = (why: string): never => {
      throw new OAuthError("invalid_grant", why);
    };
    if (grant === undefined || grant.until < Date.now())
      return refuse("the code is unknown, used or older than a minute");
    if (grant.integration !== integration || !project.users.includes(grant.user))
      return refuse("the integration or the user of the code has been removed");
    if (grant.asked.client_id !== client_id) return refuse("client_id is not that of the code");
    if (grant.asked.redirect_uri !== redirect_uri) return refuse("redirect_uri is not that of the code");
    if (createHash("sha256").update(code_verifier).digest("base64url") !== grant.asked.code_challenge)
      return refuse("code_verifier does not fit the code_challenge");
    return grant;
  }
}
