import type * as pulumi from "@pulumi/pulumi";
import type { AllOrNone, ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/**
 * What an OAuth provider is declared with (docs/design/api.md, OAuth providers). With both credentials it uses your own application at
 * the provider, without both the service's shared keys; one of them alone is refused.
 */
export interface OAuthProviderShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the provider. */
  projectId: string;
  /** Its short name, such as `google`, `github` or `microsoft`. Changing this replaces the provider. */
  providerId: string;
  /**
   * The client id of your own application at the provider. Taking both credentials out of the program replaces the
   * provider by one with the shared keys; giving them to a shared one changes it.
   */
  clientId?: string;
  /** The client secret of your own application at the provider. Secret. */
  clientSecret?: string;
  /**
   * Takes over a provider that exists instead of failing: the shared ones that a new integration offers by itself, or one
   * that an interrupted `pulumi up` has made. Declared credentials replace those that it has. Changing this later
   * has no effect.
   * @default false
   */
  adopt?: boolean;
}

/** Half of the credentials does not compile. */
export type OAuthProviderArgs = ArgumentsOf<AllOrNone<OAuthProviderShape, "clientId" | "clientSecret">>;

export interface OAuthProviderOutputs {
  /** Whose keys are used: `shared` (the service's) or `standard` (your own). */
  type: string;
  /** The project at the auth provider that it was made in. */
  authProviderProjectId?: string;
}

export const OAUTH_PROVIDER_ARGS = [
  "projectId",
  "providerId",
  "clientId",
  "clientSecret",
  "adopt",
] as const satisfies readonly (keyof OAuthProviderShape)[];

const OUTPUTS = ["type", "authProviderProjectId"] as const satisfies readonly (keyof OAuthProviderOutputs)[];

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
 */
export class OAuthProvider extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly providerId: pulumi.Output<string>;
  declare readonly clientId: pulumi.Output<string | undefined>;
  declare readonly clientSecret: pulumi.Output<string | undefined>;
  declare readonly adopt: pulumi.Output<boolean | undefined>;
  declare readonly type: pulumi.Output<string>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: OAuthProviderArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      {
        kind: "OAuthProvider",
        args: OAUTH_PROVIDER_ARGS,
        outputs: OUTPUTS,
        secretArgs: ["clientSecret"],
        deleteBeforeReplace: true,
      },
      name,
      args,
      opts,
    );
  }

  /** Looks a provider up by its id `<project>/<provider id>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): OAuthProvider {
    return new OAuthProvider(name, NO_ARGUMENTS, { ...opts, id });
  }
}
