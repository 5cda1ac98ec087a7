import { engineError } from "../../../src/protocols/dynamic/callErrors";
import { plainError } from "../../../src/protocols/engine/errors";
import { CallError } from "../../../src/runtime/calls/failures";
import type { Marked } from "../../../src/runtime/requests";

const before = process.env["SVC_DEBUG"];
afterEach(() => {
  if (before === undefined) Reflect.deleteProperty(process.env, "SVC_DEBUG");
  else process.env["SVC_DEBUG"] = before;
});

/** Escapes, a line end before what looks like a frame, and more than a message may hold. */
const NASTY = `\u001b[2J\u001b]0;owned\u0007\u202eline\r\n    at forged (\u001b[31mx.ts:1:1)\n${"x".repeat(5_000)}\u2028y\n    at forged (x.ts:1:1)`;

test("no stack leaves without SVC_DEBUG", () => {
  process.env["SVC_DEBUG"] = "0";
  expect(plainError(new Error(NASTY)).stack).toBe("");
});

test("with SVC_DEBUG a stack is the clean message and the frames, whatever the service has put into the message", () => {
  process.env["SVC_DEBUG"] = "1";
  const error = engineError(new CallError(`Could not read it: ${NASTY}`, new Error(NASTY)), (outs) => outs as Marked);
  const [first, ...frames] = error.stack?.split("\n") ?? [];
  expect(first).toBe(`Error: ${error.message}`);
  expect(error.message.length).toBeLessThanOrEqual(2_001);
  expect(frames[0]).toMatch(/^ {4}at .*errors\.test\.ts:\d+:\d+\)?$/);
  for (const frame of frames) expect(frame).toMatch(/^ {4}at [^\p{Cc}\p{Cf}\u2028\u2029]+$/u);
  expect(frames.join("\n")).not.toContain("forged");
});

test("of an error without frames, or with those of another message, there is no stack", () => {
  process.env["SVC_DEBUG"] = "1";
  for (const stack of ["", new Error(NASTY).stack])
    expect(plainError(Object.assign(new Error("short"), { stack })).stack).toBe("");
});

test("a message that is cut, or that brings half a character, has whole characters only: others end the process", () => {
  for (const before of [0, 1]) {
    const { message } = plainError(new Error(`${"x".repeat(before)}${"😀".repeat(1_500)}`));
    expect(() => encodeURI(message)).not.toThrow();
  }
  expect(plainError(new Error("half \ud83d, other half \ude00")).message).toBe("half  , other half  ");
});
