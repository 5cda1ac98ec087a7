import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What a key set is declared with (docs/design/api.md, Auth keys). Changing anything makes another set. */
export interface AuthKeysShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the key set. */
  projectId: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the key set.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Any values, such as the month of the last rotation. Changing this replaces the key set.
   * @default []
   */
  rotationTriggers?: unknown[];
}

export type AuthKeysArgs = ArgumentsOf<AuthKeysShape>;

/** The key set (docs/design/api.md, Auth keys). */
export interface AuthKeysOutputs {
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
  /** The project at the auth provider. */
  authProviderProjectId?: string;
}

const ARGS = ["projectId", "authProvider", "rotationTriggers"] as const satisfies readonly (keyof AuthKeysShape)[];

const OUTPUTS = [
  "pubClientKey",
  "secretServerKey",
  "jwksUrl",
  "schemaName",
  "tableName",
  "authProviderProjectId",
] as const satisfies readonly (keyof AuthKeysOutputs)[];

/**
 * A key set of an auth integration, besides the one of its creation: for an application of its own, or to rotate. Its
 * Pulumi id is `<project>/<auth provider>/<hash of the public key>`.
 *
 * A rotation makes the new set before it forgets the old one. **Neither a rotation nor destroying revokes a key: the
 * service has no call for it, so whoever holds an old set goes on using it** until the integration is deleted. Nor can
 * a set be read again: a refresh keeps what is stored as long as its integration stands.
 */
export class AuthKeys extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly rotationTriggers: pulumi.Output<unknown[] | undefined>;
  declare readonly pubClientKey: pulumi.Output<string>;
  declare readonly secretServerKey: pulumi.Output<string>;
  declare readonly jwksUrl: pulumi.Output<string>;
  declare readonly schemaName: pulumi.Output<string | undefined>;
  declare readonly tableName: pulumi.Output<string | undefined>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: AuthKeysArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      {
        kind: "AuthKeys",
        args: ARGS,
        outputs: OUTPUTS,
        secretOutputs: ["secretServerKey"],
        deleteBeforeReplace: false,
      },
      name,
      args,
      opts,
    );
  }

  /** Looks at a key set by its id; it is not managed then, and has no keys: the service does not show them again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthKeys {
    return new AuthKeys(name, NO_ARGUMENTS, { ...opts, id });
  }
}
