import { isAbsolute } from "node:path";
import { nameInUrn } from "../../contract/identifiers";
import { protocolOf, isOurEntry, kindOfType, pointer } from "../../contract/pointer";
import type { ReadSetting } from "../../contract/settings";
import { fromProgram } from "../stack/configuration";
import { exportedState, type StackState, type StoredResource } from "../stack/state";
import { refuseUnfinished } from "../stack/unfinished";
import type { FleetStack } from "./stacks";

/** The versions of states that are known: the engine's own check of newer ones is not made here. */
const VERSIONS: readonly number[] = [3, 4];

/** A stack with a state from which a result may be drawn. */
export interface FleetState {
  readonly stack: FleetStack;
  readonly state: StackState;
  /** The entries that a refresh of our resources reads. */
  readonly resources: readonly StoredResource[];
}

/** @throws why nothing is known about the stack: what only the engine can find out, or a state that cannot be read. */
export async function reliableState(stack: FleetStack): Promise<FleetState> {
  const state = await exportedState(stack.pulumi, true);
  const { version } = state;
  if (version === undefined || !VERSIONS.includes(version))
    throw new Error(
      `its state has version ${version ?? "unknown"}, and this version of pulumi-svc knows ${VERSIONS.join(" and ")}`,
    );
  refuseUnfinished(state);
  const resources = state.resources.filter(isOurEntry);
  for (const resource of resources) mustBeOurs(state, resource);
  return { stack, state, resources };
}

/** The engine asks the provider that the state names, and the package that is installed beside the program. */
function mustBeOurs(state: StackState, { urn, type, outputs, provider = "" }: StoredResource): void {
  const name = JSON.stringify(nameInUrn(urn));
  const kind = kindOfType(type);
  if (kind === undefined) throw new Error(`${name} is of the type ${type}, which this version of pulumi-svc lacks`);
  if (protocolOf(type) === "dynamic" && outputs?.["__provider"] !== pointer(kind))
    throw new Error(`${name} is not a resource of this package`);
  if (state.find(provider) === undefined) throw new Error(`the state lacks the provider of ${name}`);
}

/**
 * The settings that the last `pulumi up` stored for a provider, otherwise those of the environment: as a refresh reads
 * them in the program's folder.
 */
export function settingsOf({ stack: { folder }, state }: FleetState, provider: string): ReadSetting {
  const read = state.settingsOf(provider);
  if (folder !== undefined) return fromProgram(folder, read);
  const file = read("apiKeyFile")?.trim() ?? "";
  if (file !== "" && !isAbsolute(file))
    throw new Error(
      "svc:apiKeyFile is relative to the folder of its program: give this folder as an argument, or run this in it",
    );
  return read;
}
