/**
 * Sign-in of a project's users: an authorization code with PKCE (RFC 6749, RFC 7636) and discovery (OpenID Connect
 * Discovery 1.0), signed with the emulator's keys. This is the emulator's own way: the service documents none
 * (docs/emulator.md, Sign-in).
 */
import { createHash, randomBytes } from "node:crypto";
import { Hono, type Context } from "hono";
import { z } from "zod";
import { isUser, signToken } from "../control/tokens";
import { refuseForeignPages, originFor, type AcceptedKey, type Site } from "../http/access";
import { takeBody } from "../http/bodies";
import { ANY_PAGE, issuerOf, jwksUrlOf, placeOf, type Place } from "../http/keySet";
import type { Env } from "../http/route";
import { SIGNING_ALGORITHMS, type StoredUser } from "../model/records";
import type { Service } from "../model/service";
import { refusalPage, signInPage } from "./signInPage";

const CODE_LIFE_MS = 60_000;
const TOKEN_LIFE_S = 3_600;
const SUPPORTED = { response_type: "code", code_challenge_method: "S256" } as const;

/** Where errors cannot be sent: they must not follow an address that nobody has allowed. */
const asker = z.object({ client_id: z.string().default(""), redirect_uri: z.string().default("") });

const asked = z.object({
  response_type: z.string().default(""),
  code_challenge: z.string().default(""),
  code_challenge_method: z.string().default("plain"),
  scope: z.string().default("openid"),
  state: z.string().optional(),
  nonce: z.string().optional(),
  prompt: z.string().optional(),
});

type Asked = z.output<typeof asker> & z.output<typeof asked>;

/** What a code stands for, until it is used. */
interface Grant extends Place {
  readonly asked: Asked;
  readonly user: StoredUser;
  readonly until: number;
}

/** An error of RFC 6749, which the application receives. */
class OAuthError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Whether a redirect goes to a domain of the whitelist: an origin allows each path below it, the address of an app only
 * itself.
 */
function isAllowed({ project, integration }: Place, redirectUri: string): boolean {
  if (!URL.canParse(redirectUri)) return false;
  const { origin, hash, username, password } = new URL(redirectUri);
  if (hash !== "" || username !== "" || password !== "") return false;
  return project.domains.some(
    ({ domain, auth_provider }) =>
      auth_provider === integration.auth_provider && (domain === redirectUri || domain === origin),
  );
}

export function signInRoutes({ service, site, key }: { service: Service; site: Site; key: AcceptedKey }): Hono<Env> {
  const { store } = service;
  const grants = new Map<string, Grant>();
  const routes = new Hono<Env>();
  const BASE = "/auth/:auth_provider_project_id";

  routes.get(`${BASE}/.well-known/openid-configuration`, (context) => {
    const { integration } = placeOf(store, context);
    const origin = originFor(site, context);
    const issuer = issuerOf(integration, origin);
    const configuration = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: jwksUrlOf(integration, origin),
      response_types_supported: [SUPPORTED.response_type],
      response_modes_supported: ["query"],
      grant_types_supported: ["authorization_code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
      scopes_supported: ["openid", "email", "profile"],
      claims_supported: ["iss", "aud", "sub", "email", "name", "iat", "exp", "nonce"],
      code_challenge_methods_supported: [SUPPORTED.code_challenge_method],
      token_endpoint_auth_methods_supported: ["none"],
      authorization_response_iss_parameter_supported: true,
    };
    return Response.json(configuration, { headers: ANY_PAGE });
  });

  /** The request in the query or the form, with its integration. Errors of the client are sent to it by a redirect. */
  const authorize = (
    context: Context<Env>,
    given: Record<string, string>,
    answer: (place: Place, asked: Asked) => Response | Promise<Response>,
  ): Response | Promise<Response> => {
    const place = placeOf(store, context);
    const { client_id, redirect_uri } = asker.parse(given);
    const { auth_provider_project_id: ours } = place.integration;
    if (client_id !== ours)
      return refusalPage(context, `client_id must be ${ours}, the auth_provider_project_id of the integration`);
    if (!isAllowed(place, redirect_uri))
      return refusalPage(
        context,
        `the redirect_uri ${JSON.stringify(redirect_uri)} does not lead to a redirect domain of project ${place.project.id}. Its domains: ${place.project.domains.map(({ domain }) => domain).join(", ") || "none"}`,
      );
    const request: Asked = { client_id, redirect_uri, ...asked.parse(given) };
    try {
      if (request.response_type !== SUPPORTED.response_type)
        throw new OAuthError("unsupported_response_type", 'the emulator knows response_type "code" only');
      if (
        !/^[A-Za-z0-9_-]{43}$/.test(request.code_challenge) ||
        request.code_challenge_method !== SUPPORTED.code_challenge_method
      )
        throw new OAuthError("invalid_request", "PKCE is required: a code_challenge with code_challenge_method S256");
      if (request.prompt === "none")
        throw new OAuthError("login_required", "nobody is signed in: the emulator keeps no session");
      return answer(place, request);
    } catch (error) {
      if (error instanceof OAuthError)
        return back(context, place, request, { error: error.code, error_description: error.message });
      throw error;
    }
  };

  const back = (
    context: Context<Env>,
    { integration }: Place,
    { redirect_uri, state }: Asked,
    parameters: Record<string, string>,
  ): Response => {
    const target = new URL(redirect_uri);
    const all = {
      ...parameters,
      ...(state !== undefined && { state }),
      iss: issuerOf(integration, originFor(site, context)),
    };
    for (const [name, value] of Object.entries(all)) target.searchParams.set(name, value);
    return context.redirect(target.href, 303);
  };

  routes.get(`${BASE}/authorize`, (context) =>
    authorize(context, context.req.query(), ({ project }, request) =>
      signInPage(context, { project, asked: request, isLocal: site.isLocal }),
    ),
  );

  routes.post(`${BASE}/authorize`, refuseForeignPages(key), takeBody, (context) => {
    const given = Object.fromEntries(new URLSearchParams(context.get("body")));
    const { user: wanted = "", decision, api_key, ...rest } = given;
    return authorize(context, rest, (place, request) => {
      if (decision === "deny") throw new OAuthError("access_denied", "the user did not sign in");
      const again = (problem: string): Response | Promise<Response> =>
        signInPage(context, { project: place.project, asked: request, isLocal: site.isLocal, problem });
      // Without the key, anybody on the network could become a user.
      if (!site.isLocal && !key.is(api_key)) return again("That is not the API key of the emulator.");
      const user = place.project.users.find(isUser(wanted));
      if (user === undefined) return again("The project has no such user.");
      // Nobody has come for these.
      for (const [old, { until }] of grants) if (until < Date.now()) grants.delete(old);
      const code = randomBytes(24).toString("base64url");
      grants.set(code, { asked: request, ...place, user, until: Date.now() + CODE_LIFE_MS });
      return back(context, place, request, { code });
    });
  });

  routes.post(`${BASE}/token`, takeBody, async (context) => {
    const place = placeOf(store, context);
    try {
      const given = Object.fromEntries(new URLSearchParams(context.get("body")));
      const { asked: granted, user } = redeemed(place, given);
      const { scope, nonce } = granted;
      const about = {
        project_id: place.project.id,
        user: user.id,
        expires_in: TOKEN_LIFE_S,
        signature: "valid",
      } as const;
      const origin = originFor(site, context);
      const tokenWith = async (claims: Record<string, unknown>) =>
        (await signToken(service, { ...about, claims }, origin)).token;
      const answer = {
        access_token: await tokenWith({ scope }),
        ...(scope.split(" ").includes("openid") && { id_token: await tokenWith(nonce === undefined ? {} : { nonce }) }),
        token_type: "Bearer",
        expires_in: TOKEN_LIFE_S,
        scope,
      };
      return Response.json(answer, { headers: { ...ANY_PAGE, "cache-control": "no-store" } });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const body = { error: error.code, error_description: error.message };
      return Response.json(body, { status: 400, headers: ANY_PAGE });
    }
  });

  /** A code counts once, for the integration, the client and the address that it was issued for. */
  const redeemed = ({ project, integration }: Place, given: Record<string, string>): Grant => {
    const { grant_type, code = "", client_id, redirect_uri, code_verifier = "" } = given;
    if (grant_type !== "authorization_code")
      throw new OAuthError("unsupported_grant_type", 'the emulator knows grant_type "authorization_code" only');
    const grant = grants.get(code);
    grants.delete(code);
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
  };

  return routes;
}
