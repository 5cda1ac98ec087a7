/**
 * Which primary occupies a branch, whether this run moves it away or deletes it, and whether it may be taken over.
 * Without waiting for that, a chain of moves would take one run per link, and an adoption would take a compute that is
 * moving away (docs/design/rules.md).
 */
import { computeObject } from "../../contract/claims";
import { type EndpointRecord, Gone, mustBeKnown } from "../../client";
import type { Call } from "../../runtime/lifecycle";
import type { Left } from "../../runtime/run/plans";
import { countOfReplica } from "../../contract/componentNames";
import { isSameName, textForm } from "../../contract/forms";
import { nameInUrn } from "../../contract/identifiers";
import type { ComputeEndpointShape } from "./computeEndpointDeclaration";
import { ALIAS_ADVICE, createdAgo, possibleOwner } from "../shared/conflictMessages";

export const PRIMARY = "read_write";

/** Whether it has the type of a compute to be created, on the same branch. */
export const isBeside =
  ({ branchId, type = PRIMARY }: Pick<ComputeEndpointShape, "branchId" | "type">) =>
  (endpoint: EndpointRecord): boolean =>
    isSameName(endpoint.branch_id, branchId) && endpoint.type === type;

/** Whether it is in the way of a compute to be created: a branch has one primary, and a replica of a name may be ours. */
export const isInPlaceOf =
  (args: Pick<ComputeEndpointShape, "branchId" | "type" | "name">) =>
  (endpoint: EndpointRecord): boolean => {
    const { type = PRIMARY, name } = args;
    const hasName = name !== undefined && endpoint.name !== undefined && textForm(endpoint.name) === textForm(name);
    return isBeside(args)(endpoint) && (type === PRIMARY || hasName);
  };

/**
 * The primary that stays on a branch that another compute is to occupy: `moverId`, or a new one. Waits for a primary
 * that this run moves away or deletes, even if the engine begins a moment later.
 * @throws when it is still leaving at the deadline, or when it waits in turn for the branch of the other one.
 */
export async function findOccupant(
  call: Call<never>,
  { projectId, branchId }: Pick<ComputeEndpointShape, "projectId" | "branchId">,
  moverId?: string,
): Promise<EndpointRecord | undefined> {
  const { client, run } = call;
  for (let isStaying = false; ;) {
    const listed = await client.computes.list(projectId, { ...call, since: performance.now() });
    // A replica may come first in the list.
    const occupant = listed.find(isBeside({ branchId }));
    if (occupant === undefined || occupant.id === moverId) return undefined;
    const object = computeObject(occupant.id);
    // A list that still shows what this run has deleted is out of date.
    if (run.wasDeleted(object)) return undefined;
    if (run.release(object) === undefined) {
      // What is deleted at the end of the run does not begin to leave.
      if (isStaying || run.isDeletedLast(object)) return occupant;
      isStaying = !(await run.leavesSoon(object));
      // It may have left since the list was read.
      continue;
    }
    if (moverId !== undefined && waitsInCycle(call, computeObject(moverId), object))
      throw new Error(`${occupiedBranch(occupant)}; ${waitsInTurn(moverId)}. Nothing was changed. ${SWAP_ADVICE}`);
    call.onProgress(`waiting for ${occupant.id} to leave ${branchId}`);
    await run.waitUntilFree(object, `${occupant.id} was still leaving ${branchId}`);
  }
}

/** Notes that one object waits for the place of another. True if that one waits, directly or not, for this one. */
function waitsInCycle({ run }: Call<never>, object: string, other: string): boolean {
  for (let next: string | undefined = other; next !== undefined; next = run.release(next)?.waitsFor) {
    if (next === object) return true;
  }
  const departure = run.release(object);
  if (departure !== undefined) departure.waitsFor = other;
  return false;
}

/** @throws when a primary stays on the branch that another is to move to. */
export async function refuseOccupiedBranch(
  call: Call<never>,
  args: ComputeEndpointShape,
  moving: EndpointRecord,
): Promise<void> {
  if (moving.type !== PRIMARY || isSameName(moving.branch_id, args.branchId)) return;
  const occupant = await findOccupant(call, args, moving.id);
  if (occupant === undefined) return;
  const left = call.run.leftBy(computeObject(occupant.id));
  if (left !== undefined) throw new Error(`${deletedLast(occupant, left, "this move")}. Nothing was changed`);
  const order = orderAdvice(call, occupant);
  throw new Error(
    `${occupiedBranch(occupant)}. Nothing was changed. ${order === "" ? "Use" : `${order}. Otherwise use`} ${twoSteps(occupant.id)}`,
  );
}

/** What to do if another resource of the program has the primary that stays; empty otherwise. */
export function orderAdvice({ run }: Call<never>, { id }: EndpointRecord): string {
  const owner = run.otherOwner(computeObject(id));
  if (owner === undefined) return "";
  const name = nameInUrn(owner);
  return (
    `"${name}" of this program manages ${id}, whose move has failed or has not started: with --parallel 1 the engine may start it only after this one. ` +
    `If it moves to a free branch, run pulumi up without --parallel, or add "${name}" to dependsOn of this resource`
  );
}

export const occupiedBranch = ({ id, branch_id }: EndpointRecord): string =>
  `${branch_id} already has a primary compute (${id}), and a branch can have only one`;

export const NEW_COMPUTE = 'this new compute (or set "adopt: true" on it, which takes the old one over)';

/** For a primary that leaves too late. `what`: what it is in the way of. */
export const deletedLast = (occupant: EndpointRecord, { name }: Pick<Left, "name">, what: string): string =>
  `${occupiedBranch(occupant)}. "${name}" of this program is replaced, and the old compute is deleted at the end of the run. First run pulumi up without ${what}, then with it`;

/** For the plan and for an update. */
export const waitsInTurn = (moverId: string): string =>
  `that one in turn waits for the branch of ${moverId}: computes cannot swap branches in one step`;

export const SWAP_ADVICE =
  "Use two steps: first move one of them to a free branch and run pulumi up; then move it to its branch and run pulumi up again";

/** Ends a sentence that says what to do. */
export const twoSteps = (occupantId: string): string =>
  `two steps: first move ${occupantId} to a free branch, or remove it from the program, and run pulumi up; ` +
  "then move this one and run pulumi up again";

/** The error for a compute that exists where another is to be created. */
export function alreadyExists(endpoint: EndpointRecord): Error {
  const isPrimary = endpoint.type === PRIMARY;
  const what = isPrimary
    ? "the branch already has a primary compute"
    : "the branch already has a read replica of this name";
  const adopt = isPrimary ? "adopt: true" : `adopt: '${endpoint.id}'`;
  const counted = isPrimary ? undefined : countOfReplica(endpoint.name ?? "");
  const asList =
    counted === undefined
      ? ""
      : ` (if a ComputeGroup has a count of replicas, use a list instead, with this one as key: "${counted}", the same name, and adopt)`;
  return new Error(
    `${what}: ${endpoint.id} on ${endpoint.branch_id}${createdAgo(endpoint.created_at)}.${possibleOwner(endpoint.created_at)} ` +
      `To manage it here, set "${adopt}" on this resource${asList}; ` +
      `to create a new one, delete ${endpoint.id} first or choose another branch${ALIAS_ADVICE}`,
  );
}

/** Why the compute that "adopt" names is not taken over; undefined if it is. */
export function refusalToAdopt(endpoint: EndpointRecord | undefined, type: string): string | undefined {
  if (endpoint === undefined)
    return '"adopt" names a compute that is not in this project. Remove "adopt" to create a new one';
  return endpoint.type === type
    ? undefined
    : `"adopt" names ${endpoint.id}, whose type is ${endpoint.type}, not ${type}: a type cannot be changed`;
}

/** The compute that `adopt` names; undefined if the call replaces it, or if this run has deleted it. */
export async function findComputeToAdopt(
  call: Call<never>,
  endpointId: string,
  { projectId, type = PRIMARY }: ComputeEndpointShape,
): Promise<EndpointRecord | undefined> {
  if (call.run.isReplaced(computeObject(endpointId))) return undefined;
  const stillLeaving = `${endpointId} was still being deleted or moved away`;
  const wasDeleted = (): Promise<boolean> => call.run.waitUntilFree(computeObject(endpointId), stillLeaving);
  if (await wasDeleted()) return undefined;
  const seen = mustBeKnown(
    await call.client.computes.find(projectId, endpointId, { ...call, since: performance.now() }),
  );
  const endpoint = seen instanceof Gone ? undefined : seen;
  // Its deletion or move may have begun meanwhile.
  if (await wasDeleted()) return undefined;
  const refusal = refusalToAdopt(endpoint, type);
  if (refusal !== undefined) throw new Error(refusal);
  return endpoint;
}
