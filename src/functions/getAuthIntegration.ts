import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { AuthIntegrationResult } from "./authIntegrationResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toAuthIntegrationResult } from "./toAuthIntegrationResult";

export interface GetAuthIntegrationArgs extends ProjectLookupArgs {
  /** The auth provider's short name; the service supports one. @default the setting `svc:authProvider` */
  authProvider?: string;
}

const integration = lookup<GetAuthIntegrationArgs, AuthIntegrationResult>(
  "getAuthIntegration",
  ["authProvider"],
  async ({ reads, authProvider: standard }, { projectId, authProvider = standard }) => {
    const listed = await reads.integrations(projectId);
    const found = listed.find(({ auth_provider }) => auth_provider === authProvider);
    if (found === undefined) throw new Error("the project has no auth integration with this auth provider");
    return toAuthIntegrationResult(projectId, found);
  },
);

/** The auth integration of a project, without its keys: the service does not show them again. An error without one. */
export function getAuthIntegration(args: GetAuthIntegrationArgs, opts?: LookupOptions): Promise<AuthIntegrationResult> {
  return integration.promise(args, opts);
}

/** As `getAuthIntegration`, with arguments that may not be known yet. */
export function getAuthIntegrationOutput(
  args: ArgumentsOf<GetAuthIntegrationArgs>,
  opts?: LookupOptions,
): pulumi.Output<AuthIntegrationResult> {
  return integration.output(args, opts);
}
