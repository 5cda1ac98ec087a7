import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import {
  declaration,
  type EmailServerOutputs,
  type EmailServerShape,
  type SharedEmailServerShape,
  type StandardEmailServerShape,
} from "./declaration";

/** Of the service's own server. */
export interface SharedEmailServerArgs extends ArgumentsOf<SharedEmailServerShape> {
  projectId: pulumi.Input<string>;
}
/** Of your own server. */
export interface StandardEmailServerArgs extends ArgumentsOf<StandardEmailServerShape> {
  projectId: pulumi.Input<string>;
}

export type EmailServerArgs = SharedEmailServerArgs | StandardEmailServerArgs;

/**
 * Which server the mail of the managed auth goes through. A project has exactly one configuration, so its Pulumi id is
 * `<project>`, and one such resource is enough.
 *
 * Creating it sets the configuration, whatever it was before; where another server of one's own was configured, the
 * creation says so. Changing anything but the project is an update, which sends the configuration as a whole. A password
 * that the service masks or leaves out is no drift.
 *
 * Destroying goes back to the service's shared server, not to what was configured before.
 *
 * The program of examples/own-smtp declares one.
 *
 * @example
 * ```ts
 * const auth = new svc.AuthIntegration("auth", { projectId: "prj-demo" });
 * new svc.EmailServer("mail", { projectId: auth.projectId, type: "shared" });
 * ```
 */
export class EmailServer extends resource<EmailServerArgs, EmailServerShape, EmailServerOutputs>(declaration) {
  /** Looks the configuration of a project up by its id `<project>`; it is not managed then, and has no password. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): EmailServer {
    return new EmailServer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
