import type * as pulumi from "@pulumi/pulumi";
import type { AuthIntegrationRecord } from "../client";
import type { ArgumentsOf } from "../program/inputs";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

/** An auth integration as the service shows it (docs/design/api.md, Auth integration). */
export interface AuthIntegrationResult {
  /** The project it belongs to. */
  projectId: string;
  /** The auth provider's short name. */
  authProvider: string;
  /** The project at the auth provider. */
  authProviderProjectId: string;
  /** The branch whose database holds the synced users (`br-…`). */
  branchId: string;
  /** The database on that branch which holds the synced users. */
  databaseName?: string | undefined;
  /** The URL of the public keys that verify the auth provider's tokens. */
  jwksUrl?: string | undefined;
  /** `svc` while the service manages the auth project, `user` after its ownership was transferred. */
  ownedBy?: string | undefined;
  /** The time of its creation. ISO 8601, UTC. */
  createdAt?: string | undefined;
}

export interface GetAuthIntegrationArgs extends ProjectLookupArgs {
  /** The auth provider's short name; the service supports one. @default the setting `svc:authProvider` */
  authProvider?: string;
}

const integration = lookup<GetAuthIntegrationArgs, AuthIntegrationResult>(
  "getAuthIntegration",
  ["authProvider"],
  async ({ client, authProvider: standard }, { projectId, authProvider = standard }) => {
    const listed = await client.auth.integrations(projectId).list(fresh());
    const found = listed.find(({ auth_provider }) => auth_provider === authProvider);
    if (found === undefined) throw new Error("the project has no auth integration with this auth provider");
    return toAuthIntegrationResult(projectId, found);
  },
);

/**
 * The auth integration of a project, without its keys: the service does not show them again. It is an error if the
 * project has none.
 */
export function getAuthIntegration(args: GetAuthIntegrationArgs, opts?: LookupOptions): Promise<AuthIntegrationResult> {
  return integration.promise(args, opts);
}

/** As `getAuthIntegration`, with arguments that may not be known yet. */
export function getAuthIntegrationOutput(
  args: ArgumentsOf<GetAuthIntegrationArgs>,
  opts?: LookupOptions,
): pulumi.Output<AuthIntegrationResult> {
  return integration.output(args, opts);
}

export type GetAuthIntegrationsArgs = ProjectLookupArgs;

const integrations = lookup<GetAuthIntegrationsArgs, AuthIntegrationResult[]>(
  "getAuthIntegrations",
  [],
  async ({ client }, { projectId }) => {
    const listed = await client.auth.integrations(projectId).list(fresh());
    return listed.map((integration) => toAuthIntegrationResult(projectId, integration));
  },
);

/** The auth integrations of a project, without their keys: the service does not show them again. */
export function getAuthIntegrations(
  args: GetAuthIntegrationsArgs,
  opts?: LookupOptions,
): Promise<AuthIntegrationResult[]> {
  return integrations.promise(args, opts);
}

/** As `getAuthIntegrations`, with arguments that may not be known yet. */
export function getAuthIntegrationsOutput(
  args: ArgumentsOf<GetAuthIntegrationsArgs>,
  opts?: LookupOptions,
): pulumi.Output<AuthIntegrationResult[]> {
  return integrations.output(args, opts);
}

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
