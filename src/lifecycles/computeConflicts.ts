import type { Endpoint } from "../client";
import type { Call } from "../dynamic/lifecycle";
import type { ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { madeAgo } from "./age";
import { OR_ALIAS } from "./conflictWords";
import { deletedFrom } from "./computeDeletions";
import { listForBranch, lookAtBranch, primaryOf } from "./computeDepartures";

const PRIMARY = "read_write";
/** How a ComputeGroup names the replicas that it counts; its arguments have no place for "adopt" then. */
const COUNTED_REPLICA = /-replica-(\d+)$/;

/** The compute to take over; or, where one is to be made, what is in the project before. */
export type Standing =
  { readonly adopted: Endpoint } | { readonly adopted: undefined; readonly before: readonly Endpoint[] };

/**
 * What stands where a compute is to be created. `refused`: the service has said that something does, so a list that does
 * not show it is not believed before a later one says the same.
 * @throws when a compute is in the way and the program does not say `adopt`, or when the one to adopt is not there.
 */
export async function standing(call: Call<never>, args: ComputeEndpointShape, refused = false): Promise<Standing> {
  const { client, deadline } = call;
  const { projectId, branchId, type = PRIMARY, adopt } = args;
  if (typeof adopt === "string") {
    const adopted = await named(call, adopt, args);
    // A replacement deletes the compute that the program goes on naming: then a new one is made, as without "adopt".
    if (adopted === undefined) return standing(call, withoutAdopt(args), refused);
    await refuseOccupiedBranch(call, projectId, adopted, branchId);
    return { adopted };
  }
  if (type === PRIMARY && adopt === true) {
    const before = await listForBranch(call, projectId, branchId, refused);
    return { before, adopted: primaryOf(before, branchId) };
  }
  if (type === PRIMARY) {
    const { endpoints, occupant } = await lookAtBranch(call, projectId, branchId, { refused });
    if (occupant !== undefined) throw new Error(inTheWay(occupant, "the branch has a primary compute"));
    return { before: endpoints, adopted: undefined };
  }
  const before = await client.listEndpoints(projectId, { fresh: true, deadline });
  const twin = before.find(
    ({ name, branch_id, type: other }) =>
      args.name !== undefined && name === args.name && branch_id === branchId && other === type,
  );
  if (twin !== undefined) throw new Error(inTheWay(twin, "the branch has a read replica of this name"));
  return { before, adopted: undefined };
}

const withoutAdopt = ({ adopt: _adopt, ...args }: ComputeEndpointShape): ComputeEndpointShape => args;

/** The compute to adopt; undefined when this process has deleted it. */
async function named(
  { client, deadline }: Call<never>,
  id: string,
  { projectId, type = PRIMARY }: ComputeEndpointShape,
): Promise<Endpoint | undefined> {
  const home = deletedFrom(client, id);
  // A list of its own project that still shows it lags.
  if (home === projectId) return undefined;
  const endpoint = await client.findEndpoint(projectId, id, { fresh: true, deadline });
  if (endpoint === undefined) {
    if (home !== undefined) return undefined;
    throw new Error('"adopt" names a compute that is not in this project. Take "adopt" out to make a new one');
  }
  if (endpoint.type !== type) {
    throw new Error(
      `"adopt" names ${endpoint.id}, whose type is ${endpoint.type}, not ${type}: a type cannot be changed`,
    );
  }
  return endpoint;
}

function inTheWay(endpoint: Endpoint, what: string): string {
  const adopt = endpoint.type === PRIMARY ? "adopt: true" : `adopt: '${endpoint.id}'`;
  const counted = endpoint.type === PRIMARY ? undefined : COUNTED_REPLICA.exec(endpoint.name ?? "")?.[1];
  const asList =
    counted === undefined
      ? ""
      : ` (where a ComputeGroup counts its replicas, give them as a list instead, this one with key: "${counted}", the same name, and adopt)`;
  return (
    `${what} already: ${endpoint.id} on ${endpoint.branch_id}${madeAgo(endpoint.created_at)}. ` +
    `An interrupted pulumi up may have made it. To manage it here, set "${adopt}" on this resource${asList}; ` +
    `to have a new one, delete ${endpoint.id} first or choose another branch${OR_ALIAS}`
  );
}

/**
 * Looks whether the branch that a primary is to move to is free, or about to be, before anything is changed.
 * @throws when a primary stays there.
 */
export async function refuseOccupiedBranch(
  call: Call<never>,
  projectId: string,
  moving: Endpoint,
  branchId: string,
): Promise<void> {
  if (moving.type !== PRIMARY || moving.branch_id === branchId) return;
  const { occupant, inCircle } = await lookAtBranch(call, projectId, branchId, { wantedBy: moving.id });
  if (occupant === undefined) return;
  const what = `${branchId} has a primary compute already (${occupant.id}), and a branch can have one only`;
  throw new Error(
    inCircle
      ? `${what}; that one waits in turn for the branch of ${moving.id}, so neither can go first. Nothing was changed. ` +
          `Go in two steps: first move one of them to a free branch and run pulumi up; then move it to where it belongs and run pulumi up again`
      : `${what}. Nothing was changed. ` +
          `Go in two steps: first move ${occupant.id} to a free branch, or take it out of the program, and run pulumi up; ` +
          `then move this one and run pulumi up again`,
  );
}
