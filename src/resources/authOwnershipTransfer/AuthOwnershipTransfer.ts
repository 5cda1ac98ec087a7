import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import {
  declaration,
  type AuthOwnershipTransferShape,
  type AuthOwnershipTransferOutputs,
} from "./authOwnershipTransferDeclaration";

export interface AuthOwnershipTransferArgs extends ArgumentsOf<AuthOwnershipTransferShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The first step of transferring the auth project to your own account at the auth provider. It requests the URL with which
 * a person confirms the transfer in a browser (docs/resources/AuthOwnershipTransfer.md). Its Pulumi id is
 * `<project>/<auth provider>/<hash of the URL>`.
 *
 * Nothing is transferred until a person confirms it. **Destroying does nothing at the service: an issued URL stays
 * valid, and a confirmed transfer is not undone.** A refresh requests no new URL.
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
  /** Refers to a transfer by its id. It is not managed and has no URL, because the service does not show it again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthOwnershipTransfer {
    return new AuthOwnershipTransfer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
