import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { whitelistDeclaration, type WhitelistShape, type WhitelistOutputs } from "./whitelistDeclaration";

export type { DatedDomain } from "./whitelistDeclaration";

export interface WhitelistArgs extends ArgumentsOf<WhitelistShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The whole list of domains that users may be sent back to after they have signed in. Its Pulumi id is `<project>`.
 *
 * It owns the list: a domain that was added by hand is drift. `pulumi preview --refresh` names it, and `pulumi up
 * --refresh` removes it. **Creating it removes all domains that are not declared.** The preview warns and names them,
 * and the creation says which domains it has removed. Missing domains are added before others are removed. An update
 * removes only the domains that its plan shows: a domain that was added after the last refresh stays, and a message
 * names it.
 *
 * A project can have one `Whitelist`, and then no `WhitelistDomain`. If it replaces them, the domains that it declares
 * stay on the list.
 *
 * Destroying removes the domains that the state lists, including those that a refresh has found. Others stay.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.Whitelist("domains", { projectId: auth.projectId, domains: ["https://app.example.com"] });
 * ```
 */
export class Whitelist extends resource<WhitelistArgs, WhitelistShape, WhitelistOutputs>(whitelistDeclaration) {
  /** Looks up the whitelist of a project by its id `<project>`. It is not managed. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Whitelist {
    return new Whitelist(name, NO_ARGUMENTS, { ...opts, id });
  }
}
