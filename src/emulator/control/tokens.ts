import { sign, type KeyObject } from "node:crypto";
import { z } from "zod";
import { issuerOf } from "../http/keySet";
import {
  defined,
  newId,
  SIGNING_ALGORITHMS,
  type StoredProject,
  type StoredSigningKey,
  type StoredUser,
} from "../model/records";
import { invalid, notFound } from "../model/refusal";
import type { Service } from "../model/service";
import { newPrivateKey, privateKeyOf, STANDARD_ALGORITHM } from "../model/signingKeys";
import { findNamedIntegration } from "../model/store";

const TEN_YEARS_S = 315_576_000;

export const tokenBody = z.strictObject({
  project_id: z.string().optional(),
  /** Id or email address. */
  user: z.string().min(1).optional(),
  /** They override the user's claims; null removes a claim. */
  claims: z
    .record(z.string(), z.unknown())
    // JSON parses 1e999 as Infinity, which it cannot serialise.
    .refine(
      (claims) => Object.values(claims).every((claim) => typeof claim !== "number" || Number.isFinite(claim)),
      "a number is too large",
    )
    .default({}),
  /** In seconds; 0 or less: an expired token. */
  expires_in: z.int().min(-TEN_YEARS_S).max(TEN_YEARS_S).default(3600),
  /** For tests of tokens that an application must refuse. */
  signature: z.enum(["valid", "wrong", "unknown_key", "none"]).default("valid"),
});

export const newKeyBody = z.strictObject({
  project_id: z.string().optional(),
  alg: z.enum(SIGNING_ALGORITHMS).default(STANDARD_ALGORITHM),
});

/** Whether it is the user with that id or email address. */
export const isUser =
  (wanted: string) =>
  ({ id, email }: StoredUser): boolean =>
    id === wanted || email.toLowerCase() === wanted.toLowerCase();

/** The user with that id or email address, otherwise the only one. */
function userIn({ id: projectId, users }: StoredProject, wanted: string | undefined): StoredUser {
  const found = wanted === undefined ? users : users.filter(isUser(wanted));
  const [user, second] = found;
  if (user === undefined) {
    throw notFound(
      wanted === undefined
        ? `project ${projectId} has no user: create one with POST /projects/auth/user or an AuthUser`
        : "user not found: give the id or the e-mail address of a user of the project",
    );
  }
  if (second !== undefined) throw invalid("the project has several users: give the id of one as user");
  return user;
}

/** The header of a token and its signing key. A token that must not verify is signed with a new key. */
async function signer(
  key: StoredSigningKey,
  signature: "valid" | "wrong" | "unknown_key",
): Promise<{ kid: string; key: ReturnType<typeof privateKeyOf> }> {
  if (signature === "valid") return { kid: key.kid, key: privateKeyOf(key) };
  return { kid: signature === "wrong" ? key.kid : newId(), key: await newPrivateKey(key.alg) };
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

/** A JSON Web Token in compact form (RFC 7515). Without a key it is not signed. */
function webToken(header: object, payload: object, key?: KeyObject): string {
  const said = `${encoded(header)}.${encoded(payload)}`;
  // The encoding for ES256 (RFC 7518, 3.4). RS256 has no choice of encodings.
  const proof = key && sign("sha256", Buffer.from(said), { key, dsaEncoding: "ieee-p1363" });
  return `${said}.${proof?.toString("base64url") ?? ""}`;
}

/** Signs a token for a user. `origin`: the emulator's address as the client sees it, for `iss`. */
export async function signToken(
  service: Service,
  { project_id, user: wanted, claims, expires_in, signature }: z.output<typeof tokenBody>,
  origin: string,
): Promise<{ token: string; claims: object }> {
  const [project, integration] = findNamedIntegration(service.store, project_id);
  const { id: sub, email, name } = userIn(project, wanted);
  const issuedAt = Math.floor(Date.now() / 1000);
  const exp = issuedAt + expires_in;
  const standard = {
    iss: issuerOf(integration, origin),
    aud: integration.auth_provider_project_id,
    sub,
    email,
    ...defined({ name }),
    // A token cannot expire before it was issued.
    iat: Math.min(issuedAt, exp - 1),
    exp,
  };
  const payload = Object.fromEntries(Object.entries({ ...standard, ...claims }).filter(([, value]) => value !== null));
  if (signature === "none") return { token: webToken({ alg: "none" }, payload), claims: payload };
  const current = await service.signingKeys.current(integration);
  const { kid, key } = await signer(current, signature);
  return { token: webToken({ alg: current.alg, typ: "JWT", kid }, payload, key), claims: payload };
}

/** Creates a signing key. Tokens signed with earlier keys verify until those are dropped. */
export async function addSigningKey(
  service: Service,
  { project_id, alg }: z.output<typeof newKeyBody>,
): Promise<Omit<StoredSigningKey, "private_jwk">> {
  const [, integration] = findNamedIntegration(service.store, project_id);
  // The first key, if it is just being created, precedes the new one.
  await service.signingKeys.current(integration);
  const { private_jwk: _private, ...shown } = await service.signingKeys.add(integration, alg);
  return shown;
}
