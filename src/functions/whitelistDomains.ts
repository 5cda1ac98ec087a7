import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

export type GetWhitelistDomainsArgs = ProjectLookupArgs;

/** A domain that users may be sent back to (docs/design/api.md, Redirect domains). */
export interface WhitelistDomainResult {
  /** An origin, in the spelling that the service stores. */
  domain: string;
  /** The auth provider's short name. */
  authProvider?: string | undefined;
}

const domains = lookup<GetWhitelistDomainsArgs, WhitelistDomainResult[]>(
  "getWhitelistDomains",
  [],
  async ({ client }, { projectId }) => {
    const listed = await client.auth.domains(projectId).list(fresh());
    return listed.map(({ domain, auth_provider }) => ({ domain, authProvider: auth_provider }));
  },
);

/** The whole redirect whitelist of a project's integration. */
export function getWhitelistDomains(
  args: GetWhitelistDomainsArgs,
  opts?: LookupOptions,
): Promise<WhitelistDomainResult[]> {
  return domains.promise(args, opts);
}

/** As `getWhitelistDomains`, with arguments that may not be known yet. */
export function getWhitelistDomainsOutput(
  args: ArgumentsOf<GetWhitelistDomainsArgs>,
  opts?: LookupOptions,
): pulumi.Output<WhitelistDomainResult[]> {
  return domains.output(args, opts);
}
