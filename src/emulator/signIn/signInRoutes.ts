/**
 * Sign-in of a project's users: an authorization code with PKCE (RFC 6749, RFC 7636) and discovery (OpenID Connect
 * Discovery 1.0), signed with the emulator's keys. This is the emulator's own way: the service documents none
 * (docs/emulator.md, Sign-in).
 */
import { Hono, type Context } from "hono";
import { isUser, signToken } from "../control/tokens";
import { refuseForeignPages, originFor, type AcceptedKey, type Site } from "../http/access";
import { takeBody } from "../http/bodies";
import { ANY_PAGE, issuerOf, jwksUrlOf, placeOf, type Place } from "../http/keySet";
import type { Env } from "../http/route";
import { SIGNING_ALGORITHMS } from "../model/records";
import type { Service } from "../model/service";
import { type Asked, asked, asker, Grants, OAuthError, requireSupported, SUPPORTED } from "./grants";
import { refusalPage, signInPage } from "./signInPage";

const TOKEN_LIFE_S = 3_600;

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

interface SignInContext {
  readonly service: Service;
  readonly site: Site;
  readonly key: AcceptedKey;
}

type Answer = Response | Promise<Response>;

export function signInRoutes(context: SignInContext): Hono<Env> {
  const signIn = new SignIn(context);
  const base = "/auth/:auth_provider_project_id";
  return new Hono<Env>()
    .get(`${base}/.well-known/openid-configuration`, (request) => signIn.discover(request))
    .get(`${base}/authorize`, (request) => signIn.show(request))
    .post(`${base}/authorize`, refuseForeignPages(context.key), takeBody, (request) => signIn.decide(request))
    .post(`${base}/token`, takeBody, (request) => signIn.exchange(request));
}

class SignIn {
  readonly #grants = new Grants();

  constructor(private readonly context: SignInContext) {}

  #place(context: Context<Env>): Place {
    return placeOf(this.context.service.store, context);
  }

  discover(context: Context<Env>): Response {
    const { integration } = this.#place(context);
    const origin = originFor(this.context.site, context);
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
  }

  /** The page that asks for a user. */
  show(context: Context<Env>): Answer {
    return this.#authorize(context, context.req.query(), (place, request) => this.#page(context, place, request));
  }

  /** What the page has sent: a user, or none. */
  decide(context: Context<Env>): Answer {
    const given = Object.fromEntries(new URLSearchParams(context.get("body")));
    const { user: wanted = "", decision, api_key, ...rest } = given;
    const { site, key } = this.context;
    return this.#authorize(context, rest, (place, request) => {
      if (decision === "deny") throw new OAuthError("access_denied", "the user did not sign in");
      // Without the key, anybody on the network could become a user.
      if (!site.isLocal && !key.is(api_key))
        return this.#page(context, place, request, "That is not the API key of the emulator.");
      const user = place.project.users.find(isUser(wanted));
      if (user === undefined) return this.#page(context, place, request, "The project has no such user.");
      return this.#back(context, place, request, { code: this.#grants.issue({ asked: request, ...place, user }) });
    });
  }

  /** A code for tokens. */
  async exchange(context: Context<Env>): Promise<Response> {
    const place = this.#place(context);
    try {
      const given = Object.fromEntries(new URLSearchParams(context.get("body")));
      const { asked: granted, user } = this.#grants.redeem(place, given);
      const answer = await this.#tokens(granted, {
        project_id: place.project.id,
        user: user.id,
        origin: originFor(this.context.site, context),
      });
      return Response.json(answer, { headers: { ...ANY_PAGE, "cache-control": "no-store" } });
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const body = { error: error.code, error_description: error.message };
      return Response.json(body, { status: 400, headers: ANY_PAGE });
    }
  }

  async #tokens({ scope, nonce }: Asked, { origin, ...of }: { project_id: string; user: string; origin: string }) {
    const about = { ...of, expires_in: TOKEN_LIFE_S, signature: "valid" } as const;
    const tokenWith = async (claims: Record<string, unknown>) =>
      (await signToken(this.context.service, { ...about, claims }, origin)).token;
    return {
      access_token: await tokenWith({ scope }),
      ...(scope.split(" ").includes("openid") && { id_token: await tokenWith(nonce === undefined ? {} : { nonce }) }),
      token_type: "Bearer",
      expires_in: TOKEN_LIFE_S,
      scope,
    };
  }

  /** The request in the query or the form, with its integration. Errors of the client are sent to it by a redirect. */
  #authorize(
    context: Context<Env>,
    given: Record<string, string>,
    answer: (place: Place, asked: Asked) => Answer,
  ): Answer {
    const place = this.#place(context);
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
      requireSupported(request);
      return answer(place, request);
    } catch (error) {
      if (error instanceof OAuthError)
        return this.#back(context, place, request, { error: error.code, error_description: error.message });
      throw error;
    }
  }

  #page(context: Context<Env>, { project }: Place, request: Asked, problem?: string): Answer {
    const { isLocal } = this.context.site;
    return signInPage(context, { project, asked: request, isLocal, ...(problem !== undefined && { problem }) });
  }

  #back(
    context: Context<Env>,
    { integration }: Place,
    { redirect_uri, state }: Asked,
    parameters: Record<string, string>,
  ): Response {
    const target = new URL(redirect_uri);
    const all = {
      ...parameters,
      ...(state !== undefined && { state }),
      iss: issuerOf(integration, originFor(this.context.site, context)),
    };
    for (const [name, value] of Object.entries(all)) target.searchParams.set(name, value);
    return context.redirect(target.href, 303);
  }
}
