import type { Client, Endpoint } from "../client";
import { compare } from "../dynamic/changes";
import type { Call, Lifecycle, Observed, Stored } from "../dynamic/lifecycle";
import type { ComputeEndpointOutputs, ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { computeArguments, computeRules } from "./computeArguments";
import { refuseOccupiedBranch, standing } from "./computeConflicts";
import { toArguments, toAttributes, toOutputs } from "./computeMapping";
import { restartActive } from "./computeRestart";
import { computeWarnings } from "./computeWarnings";
import { splitId } from "./identifiers";

type Shape = ComputeEndpointShape;
type Outputs = ComputeEndpointOutputs & Partial<Shape>;
type Name = keyof Shape;

/** What no request carries: where it goes, and what only this provider knows. */
const NOT_ATTRIBUTES: ReadonlySet<Name> = new Set(["projectId", "restartTriggers", "adopt"]);
/** Attributes that update does not take (service notes, "Values"). */
const CREATE_ONLY: ReadonlySet<Name> = new Set(["type", "regionId"]);

/** A compute (service.md 2.7, 3, 4.5, 8.1). */
export const computeEndpoint: Lifecycle<Shape, Outputs> = {
  kind: "ComputeEndpoint",
  version: 1,
  args: computeArguments,
  // A branch has one primary at most, so the old one must be gone first.
  deleteBeforeReplace: true,
  rules: computeRules,
  warnings: computeWarnings,

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
    const endpoint = await call.client.getEndpoint(projectId, rest, { deadline: call.deadline });
    return endpoint && observed(projectId, endpoint, outs);
  },

  async update(call, { id, outs, managed }, args, { changed }) {
    const { projectId, rest } = splitId(id);
    const names = new Set([...changed].filter((name) => !NOT_ATTRIBUTES.has(name) && !CREATE_ONLY.has(name)));
    const options = changeOptions(call, args);
    let endpoint = await found(call.client, projectId, rest, call);
    if (names.has("branchId")) await refuseOccupiedBranch(call, projectId, endpoint, args.branchId);
    endpoint =
      names.size > 0
        ? await call.client.updateEndpoint(projectId, rest, toAttributes(args, names, endpoint), options)
        : await call.client.waitForEndpoint(projectId, rest, { ...options, idleIsReady: true });
    // Beginning to give triggers is no change of one.
    const triggered =
      changed.has("restartTriggers") && managed.has("restartTriggers") && outs.restartTriggers !== undefined;
    // A resize has restarted it already (service.md 3).
    if (triggered && !names.has("size")) endpoint = await restartActive(call, projectId, endpoint, options);
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

function changeOptions(call: Call<Outputs>, { projectId, type, disabled }: Shape) {
  return {
    deadline: call.deadline,
    onProgress: call.progress,
    onAccepted: (endpoint: Endpoint) => call.keep(pulumiId(projectId, endpoint), toOutputs(projectId, endpoint)),
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
  const endpoint = await client.getEndpoint(projectId, endpointId, { fresh: true, deadline });
  if (endpoint === undefined) {
    throw new Error("it is not there any more. Run pulumi up --refresh, which plans to create it again");
  }
  return endpoint;
}

/** Takes over a compute that stands, and brings it to what is declared. */
async function adopt(call: Call<Outputs>, args: Shape, endpoint: Endpoint): Promise<Outputs> {
  const { projectId } = args;
  call.keep(pulumiId(projectId, endpoint), toOutputs(projectId, endpoint));
  const given = attributeNames(args);
  const current = toArguments(projectId, endpoint, args.settings);
  const { changed } = compare(computeArguments, current, given, { ...args });
  const names = new Set([...changed].filter((name) => given.has(name) && !CREATE_ONLY.has(name)));
  const options = changeOptions(call, args);
  const ready =
    names.size > 0
      ? await call.client.updateEndpoint(projectId, endpoint.id, toAttributes(args, names, endpoint), options)
      : await call.client.waitForEndpoint(projectId, endpoint.id, { ...options, idleIsReady: true });
  return toOutputs(projectId, ready);
}
