import type { AuthIntegration } from "../client";

/** An auth integration as it stands (service.md 2.2). */
export interface AuthIntegrationResult {
  projectId: string;
  authProvider: string;
  /** The project at the auth provider. */
  authProviderProjectId: string;
  /** `br-…` */
  branchId: string;
  databaseName?: string | undefined;
  jwksUrl?: string | undefined;
  /** `svc` while the service manages the auth project, `user` after its ownership was transferred. */
  ownedBy?: string | undefined;
  /** ISO 8601, UTC. */
  createdAt?: string | undefined;
}

export function toAuthIntegrationResult(projectId: string, integration: AuthIntegration): AuthIntegrationResult {
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
