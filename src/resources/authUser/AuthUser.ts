import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What a user is declared with (docs/design/api.md, Auth users). Changing anything replaces the user: another id. */
export interface AuthUserShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the user. */
  projectId: string;
  /** The address, which no other user of the integration may have. Changing this replaces the user. */
  email: string;
  /**
   * What the user is called, in 1 to 255 characters. Changing this replaces the user. Secret: as an output, which is kept
   * when the program leaves it out.
   */
  name?: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the user.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

export type AuthUserArgs = ArgumentsOf<AuthUserShape>;

export interface AuthUserOutputs {
  /** The id in the table of the synced users. */
  userId: string;
  /** The project at the auth provider that the user was made in. */
  authProviderProjectId?: string;
}

const ARGS = ["projectId", "email", "name", "authProvider"] as const satisfies readonly (keyof AuthUserShape)[];

const OUTPUTS = ["userId", "authProviderProjectId"] as const satisfies readonly (keyof AuthUserOutputs)[];

/**
 * A user of the managed auth. Its Pulumi id is `<project>/<user id>`.
 *
 * The service has no call that shows a user, so a refresh keeps what is stored as long as the integration stands: a
 * user that somebody deleted or changed is not found. The users themselves are rows of the table that the integration
 * names (`svc_auth.users_sync`).
 *
 * Destroying deletes the user at the auth provider, which cannot be undone: a user that is made again has another id.
 */
export class AuthUser extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly email: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string | undefined>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly userId: pulumi.Output<string>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: AuthUserArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      // What the program wraps in a secret would else stand in clear once the program leaves it out.
      { kind: "AuthUser", args: ARGS, outputs: OUTPUTS, secretOutputs: ["name"], deleteBeforeReplace: true },
      name,
      args,
      opts,
    );
  }

  /** Looks at a user by the id `<project>/<user id>`; it is not managed then, and only its id is known. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): AuthUser {
    return new AuthUser(name, NO_ARGUMENTS, { ...opts, id });
  }
}
