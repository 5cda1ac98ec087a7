import type { Properties } from "../../src/contract/hiddenKeys";
import type { Marked } from "../../src/runtime/requests";
import { markedOuts } from "../../src/runtime/secrets";
import { asSecret } from "../support/engineMarks";

const RULES = { args: { password: { secret: true as const } }, secretOutputs: ["key"] };
const NOTHING = { given: {}, stored: {} };

test("what a protocol hands to the engine is made here: neither other properties nor a copy with one more are of its type", () => {
  const properties: Properties = { key: "canary" };
  const marked = markedOuts(RULES, properties, NOTHING);
  // @ts-expect-error: nothing has looked at it.
  const plain: Marked = properties;
  // @ts-expect-error: nobody has looked at the password.
  const added: Marked = { ...marked, password: "canary" };
  expect([plain, added, marked]).toEqual([
    { key: "canary" },
    { key: asSecret("canary"), password: "canary" },
    { key: asSecret("canary") },
  ]);
});
