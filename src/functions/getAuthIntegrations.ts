import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { AuthIntegrationResult } from "./authIntegrationResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toAuthIntegrationResult } from "./toAuthIntegrationResult";

export type GetAuthIntegrationsArgs = ProjectLookupArgs;

const integrations = lookup<GetAuthIntegrationsArgs, AuthIntegrationResult[]>(
  "getAuthIntegrations",
  [],
  async ({ reads }, { projectId }) => {
    const listed = await reads.integrations(projectId);
    return listed.map((integration) => toAuthIntegrationResult(projectId, integration));
  },
);

/** The auth integrations of a project, without their keys: the service does not show them again. */
export function getAuthIntegrations(
  args: GetAuthIntegrationsArgs,
  opts?: LookupOptions,
): Promise<AuthIntegrationResult[]> {
  return integrations.promise(args, opts);
}

/** As `getAuthIntegrations`, with arguments that may not be known yet. */
export function getAuthIntegrationsOutput(
  args: ArgumentsOf<GetAuthIntegrationsArgs>,
  opts?: LookupOptions,
): pulumi.Output<AuthIntegrationResult[]> {
  return integrations.output(args, opts);
}
