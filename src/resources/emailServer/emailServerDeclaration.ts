import { claim, serverObject } from "../../contract/claims";
import type { ArgumentTable, Declaration } from "../../contract/declaration";
import { addressForm, hostForm, nameForm, textForm } from "../../contract/forms";
import type { SecretReference } from "../../contract/references";

/** Your own mail server. All of it is required, and only together. */
export interface SmtpShape {
  /** Host name, such as `smtp.example.com`. */
  host: string;
  /** 1 to 65535. @integer */
  port: number;
  /** The user name at the mail server. */
  username: string;
  /**
   * The password of `username`. Secret, unless it is given by reference: with `svc.fromEnv("NAME")` or
   * `svc.fromFile("path")` the state holds no password.
   */
  password: string | SecretReference;
  /** The sender address of the mail. */
  senderEmail: string;
  /** The sender name of the mail. */
  senderName: string;
}

export interface SharedEmailServerShape extends Partial<Record<keyof SmtpShape, never>> {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the resource. */
  projectId: string;
  /** The shared server of the service sends the mail. */
  type: "shared";
}

export interface StandardEmailServerShape extends SmtpShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the resource. */
  projectId: string;
  /** Your own server sends the mail. */
  type: "standard";
}

/**
 * What the e-mail server is declared with (docs/design/api.md, Email server). A union: an incomplete server does not
 * compile.
 */
export type EmailServerShape = SharedEmailServerShape | StandardEmailServerShape;

export interface EmailServerOutputs {
  /** The project at the auth provider that the mail belongs to. */
  authProviderProjectId?: string;
}

/** Both members of the union at once, for the provider's side; its rules say which arguments belong together. */
export interface EmailServerArguments extends Partial<SmtpShape> {
  projectId: string;
  type: EmailServerShape["type"];
}

/** The shared server has none of these: omitting them unsets them. */
const smtp: ArgumentTable<Partial<SmtpShape>> = {
  host: { unset: "update", form: hostForm },
  port: { unset: "update" },
  username: { unset: "update" },
  password: { secret: true, reference: true, sentAlways: true, unset: "update" },
  senderEmail: { unset: "update", form: addressForm },
  senderName: { unset: "update", form: textForm },
};
export const SMTP_ARGUMENTS = Object.keys(smtp);

export const declaration: Declaration<EmailServerArguments, EmailServerOutputs> = {
  kind: "EmailServer",
  id: { parts: ["projectId"], form: "<project id>", example: "prj-demo" },
  claims: ({ projectId }) => claim('the e-mail server of the same "projectId"', serverObject, projectId),
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    type: { required: true },
    ...smtp,
  },
  outputs: {
    authProviderProjectId: { identity: true },
  },
};
