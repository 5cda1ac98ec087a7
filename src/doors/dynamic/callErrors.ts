/** Errors in the form that the SDK's provider process needs (docs/design/engine.md, Errors). */
import type { Properties } from "../../contract/hiddenKeys";
import { messageOf, oneLine } from "../../contract/untrusted";
import { debugStacks } from "../../contract/settings";
import { CallError } from "../../host/calls";
import type { Marked } from "../../host/requests";

const LONGEST_MESSAGE = 2_000;

/**
 * Converts what was thrown to the form that may leave the provider. Anything but an `Error` would end as "undefined" or
 * hang the call.
 */
export function engineError(thrown: unknown, mark: (outs: Properties) => Marked): Error {
  if (!(thrown instanceof CallError)) return plainError(thrown);
  const kept = thrown.kept();
  return kept === undefined
    ? plainError(thrown.message, thrown.cause)
    : partialError(kept.id, mark(kept.outs), thrown.message);
}

/**
 * The only error that leaves the provider, beside `partialError`: no `id`, no stack (the engine prints it, with paths),
 * no cause, a message of at most 2 kB. `origin`: the error whose stack is printed with SVC_DEBUG.
 */
export function plainError(thrown: unknown, origin = thrown): Error {
  const message = messageOf(thrown);
  const error = new Error(message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
  const frames = debugStacks() && origin instanceof Error ? framesOf(origin) : [];
  error.stack = frames.length === 0 ? "" : [String(error), ...frames].join("\n");
  return error;
}

/**
 * A stack begins with the raw message, which may contain lines that look like frames. If the message differs, no frames
 * are taken.
 */
function framesOf({ message, stack = "" }: Error): string[] {
  const start = stack.indexOf(message);
  const lines = start === -1 ? [] : stack.slice(start + message.length).split("\n");
  return lines.filter((line) => line.startsWith("    at ")).map(oneLine);
}

/**
 * The engine stores `id` and `properties` and shows the reasons. Properties without `__provider` would make the state
 * unusable for ever.
 */
function partialError(id: string, properties: Marked, reason: string): Error {
  const { message } = plainError(reason);
  const error = Object.assign(new Error(message), { id, reasons: [message] });
  // Not enumerable: they hold secrets, and anything that prints an error prints its enumerable properties.
  Object.defineProperty(error, "properties", { value: properties, configurable: true });
  error.stack = "";
  return error;
}
