/** Programs as people write them: each is edited or reported, and compiles as before. */
import { join } from "node:path";
import { ROOT } from "../../../support/cli";
import { problemsOf } from "../../../support/compiled";
import { edit, IMPORT, type Asked, type Change } from "../../../support/editedPrograms";

jest.setTimeout(120_000); // One program of the compiler, which reads all of src.

interface Shape extends Asked {
  readonly before: string;
  readonly changes?: readonly Change[];
  /** The new text and the text that it replaces. Undefined: the program is left as it is. */
  readonly edited?: readonly (readonly [from: string, to: string])[];
  readonly reason?: string;
}

const SIZE: readonly Change[] = [["size", 2, { min: 1, max: 4 }]];
const RANGE = "{ min: 1, max: 4 }";
const PLACE = 'projectId: "prj-demo", branchId: "br-dev"';

const SHAPES: Record<string, Shape> = {
  literal: {
    before: `${IMPORT}\n// The API.\nconst api = new svc.ComputeEndpoint(\n  'api',\n  { ${PLACE}, size: 2 /* CU */ },\n);\nexport const host = api.host;\n`,
    edited: [["size: 2 /", `size: ${RANGE} /`]],
  },
  "several properties": {
    before: `${IMPORT}
new svc.ComputeEndpoint("api", {
  ${PLACE},
  size: { min: 0.5, max: 2 }, // small
  scaleToZero: true,
  settings: {
    pgSettings: {
      work_mem: "64MB",
      "app.x": '1', // theirs
      old: "1"
    },
    preloadLibraries: { enabledLibraries: ["a", 'b'] },
  },
});
`,
    changes: [
      ["size.max", 2, 8],
      ["scaleToZero", true, { afterSeconds: 600 }],
      ["settings.pgSettings.work_mem", "64MB", "128MB"],
      ['settings.pgSettings["app.x"]', "1", "2"],
      ["settings.pgSettings.old", "1", null],
      ['settings.pgSettings["app.y"]', null, "on"],
      ["settings.preloadLibraries.enabledLibraries", ["a", "b"], ["b", "a", "c"]],
    ],
    edited: [
      ["max: 2", "max: 8"],
      ["scaleToZero: true", "scaleToZero: { afterSeconds: 600 }"],
      ["64MB", "128MB"],
      ["'1'", "'2'"],
      ['      old: "1"\n', '      "app.y": "on"\n'],
      [`["a", 'b']`, `["b", 'a', "c"]`],
    ],
  },
  const: {
    before: `${IMPORT}const cu = 2;\nexport const { host } = new svc.ComputeEndpoint("api", { ${PLACE}, size: cu });\n`,
    edited: [["cu = 2", `cu = ${RANGE}`]],
  },
  "const args": {
    before: `${IMPORT}const args: svc.ComputeEndpointArgs = {\n  ${PLACE},\n  size: 2,\n};\nexport const api = new svc.ComputeEndpoint("api", args);\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  shorthand: {
    before: `${IMPORT}const size = 2;\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, size });\n`,
    edited: [["size = 2", `size = ${RANGE}`]],
  },
  "own property behind a spread": {
    before: `${IMPORT}import { common } from "./common";\nexport const api = new svc.ComputeEndpoint("api", { ...common, size: 2 });\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "spread that holds it": {
    before: `${IMPORT}const common = { ${PLACE}, size: 2 };\nexport const api = new svc.ComputeEndpoint("api", { ...common });\n`,
    reason: 'a spread or a computed name may hold "size"',
  },
  loop: {
    before: `${IMPORT}for (const name of ["api", "jobs"]) new svc.ComputeEndpoint(name, { ${PLACE}, size: 2 });\n`,
    reason: 'no `new ComputeEndpoint` with the name "api" was found in the program',
  },
  "loop, with its place": {
    before: `${IMPORT}for (const name of ["api", "jobs"]) new svc.ComputeEndpoint(name, { ${PLACE}, size: 2 });\n`,
    place: { file: "index.ts", line: 2, column: 38 },
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "function that runs once": {
    before: `${IMPORT}async function main() {\n  const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: 2 });\n  return { host: api.host };\n}\nexport const outputs = main();\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "program in one function": {
    before: `${IMPORT}export default async () => {\n  const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: 2 });\n  return { host: api.host };\n};\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "function that makes several": {
    before: `${IMPORT}const make = (name: string, branchId: string) =>\n  new svc.ComputeEndpoint(name, { projectId: "prj-demo", branchId, size: 2 });\nmake("api", "br-dev");\nmake("jobs", "br-jobs");\n`,
    place: { file: "index.ts", line: 3, column: 3 },
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "imported constant": {
    before: `${IMPORT}import { cu } from "./common";\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: cu });\n`,
    reason: 'the value is "cu" from another file',
  },
  template: {
    before: `${IMPORT}export const api = new svc.ComputeEndpoint("api", { ${PLACE}, name: \`one\` });\n`,
    changes: [["name", "one", "`two` ${x}"]],
    edited: [["`one`", "`\\`two\\` \\${x}`"]],
  },
  "template with an expression": {
    before: `${IMPORT}const stage = "dev";\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, name: \`one-\${stage}\` });\n`,
    changes: [["name", "one-dev", "two"]],
    reason: "the value is a template with an expression in it",
  },
  "as const": {
    before: `${IMPORT}const args = { ${PLACE}, size: 2, domains: ["a"] } as const;\nconst { size, ...rest } = args;\nconst type = "read_only" as const;\nexport const api = new svc.ComputeEndpoint("api", { projectId: rest.projectId, branchId: rest.branchId, size, type });\n`,
    changes: [["type", "read_only", "read_write"]],
    edited: [['"read_only" as', '"read_write" as']],
  },
  satisfies: {
    before: `${IMPORT}const args = { ${PLACE}, size: 2 } satisfies svc.ComputeEndpointArgs;\nexport const api = new svc.ComputeEndpoint("api", args);\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "a typed form": {
    kind: "EmailServer",
    before: `${IMPORT}const args: svc.SharedEmailServerArgs = { projectId: "prj-demo", type: "shared" };\nexport const api = new svc.EmailServer("api", args);\n`,
    changes: [["type", "shared", "standard"]],
    reason: "the program gives the value a type that may not allow the new one",
  },
  "the mail server": {
    kind: "EmailServer",
    before: `${IMPORT}import * as pulumi from "@pulumi/pulumi";
const config = new pulumi.Config();
const projectId = config.require("projectId");
export const api = new svc.EmailServer("api", {
  projectId,
  type: "standard",
  host: "smtp.example.com",
  port: 587,
  username: "u",
  password: config.requireSecret("smtp"),
  senderEmail: "a@example.com",
  senderName: "A",
});
`,
    changes: [
      ["type", "standard", "shared"],
      ["host", "smtp.example.com", null],
      ["port", 587, null],
      ["username", "u", null],
      ["password", "[secret]", null],
      ["senderEmail", "a@example.com", null],
      ["senderName", "A", null],
    ],
    edited: [
      ['"standard"', '"shared"'],
      [
        '  host: "smtp.example.com",\n  port: 587,\n  username: "u",\n  password: config.requireSecret("smtp"),\n  senderEmail: "a@example.com",\n  senderName: "A",\n',
        "",
      ],
    ],
  },
  "plain JavaScript": {
    file: "index.js",
    before: `"use strict";\r\nconst { ComputeEndpoint: Compute } = require('pulumi-svc')\r\n\r\nmodule.exports = async () => {\r\n\tconst api = new Compute('api', { ${PLACE}, size: 2 })\r\n\treturn { host: api.host }\r\n}\r\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "ES module": {
    file: "index.mjs",
    before: `\uFEFFimport svc from "pulumi-svc";\nconst api = new svc.ComputeEndpoint("api", { ${PLACE}, size: 2 });\nexport const host = api.host;\n`,
    edited: [["size: 2", `size: ${RANGE}`]],
  },
  "enum member": {
    before: `${IMPORT}enum Size {\n  Small = 2,\n}\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: Size.Small });\n`,
    reason: "the value is an expression",
  },
  "nested conditional": {
    before: `${IMPORT}declare const stage: string;\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: stage === "a" ? 1 : stage === "b" ? 2 : 4 });\n`,
    reason: "the value is a conditional expression",
  },
  "Object.assign": {
    before: `${IMPORT}export const api = new svc.ComputeEndpoint("api", Object.assign({ ${PLACE} }, { size: 2 }));\n`,
    reason: "the value is an expression",
  },
  "an Output": {
    before: `${IMPORT}import * as pulumi from "@pulumi/pulumi";\nexport const api = new svc.ComputeEndpoint("api", { ${PLACE}, size: pulumi.output(2) });\n`,
    reason: "the value is an expression",
  },
  negation: {
    before: `${IMPORT}export const api = new svc.ComputeEndpoint("api", { ${PLACE}, disabled: !1 });\n`,
    changes: [["disabled", false, true]],
    reason: "the value is an expression",
  },
  concatenation: {
    before: `${IMPORT}export const api = new svc.ComputeEndpoint("api", { ${PLACE}, name: "a" + "b" });\n`,
    changes: [["name", "ab", "c"]],
    reason: "the value is an expression",
  },
  "string keys": {
    before: `${IMPORT}export const api = new svc.ComputeEndpoint("api", { ${PLACE}, "size": 0x2, 'disabled': false });\n`,
    changes: [...SIZE, ["disabled", false, true]],
    edited: [
      ["0x2", RANGE],
      ["false", "true"],
    ],
  },
};

const shapes = Object.entries(SHAPES);
const resultOf = ({ before, changes = SIZE, ...asked }: Shape) => edit(before, changes, asked);

test.each(shapes)("%s: what is edited changes, and nothing else", async (_name, shape) => {
  const { before, edited, changes = SIZE, reason } = shape;
  const { files, text, told, accepted } = await resultOf(shape);
  if (edited === undefined) {
    expect([...files]).toEqual([]);
    expect(accepted).toEqual([]);
    expect(told.map((one) => one.reason)).toEqual(changes.map(() => reason));
    return;
  }
  expect(told).toEqual([]);
  expect(accepted).toHaveLength(changes.length);
  expect(text).toBe(edited.reduce((program, [from, to]) => program.replace(from, () => to), before));
});

test("all of them compile, as strictly as can be", async () => {
  const folder = join(ROOT, "test");
  const common = 'export const common = { projectId: "prj-demo", branchId: "br-dev" };\nexport const cu = 2;\n';
  const programs = await Promise.all(
    shapes.map(async ([name, shape]): Promise<[string, string]> => {
      const { text } = await resultOf(shape);
      return [join(folder, `${name.replaceAll(/\W/g, "-")}-${shape.file ?? "index.ts"}`), text];
    }),
  );
  const options = { allowJs: true, noUnusedLocals: true, noUnusedParameters: true, exactOptionalPropertyTypes: true };
  const files = new Map([[join(folder, "common.ts"), common], ...programs]);
  const problems = problemsOf(files, options).map(
    ({ file, line, text }) => `${file.slice(folder.length)}:${line}: ${text}`,
  );
  expect(problems).toEqual([]);
  expect(files.size).toBe(shapes.length + 1);
});
