import type { Endpoint } from "../client";
import { compare } from "../dynamic/changes";
import type { Call } from "../dynamic/lifecycle";
import type { ComputeEndpointOutputs, ComputeEndpointShape } from "../resources/ComputeEndpoint";
import { computeArguments } from "./computeArguments";
import { toArguments, toOutputs } from "./computeMapping";

type Shape = ComputeEndpointShape;
export type ComputeOutputs = ComputeEndpointOutputs & Partial<Shape>;
export type ComputeArgument = keyof Shape;

/** What no request carries: where it goes, and what only this provider knows. */
const NOT_ATTRIBUTES: ReadonlySet<ComputeArgument> = new Set(["projectId", "restartTriggers", "adopt"]);
/** Attributes that update does not take (service notes, "Values"). */
const CREATE_ONLY: ReadonlySet<ComputeArgument> = new Set(["type", "regionId"]);

export const isUpdatable = (name: ComputeArgument): boolean => !NOT_ATTRIBUTES.has(name) && !CREATE_ONLY.has(name);

/** The names of the given arguments that a creation sends. */
export function attributeNames(args: Partial<Shape>): Set<ComputeArgument> {
  // Keys of the arguments, checked against the specs.
  const names = Object.keys(args) as ComputeArgument[];
  return new Set(names.filter((name) => !NOT_ATTRIBUTES.has(name)));
}

/** The arguments in which the service differs from the program, whatever the state says. */
export function differing(args: Shape, endpoint: Endpoint): Set<ComputeArgument> {
  const current = toArguments(args.projectId, endpoint, args.settings);
  return new Set(compare(computeArguments, current, attributeNames(args), { ...args }).changed);
}

/** Whether nothing is under way any more, as far as the record of the compute tells. */
export const isSettled = ({ current_state, pending_state }: Endpoint): boolean =>
  pending_state === undefined && ["active", "idle"].includes(current_state);

export const pulumiId = (projectId: string, endpoint: Endpoint): string => `${projectId}/${endpoint.id}`;

interface Change {
  /** What may hold secrets besides the arguments: what the state or the service has of the compute. */
  readonly secretsIn?: readonly unknown[];
  /** Changed arguments that the change does not apply yet. */
  readonly notYet?: readonly ComputeArgument[];
}

/** How a change is sent and waited for. */
export function changeOptions(call: Call<ComputeOutputs>, args: Shape, { secretsIn = [], notYet = [] }: Change = {}) {
  const { projectId, type, disabled } = args;
  return {
    deadline: call.deadline,
    onProgress: call.progress,
    secretsIn: [args, ...secretsIn],
    onAccepted: (endpoint: Endpoint) =>
      call.keep(pulumiId(projectId, endpoint), toOutputs(projectId, endpoint), notYet),
    idleIsReady: type === "read_only" || disabled === true,
  };
}
