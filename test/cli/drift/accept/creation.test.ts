/** Where a program creates a resource: by its place, or by class and name. */
import vm from "node:vm";
import typescript from "typescript";
import { editProgram, type Target } from "../../../../src/cli/drift/accept/edit";
import { edit, IMPORT, targetOf, type Change } from "../../../support/editedPrograms";

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
    ['import * as svc from "pulumi-svc";', "svc.AuthUser"],
    ['import { AuthUser as ComputeEndpoint } from "pulumi-svc";', "ComputeEndpoint"],
    ['import * as pulumi from "@pulumi/pulumi";', "pulumi.ComponentResource"],
    ['const { s3 } = require("@pulumi/aws");', "s3.Bucket"],
    ['import { Agent } from "http";', "Agent"],
    ["", "Map"],
    ["class Mine { constructor(...args: unknown[]) {} }", "Mine"],
    ['import * as pulumi from "@pulumi/pulumi";\nclass Mine extends pulumi.ComponentResource {}', "Mine"],
  ])("%s new %s is none of it", async (head, name) => {
    const { files, told } = await edit(`${head}\nnew ${name}("api", { size: 2 });\n`, SIZE);
    expect([...files]).toEqual([]);
    expect(told.map(({ reason }) => reason)).toEqual([
      'no `new ComputeEndpoint` with the name "api" was found in the program',
    ]);
  });

  test.each([
    ['import * as svc from "other"; // pulumi-svc', "svc.ComputeEndpoint"],
    ['import * as svc from "pulumi-svc";', "ComputeEndpoint"],
    ['import * as svc from "pulumi-svc";', "svc[name]"],
    ['import { Database } from "@acme/infra";', "Database"],
    ['import Database from "./database.js";', "Database"],
    ['import { svc } from "./lib";', "svc.ComputeEndpoint"],
    ['import * as lib from "./lib";', "lib.default.svc.ComputeEndpoint"],
    ['const { ComputeEndpoint } = require("./lib");', "ComputeEndpoint"],
    ['const { svc } = await import("./lib.js");', "svc.ComputeEndpoint"],
    ["", "(prod ? A : B)"],
    ["", "this.Compute"],
    ['import { Base } from "./base";\nclass Mine extends Base {}', "Mine"],
    ["const make = (Compute) => Compute;", "(make(1))"],
    ['import { ComputeEndpoint } from "./mine"; // pulumi-svc', "ComputeEndpoint"],
    ['import * as svc from "pulumi-svc";\nclass Mine extends svc.ComputeEndpoint {}', "Mine"],
    ['let svc = require("pulumi-svc");', "svc.ComputeEndpoint"],
    ["const a = b;\nconst b = a; // pulumi-svc", "a.ComputeEndpoint"],
    [
      'import * as svc from "pulumi-svc";\nnamespace inner { export const svc = 1 as any; }',
      "inner.svc.ComputeEndpoint",
    ],
  ])("%s new %s may be it, and is reported, also beside one that is known", async (head, name) => {
    const line = head === "" ? 2 : head.split("\n").length + 1;
    const before = `${head}\nnew ${name}("api", { size: 2 });\n`;
    const { files, told } = await edit(before, SIZE, { file: "prod.ts" });
    expect([...files]).toEqual([]);
    expect(told).toMatchObject([
      { file: "prod.ts", line, reason: expect.stringMatching(/^the class there is defined in/) },
    ]);
    const beside = await editProgram(
      typescript,
      new Map([
        ["dev.js", `${IMPORT}new svc.ComputeEndpoint("api", { size: 2 });\n`],
        ["prod.ts", before],
      ]),
      [targetOf(SIZE)],
    );
    expect([...beside.files]).toEqual([]);
    expect(beside.told.map(({ reason }) => reason)).toEqual([
      `the program has a \`new ComputeEndpoint\` with the name "api", and another class that may be ComputeEndpoint, with this name: prod.ts:${line}`,
    ]);
  });

  test("another name, a name alone, and a file that does not parse and does not name the package do not count", async () => {
    const dev = `${IMPORT}new svc.ComputeEndpoint("api", { size: 2 });\n`;
    const files = new Map([
      ["dev.js", dev],
      ["prod.js", `import { svc } from "./lib";\nnew svc.ComputeEndpoint("jobs", { size: 2 });\nnew svc.Log("api");\n`],
      ["page.js", `new Compute("api", {}); const x = ;`],
    ]);
    const { files: edited, told } = await editProgram(typescript, files, [targetOf(SIZE)]);
    expect([told, [...edited.keys()]]).toEqual([[], ["dev.js"]]);
  });

  test("a class of another file whose name is that of the kind may have any name that is an expression", async () => {
    const files = new Map([
      ["dev.js", `${IMPORT}new svc.ComputeEndpoint("api", { size: 2 });\n`],
      [
        "prod.js",
        `import { svc } from "./lib";\nfor (const name of ["api"]) new svc.ComputeEndpoint(name, { size: 2 });\n`,
      ],
    ]);
    const { files: edited, told } = await editProgram(typescript, files, [targetOf(SIZE)]);
    expect([...edited]).toEqual([]);
    expect(told[0]?.reason).toMatch(/another one whose name is an expression: prod\.js:2$/);
  });
});

describe("the parent", () => {
  const CHILD = "urn:pulumi:dev::proj::demo:index:Stage$pulumi-nodejs:dynamic/svc:ComputeEndpoint::api";
  const both = (own: string, other: string): Map<string, string> => {
    const created = (options: string): string =>
      `${IMPORT}const stage = new Stage("s");\nconst plain = { protect: true };\nnew svc.ComputeEndpoint("api", { size: 2 }${options});\n`;
    return new Map([
      ["own.ts", created(own)],
      ["other.ts", created(other)],
    ]);
  };
  test.each([
    ["none", "", ", { parent: stage }"],
    ["none", ", undefined", ", { protect: true, parent: stage }"],
    ["none", ", plain", ", { parent: new Stage() }"],
    ["none", ", { parent: undefined }", ", { parent: (stage) }"],
    ["one", ", { parent: stage }", ""],
    ["one", ", { parent: stage, protect: true }", ", { protect: true }"],
    ["one", ", { parent: config.parent }", ", plain"],
    ["one", ", options", ", { dependsOn: stage }"],
  ])("of two with one name the one counts that may have %s, as the URN says: %s, not %s", async (which, own, other) => {
    const target = targetOf(SIZE, which === "one" ? { urn: CHILD } : {});
    const { files, told } = await editProgram(typescript, both(own, other), [target]);
    expect([told, [...files.keys()]]).toEqual([[], ["own.ts"]]);
  });

  test("at the place of the state, another parent is reported", async () => {
    const place = { file: "own.ts", line: 4, column: 1 };
    const { files, told } = await editProgram(typescript, both("", ""), [targetOf(SIZE, { place, urn: CHILD })]);
    expect([...files]).toEqual([]);
    expect(told).toMatchObject([
      { file: "own.ts", line: 4, reason: expect.stringMatching(/^the parent there is not the parent/) },
    ]);
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
      const edited = await editProgram(typescript, new Map([["program.js", PROGRAM]]), [
        targetOf(SIZE, { name, place }),
      ]);
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
    const { files, told, accepted } = await editProgram(typescript, new Map([["program.js", PROGRAM]]), targets);
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

  test("of another name, class or package: reported", async () => {
    const place = (line: number, column: number) => ({ file: "index.ts", line, column });
    const text =
      'import * as svc from "pulumi-svc";\nimport { Other } from "other";\nnew svc.AuthUser("api", {});\nnew Other("api", {});\nnew svc.ComputeEndpoint("jobs", { size: 2 });\nnew svc.ProjectAuth("api", {});\n';
    const reasons = [];
    for (const line of [3, 4, 5, 6]) {
      const { told } = await edit(text, SIZE, { place: place(line, 1) });
      reasons.push(told[0]?.reason);
    }
    expect(reasons).toEqual([
      expect.stringMatching(/^the position no longer fits/),
      "the class there is defined in the program, or is a name or an expression that may not be ComputeEndpoint of pulumi-svc",
      expect.stringMatching(/^the position no longer fits/),
      expect.stringMatching(/^the position no longer fits/),
    ]);
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

  test("in a file that is not there, and one of several resources: reported", async () => {
    const place = { file: "gone.ts", line: 1, column: 1 };
    const { told } = await edit(PROGRAM, SIZE, { place });
    expect(told).toMatchObject([{ file: "gone.ts", line: 1, reason: "the file does not belong to the program" }]);
    const at = { file: "program.js", line: 2, column: 13 };
    const shared = await edit(PROGRAM, SIZE, { name: "one", file: "program.js", place: at, isShared: true });
    expect(shared.told).toMatchObject([{ reason: "several resources are created at this place" }]);
    const named = await edit(PROGRAM, SIZE, { name: "one", file: "a.js", isShared: true });
    expect(named.told).toMatchObject([{ reason: "several resources of the stack have this class and name" }]);
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
    const { files: changed, told } = await editProgram(typescript, files, [
      targetOf(SIZE),
      targetOf(SIZE, { name: "jobs" }),
    ]);
    expect(told).toEqual([]);
    expect([...changed]).toEqual([
      ["api.ts", of("api").replace("2", "4")],
      ["src/jobs.mts", of("jobs").replace("2", "4")],
    ]);
  });

  test("the same one in two files is reported with both places", async () => {
    const files = new Map(["a.ts", "b.ts"].map((name) => [name, of("api")]));
    const { told } = await editProgram(typescript, files, [targetOf(SIZE)]);
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

describe("what runs once is edited", () => {
  const IMPORT = 'import * as svc from "pulumi-svc";\n';
  const NEW = 'new svc.ComputeEndpoint("api", { size: 2 })';
  test.each([
    [`(() => { ${NEW}; })();`],
    [`void (async function () { ${NEW}; })();`],
    [`async function main() { ${NEW}; }\nmain().catch(console.error);`],
    [`const main = async () => ${NEW};\nvoid main();`],
    [`const inner = () => ${NEW};\nfunction main() { return inner(); }\nexport const out = main();`],
    [`export = async () => { ${NEW}; };`],
    [`export default async function () { ${NEW}; }`],
    [`async function main() { ${NEW}; }\nexport default main;`],
    [`module.exports = async () => { ${NEW}; };`],
    [`if (process.env.X) { ${NEW}; }`],
    [`try { ${NEW}; } finally {}`],
    [`namespace here { export const api = ${NEW}; }`],
  ])("%s", async (body) => {
    const { text, told } = await edit(`${IMPORT}${body}\n`, SIZE);
    expect(told).toEqual([]);
    expect(text).toBe(`${IMPORT}${body.replace("size: 2", "size: 4")}\n`);
  });

  test.each([
    [`function main(n: number) { ${NEW}; if (n > 0) main(n - 1); }`],
    [`function one() { ${NEW}; two(); }\nfunction two() { one(); }`],
    [`const main = () => { ${NEW}; };\n[1].forEach(main);`],
    [`export const main = () => { ${NEW}; };\nmain();`],
    [`let main = () => { ${NEW}; };\nmain();`],
    [`const helpers = { make() { ${NEW}; } };`],
    [`(function again() { ${NEW}; again(); })();`],
    [`function never() { ${NEW}; }`],
    [`do { ${NEW}; } while (more());`],
    [`const inner = () => ${NEW};\nfunction main() { return inner(); }\nmain(); main();`],
    [`pulumi.all([]).apply(() => ${NEW});`],
    [`class A { static { ${NEW}; } }`],
    [`class A { get api() { return ${NEW}; } }`],
  ])("what may run more often is reported: %s", async (body) => {
    const { files, told } = await edit(`${IMPORT}${body}\n`, SIZE);
    expect([...files]).toEqual([]);
    expect(told[0]?.reason).toMatch(/^it is created in a (loop|class|function)/);
  });
});

describe("without a place", () => {
  test.each([
    ["a name from a loop", 'for (const name of ["api"]) new svc.ComputeEndpoint(name, { size: 2 });\n'],
    ["a name that is put together", "new svc.ComputeEndpoint(`${stage}-i`.slice(1), { size: 2 });\n"],
    ["a template that may be worth it", "new svc.ComputeEndpoint(`a${stage}`, { size: 2 });\n"],
  ])("one find beside %s is reported: it may be in code that does not run", async (_what, other) => {
    const dead = `${IMPORT}if (false) new svc.ComputeEndpoint("api", { size: 2 });\n`;
    const files = new Map([
      ["index.ts", `${IMPORT}declare const stage: string;\n${other}`],
      ["old.ts", dead],
    ]);
    const { files: edited, told } = await editProgram(typescript, files, [targetOf(SIZE)]);
    expect([...edited]).toEqual([]);
    expect(told[0]?.reason).toBe(
      'the program has a `new ComputeEndpoint` with the name "api", and another one whose name is an expression: index.ts:3',
    );
  });

  test("a template that cannot be worth the name, and another class, do not count", async () => {
    const before = `${IMPORT}declare const stage: string;
new svc.ComputeEndpoint(\`web-\${stage}\`, { size: 2 });
new svc.ComputeEndpoint(\`\${stage}-web\`, { size: 2 });
new svc.AuthUser(stage, {});
new svc.ComputeEndpoint("api", { size: 2 });
`;
    const { text } = await edit(before, SIZE);
    expect(text).toBe(before.replace('"api", { size: 2 }', '"api", { size: 4 }'));
  });
});
