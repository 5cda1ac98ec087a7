import { OperationFailedError, type Client, type Endpoint } from "../client";
import { compare } from "../dynamic/changes";
import type { Call, Lifecycle, Observed, Stored } from "../dynamic/lifecycle";
import type { ComputeEndpointOutputs, ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { computeArguments, computeRules } from "./computeArguments";
import { refuseOccupiedBranch, standing } from "./computeConflicts";
import { toArguments, toAttributes, toOutputs } from "./computeMapping";
import { restartActive } from "./computeRestart";
import { computeRemarks, computeWarnings } from "./computeWarnings";
import { splitId } from "./identifiers";

type Shape = ComputeEndpointShape;
type Outputs = ComputeEndpointOutputs & Partial<Shape>;
type Name = keyof Shape;

/** What no request carries: where it goes, and what only this provider knows. */
const NOT_ATTRIBUTES: ReadonlySet<Name> = new Set(["projectId", "restartTriggers", "adopt"]);
/** Attributes that update does not take (service notes, "Values"). */
const CREATE_ONLY: ReadonlySet<Name> = new Set(["type", "regionId"]);

const isUpdatable = (name: Name): boolean => !NOT_ATTRIBUTES.has(name) && !CREATE_ONLY.has(name);

/** A compute (service.md 2.7, 3, 4.5, 8.1). */
export const computeEndpoint: Lifecycle<Shape, Outputs> = {
  kind: "ComputeEndpoint",
  version: 1,
  args: computeArguments,
  // A branch has one primary at most, so the old one must be gone first.
  deleteBeforeReplace: true,
  rules: computeRules,
  warnings: computeWarnings,
  remarks: computeRemarks,

  async create(call, args) {
    const { projectId } = args;
    const before = await call.client.listEndpoints(projectId, { fresh: true, deadline: call.deadline });
    const adopted = standing(before, args);
    if (adopted !== undefined) return { id: pulumiId(projectId, adopted), outputs: await adopt(call, args, adopted) };
    const endpoint = await call.client.createEndpoint(
      projectId,
      { ...toAttributes(args, attributeNames(args)), type: args.type ?? "read_write" },
      { ...changeOptions(call, args), known: before },
    );
    return { id: pulumiId(projectId, endpoint), outputs: toOutputs(projectId, endpoint) };
  },

  async read(call, { id, outs }) {
    const { projectId, rest } = splitId(id);
    const endpoint = await call.client.findEndpoint(projectId, rest, { deadline: call.deadline });
    return endpoint && observed(projectId, endpoint, outs);
  },

  async update(call, { id, outs, managed, unfinished }, args, { changed }) {
    const { projectId, rest } = splitId(id);
    // Beginning to give triggers is no change of one, and a resize restarts an active compute by itself (service.md 3).
    const triggered =
      changed.has("restartTriggers") && managed.has("restartTriggers") && outs.restartTriggers !== undefined;
    const restart = triggered && !changed.has("size");
    let endpoint = await found(call.client, projectId, rest, call);
    // What an unfinished change has sent may not have been applied, so there the service is asked, not the state.
    const names = new Set([...changed, ...(unfinished ? differing(args, endpoint) : [])].filter(isUpdatable));
    if (names.has("branchId")) await refuseOccupiedBranch(call, projectId, endpoint, args.branchId);
    if (names.size > 0) {
      const options = changeOptions(call, args, restart ? ["restartTriggers"] : []);
      endpoint = await call.client.updateEndpoint(projectId, rest, toAttributes(args, names, endpoint), options);
    } else if (unfinished) {
      endpoint = await finish(call, args, endpoint);
    }
    if (restart) endpoint = await restartActive(call, projectId, endpoint, changeOptions(call, args));
    return toOutputs(projectId, endpoint);
  },

  async delete(call, { id }) {
    const { projectId, rest } = splitId(id);
    await call.client.deleteEndpoint(projectId, rest, { deadline: call.deadline, onProgress: call.progress });
  },
};

const pulumiId = (projectId: string, endpoint: Endpoint): string => `${projectId}/${endpoint.id}`;

function attributeNames(args: Partial<Shape>): Set<Name> {
  // Keys of the arguments, checked against the specs.
  const names = Object.keys(args) as Name[];
  return new Set(names.filter((name) => !NOT_ATTRIBUTES.has(name)));
}

function changeOptions(call: Call<Outputs>, { projectId, type, disabled }: Shape, notYet: readonly Name[] = []) {
  return {
    deadline: call.deadline,
    onProgress: call.progress,
    onAccepted: (endpoint: Endpoint) =>
      call.keep(pulumiId(projectId, endpoint), toOutputs(projectId, endpoint), notYet),
    idleIsReady: type === "read_only" || disabled === true,
  };
}

function observed(
  projectId: string,
  endpoint: Endpoint,
  outs: Stored<Shape, Outputs>["outs"],
): Observed<Shape, Outputs> {
  const { settings, ...args } = toArguments(projectId, endpoint, outs.settings);
  return {
    // Without managed parts there is nothing to say of the settings.
    args: settings === undefined ? args : { ...args, settings },
    outputs: toOutputs(projectId, endpoint),
    ready: endpoint.pending_state === undefined && ["active", "idle"].includes(endpoint.current_state),
  };
}

async function found(client: Client, projectId: string, endpointId: string, { deadline }: Call<Outputs>) {
  const endpoint = await client.findEndpoint(projectId, endpointId, { fresh: true, deadline });
  if (endpoint === undefined) {
    throw new Error("it is not there any more. Run pulumi up --refresh, which plans to create it again");
  }
  return endpoint;
}

/** The arguments in which the service differs from the program, whatever the state says. */
function differing(args: Shape, endpoint: Endpoint): Name[] {
  const current = toArguments(args.projectId, endpoint, args.settings);
  return [...compare(computeArguments, current, attributeNames(args), { ...args }).changed].filter(isUpdatable);
}

/** Takes over a compute that stands, and brings it to what is declared. It is in the state from the accepted change on. */
async function adopt(call: Call<Outputs>, args: Shape, endpoint: Endpoint): Promise<Outputs> {
  const { projectId } = args;
  const names = new Set(differing(args, endpoint));
  const options = changeOptions(call, args);
  const ready =
    names.size > 0
      ? await call.client.updateEndpoint(projectId, endpoint.id, toAttributes(args, names, endpoint), options)
      : await call.client.waitForEndpoint(projectId, endpoint.id, { ...options, idleIsReady: true });
  return toOutputs(projectId, ready);
}

/** Goes on waiting where an earlier call has ended; where its operation has failed, the compute is started again. */
async function finish(call: Call<Outputs>, args: Shape, { id }: Endpoint): Promise<Endpoint> {
  const { projectId } = args;
  const options = { ...changeOptions(call, args), idleIsReady: true };
  try {
    return await call.client.waitForEndpoint(projectId, id, options);
  } catch (error) {
    if (!(error instanceof OperationFailedError)) throw error;
    const started = await call.client.startEndpoint(projectId, id, options);
    // A service that cannot be asked to start it: what failed is all there is to say.
    if (started === undefined) throw error;
    return started;
  }
}
