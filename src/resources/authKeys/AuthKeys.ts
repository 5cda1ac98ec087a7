import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type AuthKeysShape, type AuthKeysOutputs } from "./declaration";

export interface AuthKeysArgs extends ArgumentsOf<AuthKeysShape> {
  projectId: pulumi.Input<string>;
}

/**
 * A key set of an auth integration, besides the one of its creation: for an application of its own, or to rotate. Its
 * Pulumi id is `<project>/<auth provider>/<hash of the public key>`.
 *
 * A rotation makes the new set before it forgets the old one. **Neither a rotation nor destroying revokes a key: the
 * service has no call for it, so whoever holds an old set goes on using it** until the integration is deleted. Nor can
 * a set be read again: a refresh keeps what is stored as long as its integration stands.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * const keys = new svc.AuthKeys("keys", { projectId: auth.projectId, rotationTriggers: ["2026-01"] });
 * export const serverKey = keys.secretServerKey;
 * ```
 */
export class AuthKeys extends resource<AuthKeysArgs, AuthKeysShape, AuthKeysOutputs>(declaration) {
  /** Looks at a key set by its id; it is not managed then, and has no keys: the service does not show them again. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthKeys {
    return new AuthKeys(name, NO_ARGUMENTS, { ...opts, id });
  }
}
