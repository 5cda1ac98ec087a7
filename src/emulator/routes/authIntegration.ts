import { createIntegrationBody, createUserBody, deleteIntegrationBody, integrationBody } from "./authChecks";
import { answer, emptyAnswer, listed, pathParameter, readBody, readOptionalBody } from "../http/bodies";
import { hashed, newId, newSecret, now } from "../model/identifiers";
import type { IntegrationRecord, ProjectRecord } from "../model/records";
import { sharedOAuthProviders } from "../model/seed";
import type { Route, Service } from "../model/service";
import { findBranch, findIntegration, removeIntegration } from "../model/store";
import { integrationView } from "./views";
import { badRequest, conflict, notFound } from "../http/errors";

/** Default schema and table of the synced users (docs/design/api.md, Auth keys). */
const SCHEMA_NAME = "svc_auth";
const TABLE_NAME = "users_sync";

export function requireSupportedProvider({ options }: Service, authProvider: string): void {
  if (authProvider !== options.authProvider) throw badRequest("auth_provider: this auth provider is not supported");
}

export function newIntegration(
  authProvider: string,
  branchId: string,
  dbName: string,
  role: string,
): IntegrationRecord {
  const authProjectId = newId();
  return {
    auth_provider: authProvider,
    auth_provider_project_id: authProjectId,
    branch_id: branchId,
    db_name: dbName,
    role_name: role,
    created_at: now(),
    owned_by: "svc",
    jwks_url: `https://auth.svc.localhost/api/v1/projects/${authProjectId}/.well-known/jwks.json`,
  };
}

/** A new key set; older ones stay valid (docs/design/api.md, Auth keys). */
function issueKeys(project: ProjectRecord, integration: IntegrationRecord): object {
  const publicKey = newSecret("pck");
  const secretKey = newSecret("ssk");
  project.key_sets.push({
    auth_provider: integration.auth_provider,
    pub_client_key: publicKey,
    secret_server_key: hashed(secretKey),
    created_at: now(),
  });
  return {
    auth_provider: integration.auth_provider,
    auth_provider_project_id: integration.auth_provider_project_id,
    pub_client_key: publicKey,
    secret_server_key: secretKey,
    jwks_url: integration.jwks_url,
    schema_name: SCHEMA_NAME,
    table_name: TABLE_NAME,
  };
}

export const authIntegrationRoutes = (service: Service): Route[] => [
  {
    method: "POST",
    template: "/projects/auth/create",
    handler: async (context) => {
      const sent = await readBody(context, createIntegrationBody);
      requireSupportedProvider(service, sent.auth_provider);
      const project = service.store.project(sent.project_id);
      const branch = findBranch(project, sent.branch_id);
      // The branch flagged default in the branch list (docs/design/api.md, Auth integration).
      if (!branch.default && !service.options.anyAuthBranch) {
        throw badRequest("branch_id: an integration belongs to the production branch, the one flagged as default");
      }
      if (project.integrations.some(({ auth_provider }) => auth_provider === sent.auth_provider)) {
        throw conflict("the project already has an integration with this auth provider");
      }
      if (project.kept_schemas.includes(`${sent.branch_id}/${sent.database_name}`)) {
        throw conflict(`schema "${SCHEMA_NAME}" already exists in the database`);
      }
      const integration = newIntegration(sent.auth_provider, sent.branch_id, sent.database_name, sent.role_name);
      project.integrations.push(integration);
      project.oauth_providers = sharedOAuthProviders();
      return answer(service.options, issueKeys(project, integration), 201);
    },
  },
  {
    method: "GET",
    template: "/projects/{project_id}/auth/integrations",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      return answer(service.options, { data: listed(service.options, project.integrations).map(integrationView) });
    },
  },
  {
    method: "POST",
    template: "/projects/auth/keys",
    handler: async (context) => {
      const sent = await readBody(context, integrationBody);
      requireSupportedProvider(service, sent.auth_provider);
      const project = service.store.project(sent.project_id);
      return answer(service.options, issueKeys(project, findIntegration(project, sent.auth_provider)), 201);
    },
  },
  {
    method: "POST",
    template: "/projects/auth/user",
    handler: async (context) => {
      const sent = await readBody(context, createUserBody);
      requireSupportedProvider(service, sent.auth_provider);
      const project = service.store.project(sent.project_id);
      findIntegration(project, sent.auth_provider);
      const address = sent.email.toLowerCase();
      if (project.users.some(({ email }) => email.toLowerCase() === address)) {
        throw conflict("a user with this email exists already");
      }
      const user = { id: newId(), email: sent.email, created_at: now() };
      project.users.push(sent.name === undefined ? user : { ...user, name: sent.name });
      return answer(service.options, { id: user.id }, 201);
    },
  },
  {
    method: "DELETE",
    template: "/projects/{project_id}/auth/users/{auth_user_id}",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const userId = pathParameter(context, "auth_user_id");
      if (!project.users.some(({ id }) => id === userId)) throw notFound("user not found");
      project.users = project.users.filter(({ id }) => id !== userId);
      return emptyAnswer(204);
    },
  },
  {
    method: "POST",
    template: "/projects/auth/transfer_ownership",
    handler: async (context) => {
      const sent = await readBody(context, integrationBody);
      requireSupportedProvider(service, sent.auth_provider);
      const integration = findIntegration(service.store.project(sent.project_id), sent.auth_provider);
      const token = newId();
      // Only the hash is kept, so a url cannot be answered twice: each call makes one, and all stay good.
      integration.transfer_token_hashes = [...(integration.transfer_token_hashes ?? []), hashed(token)];
      return answer(service.options, { url: `${service.origin()}/_emulator/transfer/${token}` });
    },
  },
  {
    method: "DELETE",
    template: "/projects/{project_id}/auth/integration/{auth_provider}",
    handler: async (context) => {
      const sent = await readOptionalBody(context, deleteIntegrationBody);
      const project = service.store.project(pathParameter(context, "project_id"));
      const integration = findIntegration(project, pathParameter(context, "auth_provider"));
      removeIntegration(project, integration.auth_provider);
      if (service.options.keepSchemas && sent?.delete_data !== true) {
        project.kept_schemas.push(`${integration.branch_id}/${integration.db_name}`);
      }
      return emptyAnswer(200);
    },
  },
];
