/**
 * Who is in the way on a branch, and what of that leaves, or may be taken over. Without the wait for who leaves, a chain of
 * moves takes as many runs as it has links, and an adoption takes a compute that moves away (docs/design/rules.md).
 */
import type { EndpointRecord } from "../../client";
import type { Call } from "../../host/lifecycle";
import type { ComputeEndpointShape } from "./declaration";
import { OR_ALIAS, madeAgo } from "../shared/standing";

const PRIMARY = "read_write";
/** How a ComputeGroup names the replicas that it counts; its arguments have no place for "adopt" then. */
const COUNTED_REPLICA = /-replica-(\d+)$/;

export const computeObject = (endpointId: string): string => `compute ${endpointId}`;
export const primaryObject = (projectId: string, branchId: string) => `primary compute of ${projectId}/${branchId}`;
export const adoptedObject = (endpointId: string): string => `adopted ${computeObject(endpointId)}`;

/**
 * Who stays on a branch that a primary is to go to: the compute `moverId`, or a new one. What this run is moving away or
 * deleting is waited for, also when the engine begins with it a moment later.
 * @throws when it is still leaving at the deadline, and when it waits in turn for the place of the one that is to go there.
 */
export async function occupantOf(
  call: Call<never>,
  projectId: string,
  branchId: string,
  moverId?: string,
): Promise<EndpointRecord | undefined> {
  const { client, run } = call;
  for (let stays = false; ;) {
    const listed = await client.computes.list(projectId, { ...call, since: performance.now() });
    // A replica may stand first in a list: the type tells.
    const occupant = listed.find(({ type, branch_id }) => type === PRIMARY && branch_id === branchId);
    if (occupant === undefined || occupant.id === moverId) return undefined;
    const object = computeObject(occupant.id);
    // A list that still shows what this run has deleted lags.
    if (run.wasDeleted(object)) return undefined;
    if (run.departure(object) === undefined) {
      if (stays) return occupant;
      stays = !(await run.leavesSoon(object));
      // It may have left since the list was taken.
      continue;
    }
    if (moverId !== undefined && waitsInCircle(call, computeObject(moverId), object))
      throw new Error(
        `${taken(occupant)}; that one waits in turn for the branch of ${moverId}, so neither can go first. Nothing was changed. ` +
          `Go in two steps: first move one of them to a free branch and run pulumi up; then move it to where it belongs and run pulumi up again`,
      );
    call.onProgress(`waiting for ${occupant.id} to leave ${branchId}`);
    await run.untilFree(object, `${occupant.id} was still leaving ${branchId}`);
  }
}

/** Notes that one object waits for the place of another, unless that one waits in turn for its own. */
function waitsInCircle({ run }: Call<never>, object: string, other: string): boolean {
  for (let next: string | undefined = other; next !== undefined; next = run.departure(next)?.waitsFor) {
    if (next === object) return true;
  }
  const departure = run.departure(object);
  if (departure !== undefined) departure.waitsFor = other;
  return false;
}

/** @throws when a primary stays on the branch that one is to move to. */
export async function refuseOccupiedBranch(
  call: Call<never>,
  projectId: string,
  moving: EndpointRecord,
  branchId: string,
): Promise<void> {
  if (moving.type !== PRIMARY || moving.branch_id === branchId) return;
  const occupant = await occupantOf(call, projectId, branchId, moving.id);
  if (occupant === undefined) return;
  throw new Error(
    `${taken(occupant)}. Nothing was changed. ` +
      `Go in two steps: first move ${occupant.id} to a free branch, or take it out of the program, and run pulumi up; ` +
      `then move this one and run pulumi up again`,
  );
}

const taken = ({ id, branch_id }: EndpointRecord): string =>
  `${branch_id} has a primary compute already (${id}), and a branch can have one only`;

/** What stands where a compute is to be created, and stays there. */
export function inTheWay(endpoint: EndpointRecord): Error {
  const isPrimary = endpoint.type === PRIMARY;
  const what = isPrimary ? "the branch has a primary compute" : "the branch has a read replica of this name";
  const adopt = isPrimary ? "adopt: true" : `adopt: '${endpoint.id}'`;
  const counted = isPrimary ? undefined : COUNTED_REPLICA.exec(endpoint.name ?? "")?.[1];
  const asList =
    counted === undefined
      ? ""
      : ` (where a ComputeGroup counts its replicas, give them as a list instead, this one with key: "${counted}", the same name, and adopt)`;
  return new Error(
    `${what} already: ${endpoint.id} on ${endpoint.branch_id}${madeAgo(endpoint.created_at)}. ` +
      `An interrupted pulumi up may have created it. To manage it here, set "${adopt}" on this resource${asList}; ` +
      `to have a new one, delete ${endpoint.id} first or choose another branch${OR_ALIAS}`,
  );
}

/** What `adopt` names; undefined when this run has deleted it: a replacement deletes what the program goes on naming. */
export async function named(
  call: Call<never>,
  endpointId: string,
  { projectId, type = PRIMARY }: ComputeEndpointShape,
): Promise<EndpointRecord | undefined> {
  const still = `${endpointId} was still being deleted or moved away`;
  const wasDeleted = (): Promise<boolean> => call.run.untilFree(computeObject(endpointId), still);
  if (await wasDeleted()) return undefined;
  const endpoint = await call.client.computes.find(projectId, endpointId, { ...call, since: performance.now() });
  // It may have begun to leave meanwhile.
  if (await wasDeleted()) return undefined;
  if (endpoint === undefined)
    throw new Error('"adopt" names a compute that is not in this project. Take "adopt" out to make a new one');
  if (endpoint.type !== type) {
    throw new Error(
      `"adopt" names ${endpoint.id}, whose type is ${endpoint.type}, not ${type}: a type cannot be changed`,
    );
  }
  return endpoint;
}
