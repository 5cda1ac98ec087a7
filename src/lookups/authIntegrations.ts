import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getAuthIntegrationQuery, getAuthIntegrationsQuery } from "./queries/authIntegrations";
import type { AuthIntegrationResult, GetAuthIntegrationArgs, GetAuthIntegrationsArgs } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const integration = lookup(getAuthIntegrationQuery);

/**
 * The auth integration of a project, without its keys: the service does not show them again. It is an error if the
 * project has none.
 */
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

const integrations = lookup(getAuthIntegrationsQuery);

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
