import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What the whole whitelist of a project is declared with (docs/design/api.md, Redirect domains). */
export interface WhitelistShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the whitelist. */
  projectId: string;
  /**
   * All redirect domains: http(s) origins such as `https://app.example.com`, without path, query, fragment and
   * credentials. Their order, case, a default port and a trailing slash make no difference.
   */
  domains: string[];
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the whitelist.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

export type WhitelistArgs = ArgumentsOf<WhitelistShape>;

export interface WhitelistOutputs {
  /** The project at the auth provider whose list it is. */
  authProviderProjectId?: string;
}

const ARGS = ["projectId", "domains", "authProvider"] as const satisfies readonly (keyof WhitelistShape)[];

const OUTPUTS = ["authProviderProjectId"] as const satisfies readonly (keyof WhitelistOutputs)[];

/**
 * The whole list of domains that users may be sent back to after they have signed in. Its Pulumi id is `<project>`.
 *
 * It owns the list: a domain that somebody added by hand is drift, which `pulumi preview --refresh` shows by name and
 * `pulumi up --refresh` removes. **Creating it removes what stands on the list and is not declared**; a preview cannot look, so it
 * warns of that, and the creation says which domains it has removed. What is missing is added before anything goes.
 *
 * A project has one, and no `WhitelistDomain` beside it. Declared in place of those, it keeps the
 * domains of theirs that it lists.
 *
 * Destroying takes the domains off that the state lists, those that a refresh found among them; others stay.
 */
export class Whitelist extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly domains: pulumi.Output<string[]>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: WhitelistArgs, opts?: pulumi.CustomResourceOptions) {
    super({ kind: "Whitelist", args: ARGS, outputs: OUTPUTS, deleteBeforeReplace: true }, name, args, opts);
  }

  /** Looks the whitelist of a project up by its id `<project>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Whitelist {
    return new Whitelist(name, NO_ARGUMENTS, { ...opts, id });
  }
}
