import { debugStacks } from "../contract/settings";
import { clean, type Properties } from "../contract/hiddenKeys";
import { oneLine } from "../contract/oneLine";

const LONGEST_MESSAGE = 2_000;

/** What was thrown, in words. Anything but an `Error` would end as "undefined" or hang the call (docs/design/engine.md, Errors). */
export function messageOf(thrown: unknown): string {
  // It may name what the service shows: a state, a branch.
  if (thrown instanceof Error && thrown.message !== "") return oneLine(thrown.message);
  if (typeof thrown === "string" && thrown !== "") return oneLine(thrown);
  return "an unexpected failure without a message";
}

/**
 * All that leaves the provider, beside `partialError`: no `id`, no stack (the engine prints it, with paths), no cause, a
 * message of at most 2 kB.
 */
export function plainError(thrown: unknown, prefix = ""): Error {
  const message = `${prefix}${messageOf(thrown)}`;
  const error = new Error(message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
  const frames = debugStacks() && thrown instanceof Error ? framesOf(thrown) : [];
  error.stack = frames.length === 0 ? "" : [String(error), ...frames].join("\n");
  return error;
}

/** A stack begins with the raw message, which may have lines that look like frames. Of one with another message nothing is taken. */
function framesOf({ message, stack = "" }: Error): string[] {
  const start = stack.indexOf(message);
  const lines = start === -1 ? [] : stack.slice(start + message.length).split("\n");
  return lines.filter((line) => line.startsWith("    at ")).map(oneLine);
}

/**
 * The engine keeps `id` and `properties` in the state and shows the reasons. Properties without `__provider` would poison
 * the state for ever (docs/design/engine.md, Errors).
 */
export function partialError(id: string, properties: Properties, reason: string): Error {
  const { message, stack } = plainError(reason);
  const error = Object.assign(new Error(message), { id, reasons: [message] });
  // They hold secrets, and whatever prints an error prints all that can be enumerated.
  Object.defineProperty(error, "properties", { value: clean(properties), configurable: true });
  error.stack = stack ?? "";
  return error;
}
