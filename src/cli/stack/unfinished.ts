import { nameInUrn } from "../../contract/identifiers";
import type { StackState, StoredResource } from "./state";

/**
 * A repair adds this resource to the state first, and the engine deletes it last. No program declares it: after an
 * interrupted repair, the next `pulumi up` deletes it. Its input `before` holds what the same repair needs to go on.
 */
export const REPAIR_TYPE = "pulumi-svc:drift:Repair";

/** Somebody else is changing the stack. A script can wait and retry. */
export class BusyError extends Error {}

const GO_ON =
  "run pulumi cancel, then pulumi up --refresh, and pulumi refresh --clear-pending-creates if operations are still pending";
const GO_ON_REPAIRING =
  "run pulumi cancel if the stack is locked, and then the same pulumi-svc drift --repair, which finishes it and deploys nothing else";

/** An update is running or was interrupted: until it is finished, the state is not reliable. */
export class UnfinishedError extends BusyError {
  /** The first sentence. */
  readonly what: string;

  /** @param goOn what to do if the process of the update was killed */
  constructor(sign: string, goOn = GO_ON) {
    const what = `an update of the stack is running, or was interrupted: ${sign}`;
    super(`${what}. Wait for its end, for example with --wait 600. If its process was killed, ${goOn}`);
    this.what = what;
  }
}

export const repairMarkIn = ({ resources }: Pick<StackState, "resources">): StoredResource | undefined =>
  resources.find(({ type }) => type === REPAIR_TYPE);

/**
 * What an update is changing may falsely look like drift, or hide it: the service already has the change, and the state
 * does not.
 */
export function refuseUnfinished(state: StackState): void {
  const mark = repairMarkIn(state);
  // That of an older version says nothing.
  if (mark !== undefined)
    throw new UnfinishedError(
      "a repair has not ended",
      mark.inputs?.["before"] === undefined ? GO_ON : GO_ON_REPAIRING,
    );
  if (state.pending.length === 0) return;
  throw new UnfinishedError(`its change of ${quotedNames(state.pending)} has not ended`);
}

/** The names of resources, each once. */
export const quotedNames = (urns: readonly string[]): string =>
  [...new Set(urns.map(nameInUrn))].map((name) => `"${name}"`).join(", ");

/** The CLI's message, with a file backend and with a service. Messages of a provider begin differently. */
const LOCKED =
  /^(could not import deployment: )?(the stack is currently locked by|(\[409\] Conflict: )?another update is currently in progress)/i;

/** @throws if the CLI's error says that another operation holds the lock of the stack. */
export function refuseLocked(error: string, goOn?: string): void {
  if (LOCKED.test(error)) throw new UnfinishedError("it has locked the stack", goOn);
}
