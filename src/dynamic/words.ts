import { SvcError, WaitTimeoutError } from "../client";
import type { Hidden } from "./properties";

/** Where the time of the call was too short, how it can be made longer. A read may have had less, whatever that is. */
export function patience(thrown: unknown, verb: string, totalMs: number): string {
  const isOver = thrown instanceof SvcError && thrown.deadlineMs === totalMs;
  return thrown instanceof WaitTimeoutError || isOver ? ` To wait longer at once, raise "customTimeouts.${verb}".` : "";
}

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): ` */
export function failure(verb: string, kind: string, { __urn }: Hidden, id: string | undefined): string {
  const name = __urn === undefined ? undefined : nameOf(__urn);
  return `Could not ${verb} ${kind}${id === undefined ? "" : ` ${id}`}${name === undefined ? "" : ` ("${name}")`}: `;
}

const nameOf = (urn: string): string | undefined => urn.split("::").at(-1);

/** Instead of a deletion. */
export function stays(kind: string, id: string, holder: string): string {
  return `${kind} ${id} stays at the service: "${nameOf(holder)}" holds it now`;
}

export function heldTwice(kind: string, id: string, holder: string): string {
  return `${kind} ${id} is held by "${nameOf(holder)}" as well: they undo each other's changes. Declare it once`;
}

/** Of an argument that the program gave and gives no more. */
export function droppedWarning(kind: string, id: string, name: string, unreadable: boolean): string {
  const what = `"${name}" of ${kind} ${id} is no longer managed`;
  return unreadable
    ? what
    : `${what}: it stays as it is at the service, and a change of it there is not found any more`;
}
