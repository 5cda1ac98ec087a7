import fc from "fast-check";
import { quotedIn } from "../../src/cli/code";
import { terminalJson, terminalText } from "../../src/cli/output";
import { messageOf, oneLine } from "../../src/contract/untrusted";
import { engineError } from "../../src/protocols/dynamic/callErrors";
import { plainError } from "../../src/protocols/engine/errors";
import { CallError } from "../../src/runtime/calls/failures";
import type { Marked } from "../../src/runtime/requests";
import { anyCharacter } from "../support/characters";
import { RUNNER_PARTS, runnerCommandsIn } from "../support/runners";

const COMMANDS = [
  "##vso[task.setvariable variable=PATH]/x",
  "a name ##vso[task.prependpath]/x",
  "##[add-mask]x",
  "##[command]rm",
  "##teamcity[message text='x']",
  "::error::all is lost",
  "   ::add-mask::x",
  "\n::stop-commands::x",
  "\t::set-output name=a::b",
  "#\u034f#vso[task.complete]",
  "#\u00ad#[error]x",
  ":\ufe0f:error::x",
  "\u200b::error::x",
];

const parts = fc.string({
  unit: fc.oneof(fc.constantFrom(...RUNNER_PARTS, " ", "\n", "a", "\\"), anyCharacter),
  maxLength: 12,
});

test("the stand-in for the runners knows their commands", () => {
  for (const text of COMMANDS) expect(runnerCommandsIn(text)).toHaveLength(1);
  for (const text of ["## a heading [x]", "a :: b", "#1 [x]", "std::vector", "https://[::1]:80"])
    expect(runnerCommandsIn(text)).toEqual([]);
});

const CLEANED: Record<string, (text: string) => string> = {
  "a message of the provider": oneLine,
  "what was thrown": messageOf,
  "an error for the engine": (text) => plainError(new Error(text)).message,
  "an error for the engine that keeps the object": (text) =>
    engineError(new CallError(text, undefined, { id: "prj/x", outs: {} }), (outs) => outs as Marked).message,
  "a text on a terminal": terminalText,
  JSON: (text) => terminalJson({ [text]: [text] }),
  "a program": (text) => quotedIn("`", text),
};

describe.each(Object.entries(CLEANED))("%s is no command of a CI runner", (_what, clean) => {
  test("for each that they have", () => {
    for (const text of COMMANDS) {
      const cleaned = clean(text);
      expect(runnerCommandsIn(cleaned)).toEqual([]);
      // It can still be read.
      expect(cleaned).toContain(/[a-z][\w-]*(?=[\]\s:.])/.exec(text)?.[0]);
    }
  });

  test("whatever the text is", () => {
    fc.assert(
      fc.property(parts, (text) => expect(runnerCommandsIn(clean(text))).toEqual([])),
      { numRuns: 2_000 },
    );
  });
});

test("JSON and a program hold the same text as before", () => {
  fc.assert(
    fc.property(parts, (text) => {
      const value = { [text]: [text, { a: text }] };
      expect(JSON.parse(terminalJson(value))).toEqual(value);
      for (const quote of ['"', "'", "`"] as const)
        expect(new Function(`return ${quotedIn(quote, text)}`)()).toBe(text);
    }),
    { numRuns: 1_000 },
  );
});

test("what is no command stays as it is", () => {
  for (const text of ["## a heading [x]", "a :: b", "#1 [x]", "listens on [::1]:80", "size[0]", "a #b [c]"]) {
    expect(oneLine(text)).toBe(text);
    expect(terminalText(text)).toBe(text);
  }
});
