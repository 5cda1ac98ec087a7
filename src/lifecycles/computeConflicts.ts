import type { Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { madeAgo } from "./age";

const PRIMARY = "read_write";

/** A branch's one primary (service.md 4.5, rule 1). A replica may stand first in a list: the type tells. */
function primaryOf(endpoints: readonly Endpoint[], branchId: string): Endpoint | undefined {
  return endpoints.find((endpoint) => endpoint.type === PRIMARY && endpoint.branch_id === branchId);
}

/**
 * The compute to take over, or nothing where one is to be made.
 * @throws when a compute stands in the way and the program does not say `adopt`, or when the one to adopt is not there.
 */
export function standing(endpoints: readonly Endpoint[], args: ComputeEndpointShape): Endpoint | undefined {
  const { branchId, type = PRIMARY, adopt } = args;
  if (typeof adopt === "string") return named(endpoints, adopt, args);
  if (type === PRIMARY) {
    const primary = primaryOf(endpoints, branchId);
    if (primary !== undefined && adopt !== true) throw new Error(inTheWay(primary, "the branch has a primary compute"));
    return primary;
  }
  const twin = endpoints.find(
    (endpoint) =>
      args.name !== undefined &&
      endpoint.name === args.name &&
      endpoint.branch_id === branchId &&
      endpoint.type === type,
  );
  if (twin !== undefined) throw new Error(inTheWay(twin, "the branch has a read replica of this name"));
  return undefined;
}

function named(
  endpoints: readonly Endpoint[],
  id: string,
  { branchId, type = PRIMARY }: ComputeEndpointShape,
): Endpoint {
  const endpoint = endpoints.find((candidate) => candidate.id === id);
  if (endpoint === undefined) throw new Error('"adopt" names a compute that is not in this project');
  if (endpoint.type !== type) {
    throw new Error(
      `"adopt" names ${endpoint.id}, whose type is ${endpoint.type}, not ${type}: a type cannot be changed`,
    );
  }
  const primary = primaryOf(endpoints, branchId);
  if (type === PRIMARY && primary !== undefined && primary.id !== endpoint.id)
    throw new Error(occupied(primary, branchId));
  return endpoint;
}

function inTheWay(endpoint: Endpoint, what: string): string {
  const adopt = endpoint.type === PRIMARY ? "adopt: true" : `adopt: "${endpoint.id}"`;
  return (
    `${what} already: ${endpoint.id} on ${endpoint.branch_id}${madeAgo(endpoint.created_at)}. ` +
    `An interrupted pulumi up may have made it. To manage it here, set "${adopt}" on this resource; ` +
    `to have a new one, delete ${endpoint.id} first or choose another branch`
  );
}

/**
 * Looks whether the branch that a primary is to move to is free, before anything is changed.
 * @throws when it has a primary.
 */
export async function refuseOccupiedBranch(
  { client, deadline }: Call<never>,
  projectId: string,
  moving: Endpoint,
  branchId: string,
): Promise<void> {
  if (moving.type !== PRIMARY || moving.branch_id === branchId) return;
  // The list that the caller has just asked for anew.
  const primary = primaryOf(await client.listEndpoints(projectId, { deadline }), branchId);
  if (primary !== undefined && primary.id !== moving.id) throw new Error(occupied(primary, branchId));
}

function occupied(primary: Endpoint, branchId: string): string {
  return (
    `${branchId} has a primary compute already (${primary.id}), and a branch can have one only. Nothing was changed. ` +
    `Go in two steps: first move ${primary.id} to a free branch, or take it out of the program, and run pulumi up; ` +
    `then move this one and run pulumi up again`
  );
}
