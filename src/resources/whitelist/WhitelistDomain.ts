import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { whitelistDomainDeclaration, type WhitelistDomainShape, type WhitelistDomainOutputs } from "./declaration";

export interface WhitelistDomainArgs extends ArgumentsOf<WhitelistDomainShape> {
  projectId: pulumi.Input<string>;
}

/**
 * One domain that users may be sent back to after they have signed in. Its Pulumi id is `<project>/<origin>`.
 *
 * It owns this one entry and leaves the others alone, also those that somebody added by hand: where the list must hold
 * what is declared and nothing else, declare a `Whitelist`. A project takes one of the two forms; whoever goes over from
 * the list to single domains gives them `adopt: true`, and they stay on the list meanwhile.
 *
 * Destroying takes the domain off the whitelist.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.WhitelistDomain("app", { projectId: auth.projectId, domain: "https://app.example.com" });
 * ```
 */
export class WhitelistDomain extends resource<WhitelistDomainArgs, WhitelistDomainShape, WhitelistDomainOutputs>(
  whitelistDomainDeclaration,
) {
  /** Looks a domain up by its id `<project>/<origin>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): WhitelistDomain {
    return new WhitelistDomain(name, NO_ARGUMENTS, { ...opts, id });
  }
}
