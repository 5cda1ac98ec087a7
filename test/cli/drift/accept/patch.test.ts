import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { unifiedDiff } from "../../../../src/cli/drift/accept/patch";

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "patch-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** What git makes of it. */
function applied(before: string, diff: string): string {
  writeFileSync(join(folder, "index.ts"), before);
  if (diff !== "") {
    const { status, stderr } = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], {
      cwd: folder,
      input: diff,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  }
  return readFileSync(join(folder, "index.ts"), "utf8");
}

const file = fc
  .array(fc.constantFrom("a\n", "b\n", "\n", "c\r\n", "d"), { maxLength: 25 })
  .map((lines) => lines.join(""));

test("git takes the diff of any two texts, and makes the second one of the first", () => {
  fc.assert(
    fc.property(file, file, (before, after) => {
      fc.pre(before !== "" && after !== "");
      expect(applied(before, unifiedDiff("index.ts", before, after))).toBe(after);
    }),
    { numRuns: 60 },
  );
});

test("a diff shows each change with three lines around it, and far ones in hunks of their own", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`);
  const after = lines.with(4, "five\n").with(6, "seven\n").toSpliced(29, 1).join("");
  expect(unifiedDiff("a.ts", lines.join(""), after)).toMatchInlineSnapshot(`
   "--- a/a.ts
   +++ b/a.ts
   @@ -2,9 +2,9 @@
    line 2
    line 3
    line 4
   -line 5
   +five
    line 6
   -line 7
   +seven
    line 8
    line 9
    line 10
   @@ -27,7 +27,6 @@
    line 27
    line 28
    line 29
   -line 30
    line 31
    line 32
    line 33
   "
  `);
  expect(unifiedDiff("a.ts", "same\n", "same\n")).toBe("");
});

test("a long file with a change at either end takes no time and no memory to speak of", () => {
  const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`);
  const diff = unifiedDiff("a.ts", lines.join(""), lines.with(0, "first\n").with(-1, "last").join(""));
  expect(diff.split("\n").filter((line) => /^[-+]/.test(line))).toHaveLength(6);
});
