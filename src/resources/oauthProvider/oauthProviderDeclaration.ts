import { claim, providerObject } from "../../contract/claims";
import type { Declaration } from "../../contract/declaration";
import { nameForm } from "../../contract/forms";
import type { SecretReference } from "../../contract/references";

/** The names that are known; the service may have others (docs/design/api.md, OAuth providers). */
export const KNOWN_OAUTH_PROVIDERS = [
  "google",
  "github",
  "microsoft",
  "apple",
  "bitbucket",
  "discord",
  "facebook",
  "gitlab",
  "linkedin",
  "spotify",
  "twitch",
] as const;

export type KnownOAuthProvider = (typeof KNOWN_OAUTH_PROVIDERS)[number];

/** The short name of an OAuth provider: editors offer the known ones, and any other one is accepted. */
export type OAuthProviderId = KnownOAuthProvider | (string & Record<never, never>);

/**
 * What an OAuth provider is declared with (docs/design/api.md, OAuth providers). With both credentials, it uses your
 * own application at the provider; without them, the shared keys of the service. Only one of them is an error.
 */
export interface OAuthProviderShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the provider. */
  projectId: string;
  /** Its short name, such as `google`, `github` or `microsoft`. Changing this replaces the provider. */
  providerId: OAuthProviderId;
  /**
   * The client id of your own application at the provider. If you remove both credentials from the program, the
   * provider is replaced by one with the shared keys. If you add them to a shared provider, it is updated.
   */
  clientId?: string;
  /**
   * The client secret of your own application at the provider. Secret, unless it is given by reference: with
   * `svc.fromEnv("NAME")` or `svc.fromFile("path")` the state does not hold it.
   */
  clientSecret?: string | SecretReference;
  /**
   * Takes over a provider that exists instead of failing: a shared one that a new integration has by default, or one
   * that an interrupted `pulumi up` has created. Declared credentials replace the existing ones. Changing this later
   * has no effect.
   * @default false
   */
  adopt?: boolean;
  /**
   * Declares that users cannot sign in with it. An existing provider with the shared keys of the service is deleted if
   * `adopt` is given; the plan says so. A provider with its own credentials is not deleted: the plan warns, and `pulumi
   * up` fails. If somebody adds one later, that is drift. Destroying such a resource deletes nothing. Changing this
   * replaces the resource.
   * @default false
   */
  absent?: boolean;
}

export interface OAuthProviderOutputs {
  /** Whose keys are used: `shared` (the service's) or `standard` (your own). `absent` if there is no such provider. */
  type: string;
  /** The project at the auth provider that it was created in. */
  authProviderProjectId?: string;
}

export const declaration: Declaration<OAuthProviderShape, OAuthProviderOutputs> = {
  kind: "OAuthProvider",
  id: {
    parts: ["projectId", "providerId"],
    // One that is declared absent has a suffix (contract/oauthProviderId.ts).
    last: /^[^/]+(?:\/absent)?$/,
    form: "<project id>/<provider id>",
    example: "prj-demo/google",
  },
  claims: ({ projectId, providerId }) =>
    claim('an OAuth provider with the same "projectId" and "providerId"', providerObject, projectId, providerId),
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    providerId: { required: true, replaces: true, form: nameForm },
    // A PATCH cannot remove credentials: only a new provider uses shared keys again. An import takes both from the
    // configuration: the service does not show them.
    clientId: { unset: "replace", imported: false },
    clientSecret: { secret: true, reference: true, unset: "replace", imported: false },
    adopt: { createOnly: true },
    absent: { replaces: true, assumed: false, onlyIfGiven: true, imported: false },
  },
  outputs: {
    type: {},
    authProviderProjectId: { identity: true },
  },
};
