import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, resource } from "../../program/SvcResource";
import {
  declaration,
  type EmailServerOutputs,
  type EmailServerShape,
  type SharedEmailServerShape,
  type StandardEmailServerShape,
} from "./emailServerDeclaration";

/** The shared server of the service. */
export interface SharedEmailServerArgs extends ArgumentsOf<SharedEmailServerShape> {
  projectId: pulumi.Input<string>;
}
/** Your own server. */
export interface StandardEmailServerArgs extends ArgumentsOf<StandardEmailServerShape> {
  projectId: pulumi.Input<string>;
}

export type EmailServerArgs = SharedEmailServerArgs | StandardEmailServerArgs;

/**
 * The server that sends the mail of the managed auth. A project has exactly one configuration, so its Pulumi id is
 * `<project>`, and one such resource is enough.
 *
 * Creating it overwrites the configuration. If the project had its own server, the creation says so. Changing anything
 * but the project is an update, which sends the whole configuration. A password that the service masks or leaves out is
 * not drift.
 *
 * Destroying restores the shared server of the service, not an earlier configuration.
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
  /** Looks up the configuration of a project by its id `<project>`. It is not managed and has no password. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): EmailServer {
    return new EmailServer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
