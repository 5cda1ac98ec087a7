import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import {
  whitelistDomainDeclaration,
  type WhitelistDomainShape,
  type WhitelistDomainOutputs,
} from "./whitelistDeclaration";

export interface WhitelistDomainArgs extends ArgumentsOf<WhitelistDomainShape> {
  projectId: pulumi.Input<string>;
}

/**
 * One domain that users may be sent back to after they have signed in. Its Pulumi id is `<project>/<origin>`.
 *
 * It owns this one entry and does not touch other domains. If the list must contain only declared domains, use a
 * `Whitelist`. A project uses one of the two forms. To change from the list to single domains, set `adopt: true` on
 * them; they stay on the list.
 *
 * Destroying removes the domain from the whitelist.
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
  /** Looks up a domain by its id `<project>/<origin>`. It is not managed. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): WhitelistDomain {
    return new WhitelistDomain(name, NO_ARGUMENTS, { ...opts, id });
  }
}
