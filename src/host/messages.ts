import { SvcError, WaitTimeoutError } from "../client";
import { nameOf } from "./memory";
import type { Kind } from "../contract/pointer";
import type { Hidden } from "../contract/hiddenKeys";

/** Where the time of the call was too short, how it can be made longer. */
export function patience(thrown: unknown, verb: string, totalMs: number): string {
  const isOver = thrown instanceof SvcError && thrown.deadlineMs === totalMs;
  return thrown instanceof WaitTimeoutError || isOver ? ` To wait longer at once, raise "customTimeouts.${verb}".` : "";
}

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): ` */
export function failure(verb: string, kind: string, { __urn }: Hidden, id: string | undefined): string {
  const name = __urn === undefined ? "" : ` ("${nameOf(__urn)}")`;
  return `Could not ${verb} ${kind}${id === undefined ? "" : ` ${id}`}${name}: `;
}

const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(", ");

/** Of a replacement that may take over what stands where it goes. */
export const adopting = ({ adopt }: { adopt?: unknown }): string =>
  adopt === true ? '; with "adopt" it takes over what is there by then' : "";

/** `consequence` is the lifecycle's `replacement`. */
export function replacementWarning(kind: Kind, id: string, names: readonly string[], consequence: string): string {
  return `${kind} ${id} is replaced, since ${quoted(names)} ${names.length === 1 ? "changes" : "change"}: ${consequence}`;
}

export function possibleReplacement(kind: Kind, id: string, names: readonly string[], consequence: string): string {
  return `${kind} ${id} may be replaced when ${quoted(names)} ${names.length === 1 ? "is" : "are"} known: ${consequence}`;
}

export function declaredTwice(urn: string, what: string): string {
  return `"${nameOf(urn)}" of this program declares ${what} too. Declare it once`;
}

export function heldTwice(kind: string, id: string, holder: string, urn: string): string {
  return (
    `${kind} ${id} is in the state of "${nameOf(urn)}" and of "${nameOf(holder)}", and each would undo the other's changes. ` +
    `Take one of them out of the program; the deletion that pulumi up plans then leaves the object alone`
  );
}

export function stays(kind: Kind, id: string, keeper: string): string {
  return `${kind} ${id} stays at the service: "${nameOf(keeper)}" of this program manages it now`;
}

/** Of an argument that the program gave and gives no more. */
export function droppedWarning(kind: string, id: string, name: string, isShown: boolean): string {
  const what = `"${name}" of ${kind} ${id} is no longer managed`;
  return isShown ? `${what}: it stays as it is at the service, and drift is no longer detected` : what;
}
