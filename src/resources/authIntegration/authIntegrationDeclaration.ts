import { claim, integrationObject } from "../../contract/claims";
import type { Declaration } from "../../contract/declaration";
import { nameForm } from "../../contract/forms";

/** What an auth integration is declared with (docs/design/api.md, Auth integration). */
export interface AuthIntegrationShape {
  /** The project. Changing this replaces the integration. */
  projectId: string;
  /**
   * The production branch (`br-…`), whose database holds the synced users. Changing this replaces the integration.
   * @default the branch that the service flags as default
   */
  branchId?: string;
  /**
   * The database on that branch which holds the synced users. Changing this replaces the integration.
   * @default "svcdb" (the service's)
   */
  databaseName?: string;
  /**
   * The Postgres role that the integration uses there. Changing this replaces the integration.
   * @default "svcdb_owner" (the service's)
   */
  roleName?: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the integration.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Takes over an integration that exists instead of failing. Its keys cannot be read, so a new key set is created; the
   * older ones stay valid. Changing this later has no effect.
   * @default false
   */
  adopt?: boolean;
  /**
   * While it is on, the integration cannot be deleted or replaced: the plan of a replacement fails, and a deletion is
   * refused before anything is sent. To delete it, first set `false` and run `pulumi up`, which sends nothing. The
   * service does not store it. The classes of pulumi-svc also set the option `protect: true`; see
   * docs/resources/AuthIntegration.md.
   * @default false
   */
  deletionProtection?: boolean;
}

/**
 * What the service returns in addition to the arguments, with the key set that the integration was created with
 * (docs/design/api.md, Auth keys).
 */
export interface AuthIntegrationOutputs {
  /** The project at the auth provider. */
  authProviderProjectId: string;
  /** The public key of the set, for the client side of an application. */
  pubClientKey: string;
  /** The server key of the set. Secret: always encrypted in the state. It cannot be read again later. */
  secretServerKey: string;
  /** The URL of the public keys that verify the auth provider's tokens. */
  jwksUrl: string;
  /** Schema of the table with the synced users. Without a key set (`get`, an import): the service's default. */
  schemaName?: string;
  /** Table with the synced users. Without a key set: the service's default. */
  tableName?: string;
  /** `svc` while the service manages the auth project, `user` after its ownership was transferred. */
  ownedBy?: string;
  /** The time of its creation. ISO 8601, UTC. */
  createdAt?: string;
  /** The branch whose database holds the synced users, even if the argument is left out. */
  branchId: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

export const declaration: Declaration<AuthIntegrationShape, AuthIntegrationOutputs> = {
  kind: "AuthIntegration",
  id: {
    parts: ["projectId", "authProvider"],
    form: "<project id>/<auth provider>",
    example: "prj-demo/supported_provider",
  },
  claims({ projectId, authProvider }, standard, givenNames) {
    // Without the argument, the provider of the settings is meant; an unknown one may be any.
    const named = givenNames.has("authProvider") ? authProvider : standard;
    const what = 'an auth integration with the same "projectId" and "authProvider"';
    return claim(what, integrationObject, projectId, named);
  },
  args: {
    projectId: { required: true, replaces: true, form: nameForm },
    branchId: { replaces: true, form: nameForm },
    databaseName: { replaces: true, standard: "svcdb", form: nameForm },
    roleName: { replaces: true, unreadable: true, form: nameForm },
    authProvider: { replaces: true, form: nameForm },
    adopt: { createOnly: true },
    // No request carries it, and omitting it turns it off.
    deletionProtection: { local: true, protects: true, assumed: false },
  },
  outputs: {
    authProviderProjectId: { identity: true },
    pubClientKey: {},
    secretServerKey: { secret: true },
    jwksUrl: {},
    schemaName: {},
    tableName: {},
    ownedBy: {},
    createdAt: {},
    branchId: {},
    authProvider: {},
  },
};
