import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type OAuthProviderShape, type OAuthProviderOutputs } from "./oauthProviderDeclaration";

export type { OAuthProviderId } from "./oauthProviderDeclaration";

type Credentials = "clientId" | "clientSecret";

/** With the shared keys of the service. */
export interface SharedOAuthProviderArgs extends ArgumentsOf<
  Omit<OAuthProviderShape, Credentials> & Partial<Record<Credentials, never>>
> {
  projectId: pulumi.Input<string>;
}
/** With the credentials of your own application at the provider. */
export interface StandardOAuthProviderArgs extends ArgumentsOf<
  Omit<OAuthProviderShape, Credentials> & Required<Pick<OAuthProviderShape, Credentials>>
> {
  projectId: pulumi.Input<string>;
}

/** Incomplete credentials do not compile. */
export type OAuthProviderArgs = SharedOAuthProviderArgs | StandardOAuthProviderArgs;

/**
 * A way for users to sign in. Its Pulumi id is `<project>/<provider id>`.
 *
 * The service lists the id and the type of a provider. So a refresh detects a deletion and a change between shared and
 * own credentials. It cannot detect a change from one set of own credentials to another.
 *
 * Destroying deletes it at the service, also if it was adopted. Users can no longer sign in with it. The application at
 * the provider and its credentials are not changed.
 *
 * The program of examples/oauth declares some.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.OAuthProvider("google", { projectId: auth.projectId, providerId: "google", adopt: true });
 * ```
 */
export class OAuthProvider extends resource<OAuthProviderArgs, OAuthProviderShape, OAuthProviderOutputs>(declaration) {
  /** Looks up a provider by its id `<project>/<provider id>`. It is not managed. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): OAuthProvider {
    return new OAuthProvider(name, NO_ARGUMENTS, { ...opts, id });
  }
}
