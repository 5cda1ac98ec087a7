import { addOAuthProviderBody, updateOAuthProviderBody } from "./authChecks";
import { answer, defined, emptyAnswer, listed, pathParameter, readBody } from "../http/bodies";
import { now } from "../model/identifiers";
import type { OAuthProviderRecord, ProjectRecord } from "../model/records";
import type { Route, Service } from "../model/service";
import { findIntegration } from "../model/store";
import { oauthProviderView } from "./views";
import { badRequest, conflict, notFound } from "../http/errors";

/** The first three are described, the others assumed (docs/design/api.md, OAuth providers). */
const KNOWN: ReadonlySet<string> = new Set([
  ...["google", "github", "microsoft"],
  ...["apple", "bitbucket", "discord", "facebook", "gitlab", "linkedin", "spotify", "twitch"],
]);

function findProvider(project: ProjectRecord, providerId: string): OAuthProviderRecord {
  const provider = project.oauth_providers.find(({ id }) => id === providerId);
  if (provider === undefined) throw notFound("OAuth provider not found");
  return provider;
}

/** docs/design/api.md, OAuth providers. A list shows id and type only. */
export const oauthProviderRoutes = (service: Service): Route[] => [
  {
    method: "GET",
    template: "/projects/{project_id}/auth/oauth_providers",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const providers = listed(service.options, project.oauth_providers).map(({ id, type }) => ({ id, type }));
      return answer(service.options, { providers });
    },
  },
  {
    method: "POST",
    template: "/projects/{project_id}/auth/oauth_providers",
    handler: async (context) => {
      const sent = await readBody(context, addOAuthProviderBody);
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      if (!service.options.anyOAuthProvider && !KNOWN.has(sent.id))
        throw badRequest("id: this OAuth provider is not supported");
      if (project.oauth_providers.some(({ id }) => id === sent.id)) throw conflict("the OAuth provider exists already");
      const { id, ...credentials } = sent;
      const type = sent.client_id === undefined ? "shared" : "standard";
      const provider: OAuthProviderRecord = { id, type, ...defined(credentials), created_at: now() };
      project.oauth_providers.push(provider);
      return answer(service.options, oauthProviderView(service.options, provider));
    },
  },
  {
    method: "PATCH",
    template: "/projects/{project_id}/auth/oauth_providers/{oauth_provider_id}",
    handler: async (context) => {
      const sent = defined(await readBody(context, updateOAuthProviderBody));
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const provider = findProvider(project, pathParameter(context, "oauth_provider_id"));
      const { client_id, client_secret } = { ...provider, ...sent };
      if ((client_id === undefined) !== (client_secret === undefined)) {
        throw badRequest("a provider with shared keys needs both client_id and client_secret");
      }
      Object.assign(provider, sent);
      if (client_id !== undefined) provider.type = "standard";
      return answer(service.options, oauthProviderView(service.options, provider));
    },
  },
  {
    method: "DELETE",
    template: "/projects/{project_id}/auth/oauth_providers/{oauth_provider_id}",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const provider = findProvider(project, pathParameter(context, "oauth_provider_id"));
      project.oauth_providers = project.oauth_providers.filter((other) => other !== provider);
      return emptyAnswer(204);
    },
  },
];
