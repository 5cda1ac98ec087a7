import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import { whitelistDeclaration, type WhitelistShape, type WhitelistOutputs } from "./declaration";

export interface WhitelistArgs extends ArgumentsOf<WhitelistShape> {
  projectId: pulumi.Input<string>;
}

/**
 * The whole list of domains that users may be sent back to after they have signed in. Its Pulumi id is `<project>`.
 *
 * It owns the list: a domain that somebody added by hand is drift, which `pulumi preview --refresh` shows by name and
 * `pulumi up --refresh` removes. **Creating it removes what stands on the list and is not declared**: a preview
 * warns of that and names what it finds there, and the creation says which domains it has removed. What is missing is added before anything goes.
 * An update removes what its plan shows: a domain that somebody has added since the last refresh stays, and a line names it.
 *
 * A project has one, and no `WhitelistDomain` beside it. Declared in place of those, it keeps the
 * domains of theirs that it lists.
 *
 * Destroying takes the domains off that the state lists, those that a refresh found among them; others stay.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.Whitelist("domains", { projectId: auth.projectId, domains: ["https://app.example.com"] });
 * ```
 */
export class Whitelist extends resource<WhitelistArgs, WhitelistShape, WhitelistOutputs>(whitelistDeclaration) {
  /** Looks the whitelist of a project up by its id `<project>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Whitelist {
    return new Whitelist(name, NO_ARGUMENTS, { ...opts, id });
  }
}
