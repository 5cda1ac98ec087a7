/** An auth integration as it stands (docs/design/api.md, Auth integration). */
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
  /** Where the auth provider publishes the keys that its tokens are verified with. */
  jwksUrl?: string | undefined;
  /** `svc` while the service manages the auth project, `user` after its ownership was transferred. */
  ownedBy?: string | undefined;
  /** When it was made. ISO 8601, UTC. */
  createdAt?: string | undefined;
}
