import type { Declaration } from "../../contract/declaration";

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

export interface EmailServerOutputs {
  /** The project at the auth provider whose mail it is. */
  authProviderProjectId?: string;
}

export const declaration: Declaration<EmailServerShape, EmailServerOutputs> = {
  kind: "EmailServer",
  args: {
    projectId: "plain",
    type: "plain",
    host: "plain",
    port: "plain",
    username: "plain",
    password: "secret",
    senderEmail: "plain",
    senderName: "plain",
  },
  outputs: { authProviderProjectId: "plain" },
  // Deleted afterwards, the old one would take the configuration of the new one along.
  deleteBeforeReplace: true,
};
