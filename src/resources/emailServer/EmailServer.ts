import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";

/** Your own mail server. All of it is required, and only together. */
export interface SmtpShape {
  /** Host name, such as `smtp.example.com`. */
  host: string;
  /** 1 to 65535. */
  port: number;
  /** The user name at the mail server. */
  username: string;
  /** The password of `username`. Secret. */
  password: string;
  /** The address that mail comes from. */
  senderEmail: string;
  /** The name that mail comes from. */
  senderName: string;
}

export interface SharedEmailServerShape extends Partial<Record<keyof SmtpShape, never>> {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the resource. */
  projectId: string;
  /** Mail goes through the service's own server. */
  type: "shared";
}

export interface StandardEmailServerShape extends SmtpShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the resource. */
  projectId: string;
  /** Mail goes through your own server. */
  type: "standard";
}

/** What the e-mail server is declared with (docs/design/api.md, Email server): as a union, so that half a server does not compile. */
export type EmailServerShape = SharedEmailServerShape | StandardEmailServerShape;

export type EmailServerArgs = ArgumentsOf<EmailServerShape>;

export interface EmailServerOutputs {
  /** The project at the auth provider whose mail it is. */
  authProviderProjectId?: string;
}

export const EMAIL_SERVER_ARGS = [
  "projectId",
  "type",
  "host",
  "port",
  "username",
  "password",
  "senderEmail",
  "senderName",
] as const satisfies readonly (keyof EmailServerShape)[];

const OUTPUTS = ["authProviderProjectId"] as const satisfies readonly (keyof EmailServerOutputs)[];

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
 */
export class EmailServer extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly type: pulumi.Output<EmailServerShape["type"]>;
  declare readonly host: pulumi.Output<string | undefined>;
  declare readonly port: pulumi.Output<number | undefined>;
  declare readonly username: pulumi.Output<string | undefined>;
  declare readonly password: pulumi.Output<string | undefined>;
  declare readonly senderEmail: pulumi.Output<string | undefined>;
  declare readonly senderName: pulumi.Output<string | undefined>;
  declare readonly authProviderProjectId: pulumi.Output<string | undefined>;

  constructor(name: string, args: EmailServerArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      {
        kind: "EmailServer",
        args: EMAIL_SERVER_ARGS,
        outputs: OUTPUTS,
        secretArgs: ["password"],
        deleteBeforeReplace: true,
      },
      name,
      args,
      opts,
    );
  }

  /** Looks the configuration of a project up by its id `<project>`; it is not managed then, and has no password. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): EmailServer {
    return new EmailServer(name, NO_ARGUMENTS, { ...opts, id });
  }
}
