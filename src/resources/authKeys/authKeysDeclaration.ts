import type { Declaration } from "../../contract/declaration";
import { nameForm } from "../../contract/forms";

/** What a key set is declared with (docs/design/api.md, Auth keys). Each change creates another set. */
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

/** The key set (docs/design/api.md, Auth keys). */
export interface AuthKeysOutputs {
  /** The public key of the set, for the client side of an application. */
  pubClientKey: string;
  /** The server key of the set. Secret: always encrypted in the state. It cannot be read again later. */
  secretServerKey: string;
  /** The URL of the public keys that verify the auth provider's tokens. */
  jwksUrl: string;
  /** Schema of the table with the synced users. */
  schemaName?: string;
  /** Table with the synced users. */
  tableName?: string;
  /** The project at the auth provider. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

export const declaration: Declaration<AuthKeysShape, AuthKeysOutputs> = {
  kind: "AuthKeys",
  id: {
    parts: ["projectId", "authProvider", "hash"],
    form: "<project id>/<auth provider>/<hash of the public key>",
    example: "prj-demo/supported_provider/0123456789ab",
  },
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    authProvider: { replaces: true, form: nameForm },
    rotationTriggers: { replaces: true, assumed: [] },
  },
  outputs: {
    pubClientKey: {},
    secretServerKey: { secret: true },
    jwksUrl: {},
    schemaName: {},
    tableName: {},
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};
