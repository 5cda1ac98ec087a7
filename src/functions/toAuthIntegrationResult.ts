import type { AuthIntegrationRecord } from "../client";
import type { AuthIntegrationResult } from "./authIntegrationResult";

export function toAuthIntegrationResult(projectId: string, integration: AuthIntegrationRecord): AuthIntegrationResult {
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
