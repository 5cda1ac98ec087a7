import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type AuthIntegrationShape, type AuthIntegrationOutputs } from "./authIntegrationDeclaration";

export interface AuthIntegrationArgs extends ArgumentsOf<AuthIntegrationShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The managed auth of a project: an auth project at the external provider, bound to a branch and a database. Its Pulumi
 * id is `<project>/<auth provider>`.
 *
 * Destroying deletes it at the service, with its OAuth providers, redirect domains, users and e-mail settings. The
 * schema with the synced users may stay in the database; the service then refuses to create the integration again there
 * until the schema is dropped.
 *
 * Pass its `projectId` output to everything in the integration. If the integration is replaced, these resources are
 * then created again. The program of examples/quickstart declares one.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.OAuthProvider("google", { projectId: auth.projectId, providerId: "google", adopt: true });
 * ```
 */
export class AuthIntegration extends resource<AuthIntegrationArgs, AuthIntegrationShape, AuthIntegrationOutputs>(
  declaration,
) {
  /** Looks up an integration by its id `<project>/<auth provider>`. It is not managed and has no keys. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthIntegration {
    return new AuthIntegration(name, NO_ARGUMENTS, { ...opts, id });
  }
}
