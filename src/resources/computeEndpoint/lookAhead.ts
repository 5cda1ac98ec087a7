/** What the lists of the service show about a compute, for a plan. */
import { adoptedObject, computeObject } from "../../contract/claims";
import { type EndpointRecord, Gone, Granted, mustBeKnown, type Permission, Refused, Unknown } from "../../client";
import { isSameName } from "../../contract/forms";
import { nameInUrn } from "../../contract/identifiers";
import type { Finding, Look, Plan, Replaceable, Replacing } from "../../runtime/lifecycle";
import type { Left } from "../../runtime/run/plans";
import { overwriteFindings } from "../../runtime/overwritten";
import { effect, inTheWay, mayLeave, obstacle, staysInTheWay } from "../../runtime/lookAhead";
import {
  alreadyExists,
  deletedLast,
  isBeside,
  isInPlaceOf,
  NEW_COMPUTE,
  occupiedBranch,
  PRIMARY,
  refusalToAdopt,
  SWAP_ADVICE,
  twoSteps,
  waitsInTurn,
} from "./branchOccupancy";
import type { ComputeEndpointShape } from "./computeEndpointDeclaration";
import { isSettled, settingsOf } from "./mapping";
import { overwrittenAt, toSend, type ComputeEndpointOuts, type ToSend } from "./sending";
import { adoptionOf } from "./warnings";
import { listBranches, missingBranch } from "../shared/branches";
import { goneFinding } from "../shared/conflictMessages";
import { splitId } from "../shared/identifiers";

/** The findings about a compute to be created. */
export async function computeFindings(look: Look<ComputeEndpointShape>): Promise<Finding[] | undefined> {
  const { args, givenNames, client, reading } = look;
  const { projectId, branchId, type = PRIMARY, adopt = false } = args;
  const listed = await client.computes.list(projectId, reading);
  const isOpen = (argument: "type" | "adopt"): boolean => givenNames.has(argument) && args[argument] === undefined;
  if (isOpen("type") || isOpen("adopt")) return undefined;
  const leftBy = ({ id }: EndpointRecord): Left | undefined => look.leftBy(computeObject(id));
  const isForeign = (endpoint: EndpointRecord): boolean =>
    look.planned(computeObject(endpoint.id)) === undefined || leftBy(endpoint) !== undefined;

  const named = typeof adopt === "string" ? listed.find(({ id }) => id === adopt) : undefined;
  const refusal = typeof adopt === "string" ? refusalToAdopt(named, type) : undefined;
  // A replacement may still name the compute that it replaces.
  if (refusal !== undefined && look.planned(computeObject(String(adopt))) === undefined) return [obstacle(refusal)];
  const takenOver = (endpoint: EndpointRecord | undefined): Finding[] =>
    endpoint === undefined || !isForeign(endpoint)
      ? underWay(endpoint)
      : [effect(adoptionOf(endpoint, look)), ...underWay(endpoint)];
  if (branchId === undefined) return adopt === true ? undefined : takenOver(named);
  const missing = missingBranch(projectId, branchId, await listBranches(look));
  if (missing !== undefined) return [obstacle(missing)];

  const isSame = isInPlaceOf({ ...args, branchId });
  const existing = listed.find((endpoint) => isSame(endpoint) && endpoint.id !== named?.id && isForeign(endpoint));
  if (adopt === true) return takenOver(existing);
  const left = existing && leftBy(existing);
  if (existing !== undefined && left !== undefined && type === PRIMARY)
    return [staysInTheWay(deletedLast(existing, left, NEW_COMPUTE))];
  if (existing !== undefined && adopt === false) {
    const { message } = alreadyExists(existing);
    return [type === PRIMARY ? mayLeave(message, look) : inTheWay(message)];
  }
  // Two replicas may have the same name.
  if (type !== PRIMARY) return takenOver(named);
  if (existing !== undefined) return [mayLeave(occupiedBranch(existing), look)];
  // A compute of the program that somebody moved here.
  const moved = listed.find((endpoint) => isSame(endpoint) && endpoint.id !== named?.id);
  const { staysWith } = moved === undefined ? {} : fateOf(look, moved);
  return moved === undefined || staysWith === undefined ? takenOver(named) : [managedThere(moved, staysWith)];
}

/** The findings about a compute to be changed. */
export async function updateFindings(
  look: Look<ComputeEndpointShape>,
  plan: Plan<ComputeEndpointShape, ComputeEndpointOuts>,
): Promise<Finding[]> {
  const { stored, changes, label } = plan;
  const { args, client, reading } = look;
  const { projectId, branchId } = args;
  const { rest: id } = splitId(stored.id);
  const own = mustBeKnown(await client.computes.find(projectId, id, reading));
  const what = `compute ${id}${label}`;
  if (own instanceof Gone) return [goneFinding(what)];
  const sending = toSend(args, own, { what, stored, changes });
  if (!(sending.permission instanceof Granted)) return [staysInTheWay(sending.permission.error.message)];
  const overwrites = overwritesOf(look, plan, { what, own, sending });
  if (!changes.changed.has("branchId") || branchId === undefined || isSameName(own.branch_id, branchId))
    return overwrites;
  const missing = missingBranch(projectId, branchId, await listBranches(look));
  if (missing !== undefined) return [...overwrites, obstacle(missing)];
  return [...overwrites, ...(own.type === PRIMARY ? await occupancyFindings(look, own, branchId) : [])];
}

/** What the request of an update overwrites at the compute beside what the plan shows. */
function overwritesOf(
  { args: given, givenNames }: Look<ComputeEndpointShape>,
  { stored, changes }: Plan<ComputeEndpointShape, ComputeEndpointOuts>,
  {
    what,
    own,
    sending: { args, names },
  }: { what: string; own: EndpointRecord; sending: ToSend<Look<ComputeEndpointShape>["args"]> },
): Finding[] {
  const findings = overwriteFindings(what, overwrittenAt(own, { args, names, stored, changes }));
  const isOpen = changes.changed.has("settings") && givenNames.has("settings") && given.settings === undefined;
  const settings = isOpen ? settingsOf(own).filter((path) => !stored.added.includes(path)) : [];
  return settings.length === 0
    ? findings
    : [
        ...findings,
        effect(
          `pulumi up may clear settings of ${what}: "settings" is not known yet, and the service has ${settings.map((path) => `"${path}"`).join(", ")}`,
        ),
      ];
}

/** Whether the service would accept a new primary in place of the old one, on the branch where that one is. */
export const computeReplaceable: Replaceable<ComputeEndpointShape, ComputeEndpointOuts> = {
  asks: 'the branch exists and has no other primary, and "regionId" is the region of the project',
  ask: mayReplace,
};

/** Both have the same arguments but for those that the service decides on: they are in the same project. */
async function mayReplace({
  client,
  reading,
  stored,
  news: { branchId, regionId, type = PRIMARY },
}: Replacing<ComputeEndpointShape, ComputeEndpointOuts>): Promise<Permission> {
  const { projectId, rest: id } = splitId(stored.id);
  const own = await client.computes.find(projectId, id, reading);
  if (own instanceof Unknown) return own;
  // Then nothing is deleted.
  if (own instanceof Gone) return Granted.proven();
  // The plan does not know it yet.
  if (branchId === undefined) return Granted.proven();
  const branches = await client.projects.branches(projectId, reading);
  const missing = missingBranch(projectId, branchId, branches);
  if (missing !== undefined) return Refused.proven(new Error(missing));
  if (branches === undefined && !isSameName(own.branch_id, branchId))
    return Unknown.because({
      question: `whether project ${projectId} has the branch ${branchId}`,
      why: "the service does not list branches",
      waysOut: `Declare the branch of the compute, which is ${own.branch_id}, or remove it from the program, run pulumi up, and add it again`,
    });
  const listed = await client.computes.list(projectId, reading);
  const other = listed.find((one) => one.type === PRIMARY && isSameName(one.branch_id, branchId) && one.id !== id);
  if (type === PRIMARY && other !== undefined) return Refused.proven(new Error(occupiedBranch(other)));
  if (regionId === undefined) return Granted.proven();
  // A compute is in the region of its project (docs/design/api.md, Compute record).
  const region = (await client.projects.region(projectId, reading)) ?? own.region_id;
  if (region !== undefined && isSameName(region, regionId)) return Granted.proven();
  if (region === undefined)
    return Unknown.because({
      question: 'whether the project is in the region that "regionId" names',
      why: "the service shows the region neither of the project nor of the compute",
      waysOut: 'Leave "regionId" out: a compute is always in the region of its project',
    });
  return Refused.proven(
    new Error(
      `"regionId" must be the region of the project, which is ${region}. Declare that one, or leave "regionId" out. For another region, use a project there`,
    ),
  );
}

/** What an update does about a primary on the branch that another is to move to: see `findOccupant`. */
async function occupancyFindings(
  look: Look<ComputeEndpointShape>,
  mover: EndpointRecord,
  branchId: string,
): Promise<Finding[]> {
  const listed = await look.client.computes.list(look.args.projectId, look.reading);
  const primaryOn = (branch: string): EndpointRecord | undefined =>
    listed.find((one) => isBeside({ branchId: branch })(one) && one.id !== mover.id);
  const occupant = primaryOn(branchId);
  if (occupant === undefined) return [];
  const words = occupiedBranch(occupant);
  const { staysWith, goesLast, isUnknown, goal } = fateOf(look, occupant);
  if (staysWith !== undefined) return [managedThere(occupant, staysWith)];
  if (goesLast !== undefined) return [staysInTheWay(deletedLast(occupant, { name: goesLast }, "this move"))];
  if (isUnknown === true) {
    const unless = look.isComplete
      ? "Use"
      : "If this program moves it away, add its resource to dependsOn of this one. Otherwise use";
    return [mayLeave(`${words}. ${unless} ${twoSteps(occupant.id)}`, look)];
  }
  // Follows the moves from branch to branch: in a circle, each waits for the next.
  const passed = new Set<string>();
  for (let branch = goal; branch !== undefined && !passed.has(branch);) {
    if (isSameName(branch, mover.branch_id))
      return [staysInTheWay(`${words}; ${waitsInTurn(mover.id)}. ${SWAP_ADVICE}`)];
    passed.add(branch);
    const next = primaryOn(branch);
    branch = next && fateOf(look, next).goal;
  }
  return [];
}

/**
 * What happens to a primary in this run, as far as resources were compared: it stays, or leaves for a branch that may
 * be known.
 */
interface Fate {
  /** The name of the primary's resource. */
  readonly staysWith?: string;
  readonly goal?: string;
  /** The name of its resource, which is replaced: the new one is created first, and this one is deleted last. */
  readonly goesLast?: string;
  /** No compared resource has it. One that the program no longer declares is deleted last, which is too late. */
  readonly isUnknown?: true;
}

function fateOf(look: Look<ComputeEndpointShape>, { id }: EndpointRecord): Fate {
  const planned = look.planned(computeObject(id));
  // A new resource may take it over and move it to its own branch.
  if (planned === undefined)
    return look.isDeclared((object) => object === adoptedObject(id)) ? {} : { isUnknown: true };
  const { urn, news, changed, replaces, deletesFirst } = planned;
  if (replaces.size > 0) return deletesFirst ? {} : { goesLast: nameInUrn(urn) };
  if (!changed.has("branchId")) return { staysWith: nameInUrn(urn) };
  const goal: unknown = Reflect.get(news, "branchId");
  return typeof goal === "string" ? { goal } : {};
}

/** Somebody moved it there, since its resource declares another branch. */
const managedThere = (occupant: EndpointRecord, name: string): Finding =>
  staysInTheWay(
    `${occupiedBranch(occupant)}. "${name}" of this program manages it and declares another branch: somebody has moved it. Run pulumi up --refresh, which moves it back`,
  );

/** A compute to be taken over that has an operation in progress. */
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
