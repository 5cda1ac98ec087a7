import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { declaration, type OAuthProviderShape, type OAuthProviderOutputs } from "./declaration";

export type { OAuthProviderId } from "./declaration";

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

/** Half of the credentials does not compile. */
export type OAuthProviderArgs = SharedOAuthProviderArgs | StandardOAuthProviderArgs;

/**
 * A way for users to sign in. Its Pulumi id is `<project>/<provider id>`.
 *
 * The service lists id and type of a provider, so a refresh finds one that was deleted, or whose keys went from shared to
 * own or back; it cannot find that somebody exchanged one set of own credentials for another.
 *
 * Destroying deletes it at the service, an adopted one too; users who sign in this way cannot do so any more. The
 * application at the provider, with its credentials, is not touched.
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
  /** Looks a provider up by its id `<project>/<provider id>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): OAuthProvider {
    return new OAuthProvider(name, NO_ARGUMENTS, { ...opts, id });
  }
}
