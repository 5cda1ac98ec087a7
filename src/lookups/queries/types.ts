/** What the look-up functions take and return. Alone, so that the published types need no zod. */

/** The argument that every function has. */
export interface ProjectLookupArgs {
  /** The project. */
  projectId: string;
}

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

export type GetAuthIntegrationsArgs = ProjectLookupArgs;

/** A branch of a project. */
export interface BranchResult {
  /** The branch's id (`br-…`). */
  branchId: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** Whether it is the one that an auth integration belongs to (docs/design/api.md, Auth integration). */
  default: boolean;
  /** A state such as `ready`; the service may have others. */
  currentState?: string | undefined;
  /** The time of its creation. ISO 8601, UTC. */
  createdAt?: string | undefined;
}

export type GetBranchesArgs = ProjectLookupArgs;

export type GetDefaultBranchArgs = ProjectLookupArgs;

/** A compute as the service shows it (docs/design/api.md, Compute record), with its current state. */
export interface ComputeEndpointResult {
  /** The project it belongs to. */
  projectId: string;
  /** The compute's id (`ep-…`). */
  endpointId: string;
  /** The branch it serves (`br-…`). */
  branchId: string;
  /** `read_write` for the branch's primary, `read_only` for a replica. */
  type: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** The host name to connect to. */
  host: string;
  /** The host name of the connection pooler. */
  pooledHost: string;
  /** The host name that `host` ends in: `<endpoint id>.<proxy host>`. */
  proxyHost?: string | undefined;
  /** The project's region. */
  regionId?: string | undefined;
  /** The smallest size in compute units (CU); equal to the largest for a fixed size. */
  autoscalingLimitMinCu?: number | undefined;
  /** The largest size in CU. */
  autoscalingLimitMaxCu?: number | undefined;
  /**
   * The number of seconds without a query after which it is suspended. 0: the service's default of 300 s; -1: never.
   * @integer
   */
  suspendTimeoutSeconds?: number | undefined;
  /** Whether the connection pooler is on. */
  poolerEnabled?: boolean | undefined;
  /** How the pooler shares connections, such as `transaction`. */
  poolerMode?: string | undefined;
  /** A disabled compute is suspended, and no query wakes it. */
  disabled?: boolean | undefined;
  /** Whether the service allows access to it without a password. */
  passwordlessAccess?: boolean | undefined;
  /** The kind of infrastructure at the service that runs it. */
  provisioner?: string | undefined;
  /** What it was created with, such as `console`. */
  creationSource?: string | undefined;
  /** `init`, `active` or `idle`; the service may have others. */
  currentState: string;
  /** The state that it is changing to. */
  pendingState?: string | undefined;
  /** The time of its last use; absent if it was never used. ISO 8601, UTC, like all times here. */
  lastActive?: string | undefined;
  /** The time since which it is idle. */
  suspendedAt?: string | undefined;
  /** The time of its creation. */
  createdAt?: string | undefined;
  /** The time of its last change. */
  updatedAt?: string | undefined;
}

export interface GetComputeEndpointArgs extends ProjectLookupArgs {
  /** The compute (`ep-…`). Give this or `branchId`. */
  endpointId?: string;
  /** The branch (`br-…`) whose primary compute to look up. Give this or `endpointId`. */
  branchId?: string;
}

export interface GetComputeEndpointsArgs extends ProjectLookupArgs {
  /** Only those of this branch (`br-…`). */
  branchId?: string;
}

export type GetEmailServerArgs = ProjectLookupArgs;

/** The e-mail server (docs/design/api.md, Email server). A shared one has only a type. */
export interface EmailServerResult {
  /** `shared`: that of the service; `standard`: your own SMTP server. */
  type: string;
  /** Host name of the SMTP server. */
  host?: string | undefined;
  /** Port of the SMTP server. @integer */
  port?: number | undefined;
  /** The user name at the SMTP server. */
  username?: string | undefined;
  /** The sender address of the mail. */
  senderEmail?: string | undefined;
  /** The sender name of the mail. */
  senderName?: string | undefined;
}

/** The e-mail server with its password. */
export interface EmailServerOutputResult extends EmailServerResult {
  /** The password of `username`. Secret. Absent if the service does not show it. */
  password?: string | undefined;
}

export type GetOAuthProvidersArgs = ProjectLookupArgs;

/** An OAuth provider as the service lists it (docs/design/api.md, OAuth providers). */
export interface OAuthProviderResult {
  /** Its short name, such as `google`. */
  providerId: string;
  /** `shared`: the keys of the service; `standard`: your own keys. */
  type: string;
}

export type GetWhitelistDomainsArgs = ProjectLookupArgs;

/** A domain that users may be sent back to (docs/design/api.md, Redirect domains). */
export interface WhitelistDomainResult {
  /** An origin, in the spelling that the service stores. */
  domain: string;
  /** The auth provider's short name. */
  authProvider?: string | undefined;
}
