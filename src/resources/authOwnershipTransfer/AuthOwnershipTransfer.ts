import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What a transfer of ownership is declared with (docs/design/api.md, Ownership transfer). Changing anything asks for another address. */
export interface AuthOwnershipTransferShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the transfer. */
  projectId: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the transfer.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Any values, for asking for another address when the first has expired. Changing this replaces the transfer.
   * @default []
   */
  triggers?: unknown[];
}

export type AuthOwnershipTransferArgs = ArgumentsOf<AuthOwnershipTransferShape>;

export interface AuthOwnershipTransferOutputs {
  /** Where the new owner confirms the transfer. Secret: whoever opens it can take the auth project over. */
  url: string;
  /** The project at the auth provider that is handed over. */
  authProviderProjectId?: string;
}

const ARGS = ["projectId", "authProvider", "triggers"] as const satisfies readonly (keyof AuthOwnershipTransferShape)[];

const OUTPUTS = ["url", "authProviderProjectId"] as const satisfies readonly (keyof AuthOwnershipTransferOutputs)[];

/**
 * The first step of handing the auth project over to an account of your own at the auth provider: it asks for the
 * address that the second step begins at, in a browser (docs/ownership-transfer.md). Its Pulumi id is
 * `<project>/<auth provider>/<hash of the address>`.
 *
 * Nothing is handed over before a person confirms it there. **Destroying does nothing at the service: an address that
 * was given out stays open, and a transfer that was confirmed is not taken back.** A refresh asks for no new address.
 */
export class AuthOwnershipTransfer extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly triggers: pulumi.Output<unknown[] | undefined>;
  declare readonly url: pulumi.Output<string>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: AuthOwnershipTransferArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      {
        kind: "AuthOwnershipTransfer",
        args: ARGS,
        outputs: OUTPUTS,
        secretOutputs: ["url"],
        deleteBeforeReplace: false,
      },
      name,
      args,
      opts,
    );
  }

  /** Looks at a transfer by its id; it is not managed then, and has no address: the service does not show it again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthOwnershipTransfer {
    return new AuthOwnershipTransfer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
