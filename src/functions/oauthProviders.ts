import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

export type GetOAuthProvidersArgs = ProjectLookupArgs;

/** An OAuth provider as the service lists it (docs/design/api.md, OAuth providers). */
export interface OAuthProviderResult {
  /** Its short name, such as `google`. */
  providerId: string;
  /** `shared`: the keys of the service; `standard`: your own keys. */
  type: string;
}

const providers = lookup<GetOAuthProvidersArgs, OAuthProviderResult[]>(
  "getOAuthProviders",
  [],
  async ({ client }, { projectId }) => {
    const listed = await client.auth.oauthProviders(projectId).list(fresh());
    return listed.map(({ id, type }) => ({ providerId: id, type }));
  },
);

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
