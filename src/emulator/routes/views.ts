import type { ResolvedOptions } from "../options";
import type {
  BranchRecord,
  EmailServerRecord,
  IntegrationRecord,
  OAuthProviderRecord,
  OperationRecord,
  ProjectRecord,
} from "../model/records";

/** How a stored secret comes back: as it is, masked, or not at all. */
function secretField(options: ResolvedOptions, name: string, value: string | undefined): Record<string, string> {
  if (value === undefined || options.secretAnswers === "absent") return {};
  return { [name]: options.secretAnswers === "masked" ? "****" : value };
}

export const projectView = ({ id, name, region_id, created_at }: ProjectRecord): object => ({
  id,
  name,
  region_id,
  created_at,
  updated_at: created_at,
});

export const branchView = (project: ProjectRecord, branch: BranchRecord): object => ({
  id: branch.id,
  project_id: project.id,
  name: branch.name,
  default: branch.default,
  current_state: "ready",
  created_at: branch.created_at,
  updated_at: branch.created_at,
});

export function operationView({ run, ...operation }: OperationRecord): object {
  const elapsed =
    operation.status === "running" ? Date.now() - (run.started_ms ?? Date.now()) : operation.total_duration_ms;
  return { ...operation, total_duration_ms: elapsed };
}

export const integrationView = (integration: IntegrationRecord): object => ({
  auth_provider: integration.auth_provider,
  auth_provider_project_id: integration.auth_provider_project_id,
  branch_id: integration.branch_id,
  db_name: integration.db_name,
  created_at: integration.created_at,
  owned_by: integration.owned_by,
  jwks_url: integration.jwks_url,
});

export const oauthProviderView = (options: ResolvedOptions, provider: OAuthProviderRecord): object => ({
  id: provider.id,
  type: provider.type,
  ...(provider.client_id === undefined ? {} : { client_id: provider.client_id }),
  ...secretField(options, "client_secret", provider.client_secret),
});

export function emailServerView(options: ResolvedOptions, server: EmailServerRecord): object {
  if (server.type === "shared") return { type: "shared" };
  const { password, ...rest } = server;
  return { ...rest, ...secretField(options, "password", password) };
}
