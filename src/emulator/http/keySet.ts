import type { Context } from "hono";
import type { StoredIntegration, StoredProject } from "../model/records";
import { notFound } from "../model/refusal";
import type { Service } from "../model/service";
import type { Store } from "../model/store";
import type { Env } from "./route";

const END = "/.well-known/jwks.json";

/** Where the key set of an integration is served. It is public, as usual, and needs no API key. */
export const KEY_SET_PATH = `/auth/:auth_provider_project_id${END}`;

/** Of answers that hold nothing to protect from pages of an application, which fetch them. */
export const ANY_PAGE = { "access-control-allow-origin": "*" };

type AuthProject = Pick<StoredIntegration, "auth_provider_project_id">;

/**
 * The issuer of an integration's tokens: the emulator itself, in `iss`. `origin`: its address as the client sees it.
 */
export const issuerOf = ({ auth_provider_project_id }: AuthProject, origin: string): string =>
  `${origin}/auth/${encodeURIComponent(auth_provider_project_id)}`;

/** The address of the key set, unless an edit or an earlier version of the emulator has set another. */
export const jwksUrlOf = (integration: StoredIntegration, origin: string): string =>
  integration.jwks_url ?? `${issuerOf(integration, origin)}${END}`;

/** An integration, with its project. */
export interface Place {
  readonly project: StoredProject;
  readonly integration: StoredIntegration;
}

/** The integration in the path. */
export function placeOf({ projects }: Store, context: Context<Env>): Place {
  const wanted = context.req.param("auth_provider_project_id");
  for (const project of projects) {
    const integration = project.integrations.find((one) => one.auth_provider_project_id === wanted);
    if (integration !== undefined) return { project, integration };
  }
  throw notFound("there is no auth integration with this id");
}

/** Responds with the key set of the integration in the path. */
export const serveKeySet =
  ({ store, signingKeys }: Service) =>
  async (context: Context<Env>): Promise<Response> => {
    const { integration } = placeOf(store, context);
    return Response.json(await signingKeys.publicSet(integration), { headers: ANY_PAGE });
  };
