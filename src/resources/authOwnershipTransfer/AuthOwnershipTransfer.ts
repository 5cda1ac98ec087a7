import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type AuthOwnershipTransferShape, type AuthOwnershipTransferOutputs } from "./declaration";

export interface AuthOwnershipTransferArgs extends ArgumentsOf<AuthOwnershipTransferShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The first step of handing the auth project over to an account of your own at the auth provider: it asks for the
 * address that the second step begins at, in a browser (docs/ownership-transfer.md). Its Pulumi id is
 * `<project>/<auth provider>/<hash of the address>`.
 *
 * Nothing is handed over before a person confirms it there. **Destroying does nothing at the service: an address that
 * was given out stays open, and a transfer that was confirmed is not taken back.** A refresh asks for no new address.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * const transfer = new svc.AuthOwnershipTransfer("transfer", { projectId: auth.projectId });
 * export const url = transfer.url;
 * ```
 */
export class AuthOwnershipTransfer extends resource<
  AuthOwnershipTransferArgs,
  AuthOwnershipTransferShape,
  AuthOwnershipTransferOutputs
>(declaration) {
  /** Looks at a transfer by its id; it is not managed then, and has no address: the service does not show it again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthOwnershipTransfer {
    return new AuthOwnershipTransfer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
