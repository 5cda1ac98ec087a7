import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type AuthKeysShape, type AuthKeysOutputs } from "./authKeysDeclaration";

export interface AuthKeysArgs extends ArgumentsOf<AuthKeysShape> {
  projectId: pulumi.Input<string>;
}

/**
 * An additional key set of an auth integration, for one application or for a rotation. Its Pulumi id is
 * `<project>/<auth provider>/<hash of the public key>`.
 *
 * A rotation creates the new set before it removes the old one from the state. **Neither a rotation nor destroying
 * revokes a key, because the service has no call for it. An old set stays valid** until the integration is deleted. A
 * set cannot be read again: a refresh keeps the stored set as long as the integration exists.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * const keys = new svc.AuthKeys("keys", { projectId: auth.projectId, rotationTriggers: ["2026-01"] });
 * export const serverKey = keys.secretServerKey;
 * ```
 */
export class AuthKeys extends resource<AuthKeysArgs, AuthKeysShape, AuthKeysOutputs>(declaration) {
  /** Refers to a key set by its id. It is not managed and has no keys, because the service does not show them again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthKeys {
    return new AuthKeys(name, NO_ARGUMENTS, { ...opts, id });
  }
}
