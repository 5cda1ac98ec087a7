import { PassThrough } from "node:stream";
import { isAgreed } from "../../src/cli/ask";

test.each([
  ["y\n", true],
  [" Yes \n", true],
  ["\n", false],
  ["n\n", false],
  ["yes please\n", false],
  // The end of the input, as Ctrl-D gives it.
  ["", false],
])("the answer %j is agreement: %j", async (answer, expected) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const agreed = isAgreed("Repair this?", input, output);
  input.end(answer);
  expect(await agreed).toBe(expected);
  expect(String(output.read())).toContain("Repair this? [y/N] ");
});
