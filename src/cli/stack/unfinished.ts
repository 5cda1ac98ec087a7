import { nameInUrn } from "../../contract/identifiers";
import type { StackState } from "./state";

/**
 * The resource that a repair puts into the state before anything else, and that the engine deletes as the last one. No
 * program declares it: where a repair was cut off, the next `pulumi up` deletes it.
 */
export const REPAIR_TYPE = "pulumi-svc:drift:Repair";

/** The exit code of a command that an update of the stack stops: nothing is known, and a later run may tell. */
export const EXIT_BUSY = 11;

/** Somebody else changes the stack. Of a script this is no failure: it waits. */
export class BusyError extends Error {}

/** An update runs, or was cut off: what the state tells until its end is no base for anything. */
export class UnfinishedError extends BusyError {
  /** The first sentence. */
  readonly what: string;

  constructor(sign: string) {
    const what = `an update of the stack is running, or was interrupted: ${sign}`;
    super(
      `${what}. Wait for its end, as with --wait 600. If its process was killed, run pulumi cancel, then pulumi up --refresh, and pulumi refresh --clear-pending-creates if operations are still pending`,
    );
    this.what = what;
  }
}

/** What an update is changing looks like drift, or like none: the service has it already, and the state not yet. */
export function refuseUnfinished({ pending, resources }: StackState): void {
  if (resources.some(({ type }) => type === REPAIR_TYPE)) throw new UnfinishedError("a repair has not ended");
  if (pending.length === 0) return;
  const names = [...new Set(pending.map(nameInUrn))].map((name) => `"${name}"`).join(", ");
  throw new UnfinishedError(`its change of ${names} has not ended`);
}

/** As the CLI says it, with a backend of files and with a service. A message of a provider has its own beginning. */
const LOCKED = /^(the stack is currently locked by|(\[409\] Conflict: )?another update is currently in progress)/i;

/** @throws where an error of the CLI tells that another operation holds the lock of the stack. */
export function refuseLocked(error: string): void {
  if (LOCKED.test(error)) throw new UnfinishedError("it has locked the stack");
}
