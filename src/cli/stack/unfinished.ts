import { nameInUrn } from "../../contract/identifiers";
import type { StackState } from "./state";

/**
 * A repair adds this resource to the state first, and the engine deletes it last. No program declares it: after an
 * interrupted repair, the next `pulumi up` deletes it.
 */
export const REPAIR_TYPE = "pulumi-svc:drift:Repair";

/** The exit code if an update of the stack prevents a result. A later run may succeed. */
export const EXIT_BUSY = 11;

/** Somebody else is changing the stack. A script can wait and retry. */
export class BusyError extends Error {}

/** An update is running or was interrupted: until it is finished, the state is not reliable. */
export class UnfinishedError extends BusyError {
  /** The first sentence. */
  readonly what: string;

  constructor(sign: string) {
    const what = `an update of the stack is running, or was interrupted: ${sign}`;
    super(
      `${what}. Wait for its end, for example with --wait 600. If its process was killed, run pulumi cancel, then pulumi up --refresh, and pulumi refresh --clear-pending-creates if operations are still pending`,
    );
    this.what = what;
  }
}

/**
 * What an update is changing may falsely look like drift, or hide it: the service already has the change, and the state
 * does not.
 */
export function refuseUnfinished({ pending, resources }: StackState): void {
  if (resources.some(({ type }) => type === REPAIR_TYPE)) throw new UnfinishedError("a repair has not ended");
  if (pending.length === 0) return;
  const names = [...new Set(pending.map(nameInUrn))].map((name) => `"${name}"`).join(", ");
  throw new UnfinishedError(`its change of ${names} has not ended`);
}

/** The CLI's message, with a file backend and with a service. Messages of a provider begin differently. */
const LOCKED = /^(the stack is currently locked by|(\[409\] Conflict: )?another update is currently in progress)/i;

/** @throws if the CLI's error says that another operation holds the lock of the stack. */
export function refuseLocked(error: string): void {
  if (LOCKED.test(error)) throw new UnfinishedError("it has locked the stack");
}
