import type { AuthIntegrationRecord } from "../../client";
import { isSameName } from "../../contract/forms";
import { fresh, type Query } from "./query";
import type { AuthIntegrationResult, GetAuthIntegrationArgs, GetAuthIntegrationsArgs } from "./types";

export const getAuthIntegrationQuery: Query<GetAuthIntegrationArgs, AuthIntegrationResult> = {
  name: "getAuthIntegration",
  others: ["authProvider"],
  find: async ({ client, authProvider: standard }, { projectId, authProvider = standard }) => {
    const listed = await client.auth.integrations(projectId).list(fresh());
    const found = listed.find(({ auth_provider }) => isSameName(auth_provider, authProvider));
    if (found === undefined) throw new Error("the project has no auth integration with this auth provider");
    return toAuthIntegrationResult(projectId, found);
  },
};

export const getAuthIntegrationsQuery: Query<GetAuthIntegrationsArgs, AuthIntegrationResult[]> = {
  name: "getAuthIntegrations",
  others: [],
  find: async ({ client }, { projectId }) => {
    const listed = await client.auth.integrations(projectId).list(fresh());
    return listed.map((integration) => toAuthIntegrationResult(projectId, integration));
  },
};

function toAuthIntegrationResult(projectId: string, integration: AuthIntegrationRecord): AuthIntegrationResult {
  return {
    projectId,
    authProvider: integration.auth_provider,
    authProviderProjectId: integration.auth_provider_project_id,
    branchId: integration.branch_id,
    databaseName: integration.db_name,
    jwksUrl: integration.jwks_url,
    ownedBy: integration.owned_by,
    createdAt: integration.created_at,
  };
}
