import type { Declaration } from "../../contract/declaration";
import { nameForm } from "../../contract/forms";

/**
 * What a transfer of ownership is declared with (docs/design/api.md, Ownership transfer). Each change requests another
 * URL.
 */
export interface AuthOwnershipTransferShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the transfer. */
  projectId: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the transfer.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Any values, to request another URL when the first has expired. Changing this replaces the transfer.
   * @default []
   */
  triggers?: unknown[];
}

export interface AuthOwnershipTransferOutputs {
  /** Where the new owner confirms the transfer. Secret: whoever opens it can take over the auth project. */
  url: string;
  /** The project at the auth provider that is transferred. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
}

export const declaration: Declaration<AuthOwnershipTransferShape, AuthOwnershipTransferOutputs> = {
  kind: "AuthOwnershipTransfer",
  id: {
    parts: ["projectId", "authProvider", "hash"],
    form: "<project id>/<auth provider>/<hash of the URL>",
    example: "prj-demo/supported_provider/0123456789ab",
  },
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    authProvider: { replaces: true, form: nameForm },
    triggers: { replaces: true, assumed: [] },
  },
  outputs: {
    url: { secret: true },
    authProviderProjectId: { identity: true },
    authProvider: {},
  },
};
