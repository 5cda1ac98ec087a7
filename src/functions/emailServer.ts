import * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { readable } from "../helpers/masked";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

export type GetEmailServerArgs = ProjectLookupArgs;

/** The e-mail server (docs/design/api.md, Email server). A shared one has only a type. */
export interface EmailServerResult {
  /** `shared`: that of the service; `standard`: your own SMTP server. */
  type: string;
  /** Host name of the SMTP server. */
  host?: string | undefined;
  /** Port of the SMTP server. */
  port?: number | undefined;
  /** The user name at the SMTP server. */
  username?: string | undefined;
  /** The sender address of the mail. */
  senderEmail?: string | undefined;
  /** The sender name of the mail. */
  senderName?: string | undefined;
}

/** The e-mail server with its password. */
export interface EmailServerOutputResult extends EmailServerResult {
  /** The password of `username`. Secret. Absent if the service does not show it. */
  password?: string | undefined;
}

const server = lookup<GetEmailServerArgs, EmailServerOutputResult>(
  "getEmailServer",
  [],
  async ({ client }, { projectId }) => {
    const found = await client.auth.emailServer(projectId, fresh());
    const password = readable(found.password);
    return {
      type: found.type,
      host: found.host,
      port: found.port,
      username: found.username,
      senderEmail: found.sender_email,
      senderName: found.sender_name,
      ...(password !== undefined && { password }),
    };
  },
);

/** The e-mail server of a project's integration, without its password: a plain value cannot be marked as secret. */
export async function getEmailServer(args: GetEmailServerArgs, opts?: LookupOptions): Promise<EmailServerResult> {
  const { password: _secret, ...found } = await server.promise(args, opts);
  return found;
}

/**
 * As `getEmailServer`, with arguments that may not be known yet, and with the password if the service shows it. The
 * whole result is then a secret, and so is everything taken from it.
 */
export function getEmailServerOutput(
  args: ArgumentsOf<GetEmailServerArgs>,
  opts?: LookupOptions,
): pulumi.Output<EmailServerOutputResult> {
  return server
    .output(args, opts)
    .apply(({ password, ...found }) =>
      pulumi.output(password === undefined ? found : { ...found, password: pulumi.secret(password) }),
    );
}
