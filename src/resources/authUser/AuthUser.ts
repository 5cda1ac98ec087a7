import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type AuthUserShape, type AuthUserOutputs } from "./authUserDeclaration";

export interface AuthUserArgs extends ArgumentsOf<AuthUserShape> {
  projectId: pulumi.Input<string>;
}

/**
 * A user of the managed auth. Its Pulumi id is `<project>/<user id>`.
 *
 * The service has no call that shows a user, so a refresh keeps what is stored as long as the integration exists. It
 * does not detect a user that was deleted or changed by hand. The users themselves are rows of the table that the
 * integration names (`svc_auth.users_sync`).
 *
 * Destroying deletes the user at the auth provider, which cannot be undone: a user that is created again has another
 * id.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.AuthUser("first", { projectId: auth.projectId, email: "first@example.com" });
 * ```
 */
export class AuthUser extends resource<AuthUserArgs, AuthUserShape, AuthUserOutputs>(declaration) {
  /** Refers to a user by the id `<project>/<user id>`. It is not managed, and only its id is known. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthUser {
    return new AuthUser(name, NO_ARGUMENTS, { ...opts, id });
  }
}
