import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getComputeEndpointQuery, getComputeEndpointsQuery } from "./queries/computeEndpoints";
import type { ComputeEndpointResult, GetComputeEndpointArgs, GetComputeEndpointsArgs } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const endpoint = lookup(getComputeEndpointQuery);

/** One compute: by its id, or the primary of a branch. It is an error if there is none. */
export function getComputeEndpoint(args: GetComputeEndpointArgs, opts?: LookupOptions): Promise<ComputeEndpointResult> {
  return endpoint.promise(args, opts);
}

/** As `getComputeEndpoint`, with arguments that may not be known yet. */
export function getComputeEndpointOutput(
  args: ArgumentsOf<GetComputeEndpointArgs>,
  opts?: LookupOptions,
): pulumi.Output<ComputeEndpointResult> {
  return endpoint.output(args, opts);
}

const endpoints = lookup(getComputeEndpointsQuery);

/** The computes of a project, in the order of the service: distinguish them by `type`, not by their position. */
export function getComputeEndpoints(
  args: GetComputeEndpointsArgs,
  opts?: LookupOptions,
): Promise<ComputeEndpointResult[]> {
  return endpoints.promise(args, opts);
}

/** As `getComputeEndpoints`, with arguments that may not be known yet. */
export function getComputeEndpointsOutput(
  args: ArgumentsOf<GetComputeEndpointsArgs>,
  opts?: LookupOptions,
): pulumi.Output<ComputeEndpointResult[]> {
  return endpoints.output(args, opts);
}
