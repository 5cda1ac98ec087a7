import { AuthenticationError, SvcError, WaitTimeoutError } from "../client";
import { nameInUrn } from "./memory";
import type { Kind } from "../contract/pointer";
import type { Hidden } from "../contract/hiddenKeys";
import { isUnknown } from "../contract/unknowns";

/** Advice for a call that a deadline ended; empty for any other. */
export function timeoutAdvice(thrown: unknown, verb: string, totalMs: number): string {
  const isOver = thrown instanceof SvcError && thrown.deadlineMs === totalMs;
  return thrown instanceof WaitTimeoutError || isOver ? ` To wait longer at once, raise "customTimeouts.${verb}".` : "";
}

/** What to do when the service refuses the key, by where that comes from. */
export const KEY_ADVICE = {
  configured:
    "It comes from svc:apiKey in the stack's configuration, or from the apiKey of an explicit Provider, which wins over SVC_API_KEY. " +
    "Set it anew with `pulumi config set --secret svc:apiKey`, or in the program",
  environment: "It comes from SVC_API_KEY in the environment. Set that anew",
} as const;

/** Of the first error only of a key that is refused, as all that it advises. */
export const STORED_KEY_ADVICE =
  " Refresh and destroy run no program and use the key that is stored with the stack: after a rotation run `pulumi up` first, or add --run-program.";

export const hasAdvice = (thrown: unknown): boolean =>
  thrown instanceof AuthenticationError && thrown.advice !== undefined;

/** ` ("api")`: the name of a resource in the program, behind what it is at the service. */
export const labelOf = (urn: string | undefined): string =>
  urn === undefined || isUnknown(urn) ? "" : ` ("${nameInUrn(urn)}")`;

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): ` */
export function failurePrefix(verb: string, kind: string, { __urn }: Hidden, id: string | undefined): string {
  const name = labelOf(__urn);
  return `Could not ${verb} ${kind}${id === undefined ? "" : ` ${id}`}${name}: `;
}

const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(", ");

/** For a replacement that may take over an existing object. */
export const adoptionNote = ({ adopt }: { adopt?: unknown }): string =>
  adopt === true ? '; with "adopt" it takes over what is there by then' : "";

/** `subject`: such as `ComputeEndpoint prj-demo/ep-1 ("api")`; `consequence` is the lifecycle's `replacement`. */
export function replacementWarning(subject: string, names: readonly string[], consequence: string): string {
  return `${subject} is replaced, since ${quoted(names)} ${names.length === 1 ? "changes" : "change"}: ${consequence}`;
}

export function possibleReplacement(subject: string, names: readonly string[], consequence: string): string {
  return `${subject} may be replaced when ${quoted(names)} ${names.length === 1 ? "is" : "are"} known: ${consequence}`;
}

/** Of a problem that `svc:allowUnlistedSizes` would make a warning. */
export const NEWER_VALUE_ADVICE = ". Where the service has it by now, set svc:allowUnlistedSizes to true";

/** Of a value that only `svc:allowUnlistedSizes` lets pass. */
export const allowedWarning = (problem: string): string =>
  `${problem}; svc:allowUnlistedSizes lets it through, and the service decides`;

export function declaredTwice(urn: string, what: string): string {
  return `"${nameInUrn(urn)}" of this program declares ${what} too. Declare it once`;
}

export function storedTwice(kind: string, id: string, other: string, urn: string): string {
  return (
    `${kind} ${id} is in the state of "${nameInUrn(urn)}" and of "${nameInUrn(other)}", and each would undo the other's changes. ` +
    `Take one of them out of the program; the deletion that pulumi up plans then leaves the object alone`
  );
}

export function notDeleted(kind: Kind, id: string, owner: string): string {
  return `${kind} ${id} stays at the service: "${nameInUrn(owner)}" of this program manages it now`;
}

/** For a state with values of types that this provider stores nowhere. */
export function editedState(names: readonly string[]): string {
  return (
    `the state holds ${quoted(names)} with a value of another type than this provider stores: somebody has edited it. ` +
    "Nothing was sent. Run pulumi refresh, which takes it from the service again"
  );
}

/** For a request that would have sent a text of the state in place of a value: names the arguments that hold one. */
export function standInNotSent(names: readonly string[]): string {
  const [is, it, them] =
    names.length === 1 ? ["is a text that stands", "It", "it"] : ["are texts that stand", "They", "them"];
  return (
    `${quoted(names)} ${is} in the state for what the service does not show. ${it} would have been sent as the real value, ` +
    `so nothing was sent. Give the real value in the program, and take ${them} out of ignoreChanges`
  );
}

/** Of an argument that the program no longer gives. */
export function droppedWarning(subject: string, name: string, isShown: boolean): string {
  const what = `"${name}" of ${subject} is no longer managed`;
  return isShown ? `${what}: it stays as it is at the service, and drift is no longer detected` : what;
}
