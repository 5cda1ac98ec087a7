import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { ComputeEndpointResult } from "./computeEndpointResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toComputeEndpointResult } from "./toComputeEndpointResult";

export interface GetComputeEndpointsArgs extends ProjectLookupArgs {
  /** Only those of this branch (`br-…`). */
  branchId?: string;
}

const endpoints = lookup<GetComputeEndpointsArgs, ComputeEndpointResult[]>(
  "getComputeEndpoints",
  ["branchId"],
  async ({ reads }, { projectId, branchId }) => {
    const listed = await reads.endpoints(projectId);
    return listed
      .filter((endpoint) => branchId === undefined || endpoint.branch_id === branchId)
      .map((endpoint) => toComputeEndpointResult(projectId, endpoint));
  },
);

/** The computes of a project, in the order of the service: tell them apart by `type`, never by their place. */
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
