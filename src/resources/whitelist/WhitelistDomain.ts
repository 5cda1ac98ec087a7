import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** What a redirect domain is declared with (docs/design/api.md, Redirect domains). Changing anything but `adopt` replaces it. */
export interface WhitelistDomainShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the domain. */
  projectId: string;
  /**
   * An http(s) origin such as `https://app.example.com`, without path, query, fragment and credentials. Case, a default
   * port and a trailing slash make no difference. Changing this replaces the domain.
   */
  domain: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the domain.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
  /**
   * Takes over a domain that is on the whitelist already instead of failing. Changing this later has no effect.
   * @default false
   */
  adopt?: boolean;
}

export type WhitelistDomainArgs = ArgumentsOf<WhitelistDomainShape>;

export interface WhitelistDomainOutputs {
  /** The project at the auth provider that it was added in. */
  authProviderProjectId?: string;
}

const ARGS = [
  "projectId",
  "domain",
  "authProvider",
  "adopt",
] as const satisfies readonly (keyof WhitelistDomainShape)[];

const OUTPUTS = ["authProviderProjectId"] as const satisfies readonly (keyof WhitelistDomainOutputs)[];

/**
 * One domain that users may be sent back to after they have signed in. Its Pulumi id is `<project>/<origin>`.
 *
 * It owns this one entry and leaves the others alone, also those that somebody added by hand: where the list must hold
 * what is declared and nothing else, declare a `Whitelist`. A project takes one of the two forms; whoever goes over from
 * the list to single domains gives them `adopt: true`, and they stay on the list meanwhile.
 *
 * Destroying takes the domain off the whitelist; many of them travel in few calls.
 */
export class WhitelistDomain extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly domain: pulumi.Output<string>;
  declare readonly authProvider: pulumi.Output<string>;
  declare readonly adopt: pulumi.Output<boolean | undefined>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: WhitelistDomainArgs, opts?: pulumi.CustomResourceOptions) {
    super({ kind: "WhitelistDomain", args: ARGS, outputs: OUTPUTS, deleteBeforeReplace: true }, name, args, opts);
  }

  /** Looks a domain up by its id `<project>/<origin>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): WhitelistDomain {
    return new WhitelistDomain(name, NO_ARGUMENTS, { ...opts, id });
  }
}
