/** An error as the engine prints it (docs/design/engine.md, Errors). */
import { messageOf, oneLine } from "../../contract/untrusted";
import { debugStacks } from "../../contract/settings";

const LONGEST_MESSAGE = 2_000;

/**
 * The only error that leaves the provider, beside the one of a call that leaves an object behind: no `id`, no stack (the
 * engine prints it, with paths), no cause, a message of at most 2 kB. `origin`: the error whose stack is printed with
 * SVC_DEBUG.
 */
export function plainError(thrown: unknown, origin = thrown): Error {
  const message = messageOf(thrown);
  // Cut, it may end in half a character, and gRPC ends the process over that.
  const short = (): string => `${oneLine(message.slice(0, LONGEST_MESSAGE))}…`;
  const error = new Error(message.length > LONGEST_MESSAGE ? short() : message);
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
