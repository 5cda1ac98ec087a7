import type { EndpointRecord } from "../../client";
import type { Finding, Look } from "../../host/lifecycle";
import { effect, inTheWay, obstacle } from "../../host/lookAhead";
import { alreadyExists, computeObject, occupiedBranch, PRIMARY, refusalToAdopt } from "./branchOccupancy";
import type { ComputeEndpointShape } from "./declaration";
import { isSettled } from "./mapping";
import { adoptionOf } from "./warnings";
import { listBranches, missingBranch } from "../shared/branches";

/** What the lists show about a compute that is to be created, for a plan. */
export async function computeFindings(look: Look<ComputeEndpointShape>): Promise<Finding[] | undefined> {
  const { args, givenNames, client, reading } = look;
  const { projectId, branchId, type = PRIMARY, name, adopt = false } = args;
  const listed = await client.computes.list(projectId, reading);
  const isOpen = (argument: "type" | "adopt"): boolean => givenNames.has(argument) && args[argument] === undefined;
  if (isOpen("type") || isOpen("adopt")) return undefined;
  const isForeign = ({ id }: EndpointRecord): boolean => !look.isOfProgram(computeObject(id));

  const named = typeof adopt === "string" ? listed.find(({ id }) => id === adopt) : undefined;
  const refusal = typeof adopt === "string" ? refusalToAdopt(named, type) : undefined;
  // A replacement may go on naming the compute that it replaces.
  if (refusal !== undefined && !look.isOfProgram(computeObject(String(adopt)))) return [obstacle(refusal)];
  const takenOver = (endpoint: EndpointRecord | undefined): Finding[] =>
    endpoint === undefined || !isForeign(endpoint)
      ? underWay(endpoint)
      : [effect(adoptionOf(endpoint, look)), ...underWay(endpoint)];
  if (branchId === undefined) return adopt === true ? undefined : takenOver(named);
  const branches = await listBranches(look);
  if (branches?.some(({ id }) => id === branchId) === false)
    return [obstacle(missingBranch(projectId, branchId, branches))];

  const isSame = (endpoint: EndpointRecord): boolean =>
    endpoint.branch_id === branchId &&
    endpoint.type === type &&
    (type === PRIMARY || (name !== undefined && endpoint.name === name));
  const existing = listed.find((endpoint) => isSame(endpoint) && endpoint.id !== named?.id && isForeign(endpoint));
  if (adopt === true) return takenOver(existing);
  if (existing !== undefined && adopt === false) return [inTheWay(alreadyExists(existing).message)];
  // Two replicas may have the same name.
  return existing !== undefined && type === PRIMARY ? [inTheWay(occupiedBranch(existing))] : takenOver(named);
}

/** A compute that is to be taken over while something is under way there. */
function underWay(endpoint: EndpointRecord | undefined): Finding[] {
  if (endpoint === undefined || isSettled(endpoint)) return [];
  const { id, branch_id, current_state, pending_state } = endpoint;
  const goal = pending_state === undefined ? "" : `, on its way to "${pending_state}"`;
  return [
    obstacle(
      `${id} on ${branch_id}, which "adopt" takes over, is not ready: it is "${current_state}"${goal}. pulumi up waits for it, and starts it if no operation is in progress`,
    ),
  ];
}
