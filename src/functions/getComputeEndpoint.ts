import type * as pulumi from "@pulumi/pulumi";
import type { EndpointRecord } from "../client";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { ComputeEndpointResult } from "./computeEndpointResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toComputeEndpointResult } from "./toComputeEndpointResult";

export interface GetComputeEndpointArgs extends ProjectLookupArgs {
  /** The compute (`ep-…`). Give this or `branchId`. */
  endpointId?: string;
  /** The branch (`br-…`) whose primary compute is meant. Give this or `endpointId`. */
  branchId?: string;
}

const endpoint = lookup<GetComputeEndpointArgs, ComputeEndpointResult>(
  "getComputeEndpoint",
  ["endpointId", "branchId"],
  async ({ reads }, { projectId, endpointId, branchId }) => {
    if ((endpointId === undefined) === (branchId === undefined)) {
      throw new Error('give either "endpointId" or "branchId"');
    }
    const listed = await reads.endpoints(projectId);
    const found =
      endpointId === undefined ? primaryOf(listed, branchId) : listed.find((candidate) => candidate.id === endpointId);
    if (found === undefined) throw new Error('the project has no compute with this "endpointId"');
    return toComputeEndpointResult(projectId, found);
  },
);

function primaryOf(listed: readonly EndpointRecord[], branchId: string | undefined): EndpointRecord {
  const ofBranch = listed.filter((candidate) => candidate.branch_id === branchId);
  const primary = ofBranch.find(({ type }) => type === "read_write");
  if (primary !== undefined) return primary;
  throw new Error(
    ofBranch.length === 0
      ? 'no compute of the project serves this "branchId"'
      : 'only read replicas serve this "branchId", no primary compute. Give the "endpointId" of one of them',
  );
}

/** One compute: by its id, or the primary of a branch. It is an error when there is none. */
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
