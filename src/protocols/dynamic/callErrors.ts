/** Errors of calls in the form that the SDK's provider process needs (docs/design/engine.md, Errors). */
import type { Properties } from "../../contract/hiddenKeys";
import { CallError } from "../../runtime/calls/failures";
import type { Marked } from "../../runtime/requests";
import { plainError } from "../engine/errors";

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
