import { z } from "zod";
import { emptyResponse, jsonResponse, route, secretField } from "../http/bodies";
import { listRoute } from "../http/listRoute";
import { pathParameter, projectOf, type ApiRoute } from "../http/route";
import { defined, now, type StoredOAuthProvider, type StoredProject } from "../model/records";
import { conflict, invalid, notFound } from "../model/refusal";
import type { Service } from "../model/service";
import { findIntegration } from "../model/store";
import type { ResolvedOptions } from "../emulatorOptions";

const credential = z.string().min(1).optional();

const addBody = z
  .strictObject({
    id: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "is not the identifier of a provider"),
    client_id: credential,
    client_secret: credential,
  })
  .refine(
    ({ client_id, client_secret }) => (client_id === undefined) === (client_secret === undefined),
    "client_id and client_secret are given both or not at all",
  );

const updateBody = z.strictObject({ client_id: credential, client_secret: credential });

const view = (options: ResolvedOptions, { id, type, client_id, client_secret }: StoredOAuthProvider): object => ({
  id,
  type,
  ...defined({ client_id }),
  ...secretField(options, "client_secret", client_secret),
});

function findProvider(project: StoredProject, providerId: string): StoredOAuthProvider {
  const provider = project.oauth_providers.find(({ id }) => id === providerId);
  if (provider === undefined) throw notFound("OAuth provider not found");
  return provider;
}

const LIST = "/projects/{project_id}/auth/oauth_providers";
const ONE = "/projects/{project_id}/auth/oauth_providers/{oauth_provider_id}";

/** docs/design/api.md, OAuth providers. A list shows id and type only. */
export const oauthProviderRoutes = (service: Service): ApiRoute[] => [
  listRoute({
    service,
    name: "listOAuthProviders",
    summary: "List the OAuth providers of a project",
    template: LIST,
    records: (context) => {
      const project = projectOf(service, context);
      findIntegration(project);
      return service.listed(project.oauth_providers);
    },
    body: (page, pagination) => ({ providers: page.map(({ id, type }) => ({ id, type })), ...pagination }),
  }),
  route({
    name: "addOAuthProvider",
    summary: "Add an OAuth provider",
    method: "POST",
    template: LIST,
    body: addBody,
    success: [200],
    handler: (context, sent) => {
      const { id, ...credentials } = sent;
      const project = projectOf(service, context);
      findIntegration(project);
      const { anyOAuthProvider, oauthProviderIds } = service.options;
      if (!anyOAuthProvider && !oauthProviderIds.includes(id)) {
        throw invalid("id: this OAuth provider is not supported");
      }
      if (project.oauth_providers.some((other) => other.id === id)) throw conflict("the OAuth provider exists already");
      const type = credentials.client_id === undefined ? "shared" : "standard";
      const provider: StoredOAuthProvider = { id, type, ...defined(credentials), created_at: now() };
      project.oauth_providers.push(provider);
      return jsonResponse(service.options, view(service.options, provider));
    },
  }),
  route({
    name: "updateOAuthProvider",
    summary: "Change the credentials of an OAuth provider",
    method: "PATCH",
    template: ONE,
    body: updateBody,
    success: [200],
    handler: (context, sent) => {
      const change = defined(sent);
      const project = projectOf(service, context);
      findIntegration(project);
      const provider = findProvider(project, pathParameter(context, "oauth_provider_id"));
      const { client_id, client_secret } = { ...provider, ...change };
      if ((client_id === undefined) !== (client_secret === undefined)) {
        throw invalid("a provider with shared keys needs both client_id and client_secret");
      }
      Object.assign(provider, change);
      if (client_id !== undefined) provider.type = "standard";
      return jsonResponse(service.options, view(service.options, provider));
    },
  }),
  route({
    name: "deleteOAuthProvider",
    summary: "Delete an OAuth provider",
    method: "DELETE",
    template: ONE,
    success: [204],
    handler: (context) => {
      const project = projectOf(service, context);
      findIntegration(project);
      const provider = findProvider(project, pathParameter(context, "oauth_provider_id"));
      project.oauth_providers = project.oauth_providers.filter((other) => other !== provider);
      return emptyResponse(204);
    },
  }),
];
