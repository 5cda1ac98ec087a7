import * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getEmailServerQuery } from "./queries/emailServer";
import type { EmailServerOutputResult, EmailServerResult, GetEmailServerArgs } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const server = lookup(getEmailServerQuery);

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
