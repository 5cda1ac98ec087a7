import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What an auth integration is declared with (docs/design/api.md, Auth integration). Changing anything but `adopt` replaces it. */
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
   * Takes over an integration that exists instead of failing. Its keys cannot be read, so a new key set is made; the
   * older ones stay valid. Changing this later has no effect.
   * @default false
   */
  adopt?: boolean;
}

export type AuthIntegrationArgs = ArgumentsOf<AuthIntegrationShape>;

/** What the service says of an integration besides its arguments: the key set of its creation (docs/design/api.md, Auth keys). */
export interface AuthIntegrationOutputs {
  /** The project at the auth provider. */
  authProviderProjectId: string;
  /** The public key of the set, for the client side of an application. */
  pubClientKey: string;
  /** The server key of the set. Secret: always encrypted in the state. It cannot be read again later. */
  secretServerKey: string;
  /** Where the auth provider publishes the keys that its tokens are verified with. */
  jwksUrl: string;
  /** Schema of the table with the synced users. */
  schemaName?: string;
  /** Table with the synced users. */
  tableName?: string;
  /** `svc` while the service manages the auth project, `user` after its ownership was transferred. */
  ownedBy?: string;
  /** When it was made. ISO 8601, UTC. */
  createdAt?: string;
}

const ARGS = [
  "projectId",
  "branchId",
  "databaseName",
  "roleName",
  "authProvider",
  "adopt",
] as const satisfies readonly (keyof AuthIntegrationShape)[];

const OUTPUTS = [
  "authProviderProjectId",
  "pubClientKey",
  "secretServerKey",
  "jwksUrl",
  "schemaName",
  "tableName",
  "ownedBy",
  "createdAt",
] as const satisfies readonly (keyof AuthIntegrationOutputs)[];

/**
 * The managed auth of a project: an auth project at the external provider, bound to a branch and a database. Its Pulumi
 * id is `<project>/<auth provider>`.
 *
 * Destroying deletes it at the service, with its OAuth providers, redirect domains, users and e-mail settings. The
 * schema with the synced users may stay in the database; the service then refuses to create the integration again
 * there until the schema is dropped.
 *
 * Give its `projectId` output to everything that lives in it, so that a replaced integration brings its children back.
 * The program of examples/quickstart declares one.
 */
export class AuthIntegration extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly branchId: pulumi.Output<string>;
  declare readonly databaseName: pulumi.Output<string | undefined>;
  declare readonly roleName: pulumi.Output<string | undefined>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly adopt: pulumi.Output<boolean | undefined>;
  declare readonly authProviderProjectId: pulumi.Output<string>;
  declare readonly pubClientKey: pulumi.Output<string>;
  declare readonly secretServerKey: pulumi.Output<string>;
  declare readonly jwksUrl: pulumi.Output<string>;
  declare readonly schemaName: pulumi.Output<string | undefined>;
  declare readonly tableName: pulumi.Output<string | undefined>;
  declare readonly ownedBy: pulumi.Output<string | undefined>;
  declare readonly createdAt: pulumi.Output<string | undefined>;

  constructor(name: string, args: AuthIntegrationArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      {
        kind: "AuthIntegration",
        args: ARGS,
        outputs: OUTPUTS,
        secretOutputs: ["secretServerKey"],
        deleteBeforeReplace: true,
      },
      name,
      args,
      opts,
    );
  }

  /** Looks an integration up by its id `<project>/<auth provider>`; it is not managed then, and has no keys. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthIntegration {
    return new AuthIntegration(name, NO_ARGUMENTS, { ...opts, id });
  }
}
