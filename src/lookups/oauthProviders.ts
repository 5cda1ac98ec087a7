import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getOAuthProvidersQuery } from "./queries/oauthProviders";
import type { GetOAuthProvidersArgs, OAuthProviderResult } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const providers = lookup(getOAuthProvidersQuery);

/** The OAuth providers of a project's integration. */
export function getOAuthProviders(args: GetOAuthProvidersArgs, opts?: LookupOptions): Promise<OAuthProviderResult[]> {
  return providers.promise(args, opts);
}

/** As `getOAuthProviders`, with arguments that may not be known yet. */
export function getOAuthProvidersOutput(
  args: ArgumentsOf<GetOAuthProvidersArgs>,
  opts?: LookupOptions,
): pulumi.Output<OAuthProviderResult[]> {
  return providers.output(args, opts);
}
