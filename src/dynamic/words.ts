import { WaitTimeoutError } from "../client";
import type { Hidden } from "./properties";

/** Where a wait was too short, how it can be made longer. */
export function patience(thrown: unknown, verb: string): string {
  return thrown instanceof WaitTimeoutError ? ` To wait longer at once, raise "customTimeouts.${verb}".` : "";
}

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): ` */
export function failure(verb: string, kind: string, { __urn }: Hidden, id: string | undefined): string {
  const name = __urn?.split("::").at(-1);
  return `Could not ${verb} ${kind}${id === undefined ? "" : ` ${id}`}${name === undefined ? "" : ` ("${name}")`}: `;
}

/** Of an argument that the program gave and gives no more. */
export function droppedWarning(kind: string, id: string, name: string, unreadable: boolean): string {
  const what = `"${name}" of ${kind} ${id} is no longer managed`;
  return unreadable
    ? what
    : `${what}: it stays as it is at the service, and a change of it there is not found any more`;
}
