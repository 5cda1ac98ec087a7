/** What a failed call says. */
import { LockedError, mayHaveTakenEffect, NotShownError, RateLimitError, StandInError, SvcError } from "../../client";
import { keySource } from "../../contract/apiKey";
import type { Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import { standInsIn } from "../../contract/standIns";
import { messageOf } from "../../contract/untrusted";
import type { Kept } from "../requests";
import type { Hosted } from "../session";
import type { Marks } from "../state";
import { isLate, type Verb } from "./call";

/** A failed call, with a message for users. */
export class CallError extends Error {
  readonly #kept: Kept | undefined;

  /** `kept`: what the state must hold although the call failed. */
  constructor(message: string, cause: unknown, kept?: Kept) {
    super(message, { cause });
    this.#kept = kept;
  }

  // Not a property: it holds secrets, and anything that prints an error prints its properties.
  kept(): Kept | undefined {
    return this.#kept;
  }
}

interface Failure {
  readonly verb: Verb;
  readonly urn: string | undefined;
  readonly id: string | undefined;
  readonly thrown: unknown;
  /** A sentence, or empty. */
  readonly advice: string;
  readonly kept?: Kept | undefined;
}

/** `Could not update ComputeEndpoint prj-demo/ep-1 ("api"): `, followed by the message of what was thrown. */
export function failure<Args extends object, Outputs extends object>(
  { resource }: Hosted<Args, Outputs>,
  { verb, urn, id, thrown, advice, kept }: Failure,
): CallError {
  const what = `Could not ${verb} ${resource.kind}${id === undefined ? "" : ` ${id}`}${labelOf(urn)}`;
  return new CallError(`${what}: ${messageOf(thrown)}${advice === "" ? "" : `.${advice}`}`, thrown, kept);
}

/** For a replacement whose old object is deleted, and whose new one could not be created: first of all, what is lost. */
export function lostInReplacement<Args extends object, Outputs extends object>(
  { resource: { kind, recreation } }: Hosted<Args, Outputs>,
  { urn, id, thrown, advice }: Pick<Failure, "urn" | "id" | "thrown" | "advice">,
): CallError {
  const deleted = `${kind} ${id}${labelOf(urn)} was deleted to be replaced, and`;
  // The error itself says what to do.
  if (mayHaveTakenEffect(thrown)) {
    const open = `${deleted} it is not known whether the new one was created: ${messageOf(thrown)}`;
    return new CallError(advice === "" ? open : `${open}.${advice}`, thrown);
  }
  const again = recreation === undefined ? "" : `: ${recreation}`;
  const message = `${deleted} the new one could not be created: ${messageOf(thrown)}. Mend the cause, or restore the earlier arguments in the program, and run pulumi up again, which creates it${again}.${advice}`;
  return new CallError(message, thrown);
}

const OWN_VALUE =
  "declare the value that it shows, leave the argument out, or add the path to ignoreChanges. The account may have a limit that excludes the declared value";

/** What to do about a change that was kept. Sending a value again does not help if the service keeps another one. */
export function goingOn(thrown: unknown): string {
  if (!(thrown instanceof NotShownError)) return ": run pulumi up again";
  return thrown.isAgain
    ? `. It was so after the change before, too: the service keeps its own value. To go on, ${OWN_VALUE}`
    : `: run pulumi up again. If the service shows the same then, it keeps its own value: ${OWN_VALUE}`;
}

/** Advice for a call that its deadline ended; empty for any other. */
export const timeoutAdvice = (thrown: unknown, verb: Verb, totalMs: number): string =>
  isLate(thrown, totalMs) ? ` To wait longer, raise "customTimeouts.${verb}".` : "";

/**
 * The same for a read. Waiting that 429 and 423 ask for is not charged to it. A refresh takes its timeout from the
 * outs, which only an update rewrites.
 */
export function readTimeoutAdvice(thrown: unknown, isStored: boolean): string {
  const isHeldOff = thrown instanceof RateLimitError || thrown instanceof LockedError;
  if (!(thrown instanceof SvcError) || thrown.deadlineMs === undefined || isHeldOff) return "";
  const since = isStored ? "; a refresh uses the new value only after the next update of the resource" : "";
  return ` To wait longer, raise "customTimeouts.read"${since}.`;
}

/** For a call whose key is refused: where the key comes from, and what to do. Empty for any other failure. */
export function keyAdvice<Args extends object, Outputs extends object>(
  { session, readSetting }: Hosted<Args, Outputs>,
  thrown: unknown,
  stored?: Marks,
): string {
  const advice = session.adviceOn(thrown, readSetting);
  if (advice === "") return "";
  // True for a read or a deletion of a stored object. A running program calls `check`, and brings the current key.
  const isStored = stored?.__version !== undefined && session.memory.claims.checked.size === 0;
  // A key that is stored by name, or is in the environment, was read just now.
  const source = keySource(readSetting);
  return isStored && source?.isConfigured === true && source.form === "apiKey"
    ? ` ${advice}. Refresh and destroy do not run the program: they use the key that is stored with the stack. After a rotation, run \`pulumi up\` first, or add --run-program. ` +
        "With svc:apiKeyEnv or svc:apiKeyFile the stack stores only a name, and a rotation needs neither step."
    : ` ${advice}`;
}

/** For a request that would have sent a text of the state in place of a value: names the arguments that contain one. */
export function withoutStandIns(thrown: unknown, news: Properties): unknown {
  const names = thrown instanceof StandInError ? standInsIn(news) : [];
  if (names.length === 0) return thrown;
  const [is, it, them] = names.length === 1 ? ["is a placeholder", "It", "it"] : ["are placeholders", "They", "them"];
  return new Error(
    `${names.map((name) => `"${name}"`).join(", ")} ${is} in the state for a value that the service does not show. ${it} would have been sent as the real value, ` +
      `so nothing was sent. Give the real value in the program, and remove ${them} from ignoreChanges`,
  );
}
