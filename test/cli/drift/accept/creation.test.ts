/** Where a program creates a resource: by its place, or by class and name. */
import vm from "node:vm";
import type { Target } from "../../../../src/cli/drift/accept/target";
import { edit, editFiles, IMPORT, targetOf, type Change } from "../../../support/editedPrograms";

const SIZE: readonly Change[] = [["size", 2, 4]];

describe("the class is known by way of the imports of this package", () => {
  test.each([
    ['import * as svc from "pulumi-svc";', "svc.ComputeEndpoint"],
    ["import { ComputeEndpoint } from 'pulumi-svc';", "ComputeEndpoint"],
    ['import { ComputeEndpoint as Compute } from "pulumi-svc";', "Compute"],
    ['import * as svc from "pulumi-svc/native";', "svc.ComputeEndpoint"],
    ['import svc from "pulumi-svc";', "svc.ComputeEndpoint"],
    ['import { default as svc } from "pulumi-svc";', "svc.ComputeEndpoint"],
    ['import svc, { ComputeEndpoint } from "pulumi-svc";', "(ComputeEndpoint)"],
    ['import svc = require("pulumi-svc");', "svc.ComputeEndpoint"],
    ['import * as svc from "pulumi-svc";\nimport Compute = svc.ComputeEndpoint;', "Compute"],
    ['const svc = require("pulumi-svc");', "svc.ComputeEndpoint"],
    ['const svc = require("pulumi-svc");', "svc['ComputeEndpoint']"],
    ['const { ComputeEndpoint } = require("pulumi-svc");', "ComputeEndpoint"],
    ['const { ComputeEndpoint: Compute } = require("pulumi-svc");', "Compute"],
    ['const Compute = require("pulumi-svc").ComputeEndpoint;', "Compute"],
    ['import * as svc from "pulumi-svc";\nconst { ComputeEndpoint } = svc;', "ComputeEndpoint"],
    ['const svc = await import("pulumi-svc");', "svc.default.ComputeEndpoint"],
    ['const { ComputeEndpoint } = await import("pulumi-svc");', "ComputeEndpoint"],
  ])("%s new %s", async (head, name) => {
    for (const file of ["index.ts", "index.js"]) {
      if (file === "index.js" && /^import .* = /m.test(head)) continue;
      const before = `${head}\nnew ${name}("api", { size: 2 });\n`;
      const { text } = await edit(before, SIZE, { file });
      expect(text).toBe(before.replace("2", "4"));
    }
  });

  test.each([
    ['import * as svc from "other";', "svc.ComputeEndpoint"],
    ['import { svc } from "./lib";', "svc.ComputeEndpoint"],
    ['const { ComputeEndpoint } = require("./lib");', "ComputeEndpoint"],
    ['import * as svc from "pulumi-svc";\nclass ComputeEndpoint extends svc.ComputeEndpoint {}', "ComputeEndpoint"],
  ])("%s new %s may be it, too: the plan shows it", async (head, name) => {
    const before = `${head}\nnew ${name}("api", { size: 2 });\n`;
    expect((await edit(before, SIZE)).text).toBe(before.replace("2", "4"));
  });

  test.each([
    ['import * as svc from "pulumi-svc";', "svc.AuthUser"],
    ['import { AuthUser as ComputeEndpoint } from "pulumi-svc";', "ComputeEndpoint"],
    ['const { s3 } = require("@pulumi/aws");', "s3.Bucket"],
    ["", "(prod ? A : B)"],
    ['import * as svc from "pulumi-svc";', "svc[name]"],
    ["const a = b;\nconst b = a;", "a"],
  ])("%s new %s is none of it", async (head, name) => {
    const { files, told } = await edit(`${head}\nnew ${name}("api", { size: 2 });\n`, SIZE);
    expect([...files]).toEqual([]);
    expect(told.map(({ reason }) => reason)).toEqual([
      'no `new ComputeEndpoint` with the name "api" was found in the program',
    ]);
  });

  test("another name, a name alone, and a file that does not parse and does not name the package do not count", async () => {
    const dev = `${IMPORT}new svc.ComputeEndpoint("api", { size: 2 });\n`;
    const files = new Map([
      ["dev.js", dev],
      ["prod.js", `import { svc } from "./lib";\nnew svc.ComputeEndpoint("jobs", { size: 2 });\nnew svc.Log("api");\n`],
      ["page.js", `new Compute("api", {}); const x = ;`],
    ]);
    const { files: edited, told } = await editFiles(files, [targetOf(SIZE)]);
    expect([told, [...edited.keys()]]).toEqual([[], ["dev.js"]]);
  });
});

describe("by the place that the state holds", () => {
  /** Runs a program as Node does, and returns the line and column that it gives for each resource. */
  function placesIn(text: string): Map<string, NonNullable<Target["place"]>> {
    const places = new Map<string, NonNullable<Target["place"]>>();
    class ComputeEndpoint {
      constructor(name: string) {
        const [, line, column] = /program\.js:(\d+):(\d+)/.exec(new Error().stack ?? "") ?? [];
        places.set(name, { file: "program.js", line: Number(line), column: Number(column) });
      }
    }
    const require = (): object => ({ ComputeEndpoint });
    vm.runInNewContext(text, { require, Error }, { filename: "program.js" });
    return places;
  }

  const PROGRAM = `const svc = require("pulumi-svc"); const { ComputeEndpoint } = svc;
const one = new svc.ComputeEndpoint("one", { size: 2 }), two = new ComputeEndpoint("two", { size: 2 });
const three = 1 > 2 ? undefined : new svc . ComputeEndpoint (
  "three",
  { size: 2, parent: new (svc.ComputeEndpoint)("four", { size: 2 }) },
);
(async () => {
  const name = "five";
\tnew
    svc
      .ComputeEndpoint(name, { size: 2 });
})();
function main() { return new ComputeEndpoint("six", { size: 2 }); }
main();
if (one) { new ComputeEndpoint("seven", { size: 2 }); } else { new ComputeEndpoint("seven", { size: 2 }); }
`;

  test("what Node gives leads to the one expression", async () => {
    const places = placesIn(PROGRAM);
    expect([...places.keys()]).toHaveLength(7);
    for (const [name, place] of places) {
      const edited = await editFiles(new Map([["program.js", PROGRAM]]), [targetOf(SIZE, { name, place })]);
      expect(edited.told).toEqual([]);
      const at = PROGRAM.indexOf(
        "size: 2",
        PROGRAM.indexOf(`"${name}"`) < PROGRAM.indexOf("(name,") && name === "five"
          ? PROGRAM.indexOf("(name,")
          : PROGRAM.indexOf(`"${name}"`),
      );
      expect(edited.files.get("program.js")).toBe(`${PROGRAM.slice(0, at)}size: 4${PROGRAM.slice(at + 7)}`);
    }
    const { told } = await edit(PROGRAM, SIZE, { name: "seven", file: "program.js" });
    expect(told.map(({ reason }) => reason)).toEqual([
      'the program has more than one `new ComputeEndpoint` with the name "seven": program.js:15, program.js:15',
    ]);
  });

  test("all of one file at once, each where it stands", async () => {
    const targets = [...placesIn(PROGRAM)].map(([name, place]) => targetOf(SIZE, { name, place }));
    const { files, told, accepted } = await editFiles(new Map([["program.js", PROGRAM]]), targets);
    expect(told).toEqual([]);
    expect(accepted).toHaveLength(7);
    expect(files.get("program.js")?.match(/size: 4/g)).toHaveLength(7);
    // The branch that did not run.
    expect(files.get("program.js")?.match(/size: 2/g)).toHaveLength(1);
  });

  test.each([
    ["another line", { line: 3, column: 1 }],
    ["before it", { line: 2, column: 1 }],
    ["among its arguments", { line: 2, column: 45 }],
    ["no line of the file", { line: 99, column: 1 }],
    ["no line at all", { line: 0, column: 0 }],
  ])("that is %s: reported, and nothing is guessed", async (_what, at) => {
    const place = { file: "program.js", ...at };
    const { files, told } = await edit(PROGRAM, SIZE, { name: "one", file: "program.js", place });
    expect([...files]).toEqual([]);
    expect(told).toMatchObject([{ file: "program.js", line: at.line, path: "size", code: "size: 4" }]);
    expect(told[0]?.reason).toMatch(/^the position no longer fits the file: /);
  });

  test("of another name or kind: reported", async () => {
    const text = `${IMPORT}new svc.AuthUser("api", {});\nnew svc.ComputeEndpoint("jobs", { size: 2 });\n`;
    for (const line of [2, 3]) {
      const { told } = await edit(text, SIZE, { place: { file: "index.ts", line, column: 1 } });
      expect(told[0]?.reason).toMatch(/^the position no longer fits/);
    }
  });

  test.each([
    ["a name that is an expression", 'for (const name of ["api"]) new svc.ComputeEndpoint(name, { size: 2 });', 29],
    ["a class of another file", 'new lib.Database("api", { size: 2 });', 1],
    ["a class that is an expression", 'new (prod ? lib.Database : svc.ComputeEndpoint)("api", { size: 2 });', 1],
  ])("with %s it may be it: the plan shows it", async (_what, code, column) => {
    const before = `${IMPORT}${code}\n`;
    const { text } = await edit(before, SIZE, { place: { file: "index.ts", line: 2, column } });
    expect(text).toBe(before.replace("size: 2", "size: 4"));
  });

  test("in the constructor of a class of the program: reported, also where the class leaves it out", async () => {
    const text = `${IMPORT}class Mine extends svc.ComputeEndpoint {
  constructor(name: string) {
    super(name, { size: 2 });
  }
}
class Other extends svc.ComputeEndpoint {}
`;
    for (const [line, column] of [
      [4, 5],
      [7, 1],
    ] as const) {
      const { told } = await edit(text, SIZE, { place: { file: "index.ts", line, column } });
      expect(told[0]?.reason).toBe(
        "the program creates it with a class of its own, not with ComputeEndpoint of pulumi-svc",
      );
    }
  });

  test("in a file that is not there: reported", async () => {
    const place = { file: "gone.ts", line: 1, column: 1 };
    const { told } = await edit(PROGRAM, SIZE, { place });
    expect(told).toMatchObject([{ file: "gone.ts", line: 1, reason: "the file does not belong to the program" }]);
  });
});

describe("in several files", () => {
  const of = (name: string): string =>
    `import * as svc from "pulumi-svc";\nnew svc.ComputeEndpoint("${name}", { size: 2 });\n`;

  test("each resource in its own, and only these change", async () => {
    const files = new Map([
      ["api.ts", of("api")],
      ["src/jobs.mts", of("jobs")],
      ["other.cts", of("other")],
      ["broken.ts", "const = ;"],
    ]);
    const { files: changed, told } = await editFiles(files, [targetOf(SIZE), targetOf(SIZE, { name: "jobs" })]);
    expect(told).toEqual([]);
    expect([...changed]).toEqual([
      ["api.ts", of("api").replace("2", "4")],
      ["src/jobs.mts", of("jobs").replace("2", "4")],
    ]);
  });

  test("the same one in two files is reported with both places", async () => {
    const files = new Map(["a.ts", "b.ts"].map((name) => [name, of("api")]));
    const { told } = await editFiles(files, [targetOf(SIZE)]);
    expect(told.map(({ reason }) => reason)).toEqual([
      'the program has more than one `new ComputeEndpoint` with the name "api": a.ts:2, b.ts:2',
    ]);
  });

  test.each(["index.ts", "index.mts", "index.cts", "index.js", "index.mjs", "index.cjs"])(
    "a file that does not parse is an error with its place: %s",
    async (file) => {
      await expect(edit(`${of("api")}\nconst x = ;\n`, SIZE, { file })).rejects.toThrow(
        `${file}:4 does not parse: Expression expected.`,
      );
    },
  );

  test("types in a JavaScript file are an error, too", async () => {
    await expect(edit(`${of("api")}const x: number = 1;\n`, SIZE, { file: "index.js" })).rejects.toThrow(
      "index.js:3 does not parse: Type annotations can only be used in TypeScript files.",
    );
  });
});
