import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getWhitelistDomainsQuery } from "./queries/whitelistDomains";
import type { GetWhitelistDomainsArgs, WhitelistDomainResult } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const domains = lookup(getWhitelistDomainsQuery);

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
