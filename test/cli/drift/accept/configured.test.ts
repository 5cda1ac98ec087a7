/** Values that come from the configuration of the stack: the command that sets them is shown. */
import { execFileSync } from "node:child_process";
import { commandToSet } from "../../../../src/cli/drift/accept/setting";
import { edit, type Change } from "../../../support/editedPrograms";

const HEAD = `import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";
const config = new pulumi.Config();
`;
const compute = (args: string, before = ""): string =>
  `${HEAD}${before}new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", ${args} });\n`;

async function told(program: string, change: Change) {
  const { files, accepted, told: all } = await edit(program, [change]);
  expect([[...files], accepted]).toEqual([[], []]);
  return all.map(({ path, reason, code }) => [path, reason, code]);
}

test.each([
  ["a constant", "proj:size", compute("size", 'const size = config.requireNumber("size");\n')],
  ["inline", "proj:size", compute('size: config.requireNumber("size")')],
  [
    "with a type, in a constant of a constant",
    "proj:size",
    compute("size: (size)", 'const cu = config.requireNumber("size") as svc.AutoscalingCu;\nconst size = cu;\n'),
  ],
  ["with a default", "proj:size", compute('size: config.getNumber("size") ?? 1')],
  ["with another default", "proj:size", compute('size: config.getNumber("size") || 1')],
  ["of a namespace", "team:size", compute('size: new pulumi.Config("team").requireNumber("size")')],
  [
    "that the program uses elsewhere, too",
    "proj:size",
    compute("size", 'const size = config.requireNumber("size");\nexport const shown = size;\n'),
  ],
])("a value of the configuration is shown with the command that sets it: %s", async (_what, key, program) => {
  expect(await told(program, ["size", 2, 4])).toEqual([
    ["size", `the value is "${key}" of the stack's configuration`, `pulumi config set --stack dev '${key}' -- 4`],
  ]);
});

test("a part of an object is set by its path, with its type", async () => {
  const program = compute("size", 'const size = config.requireObject<svc.ComputeSize>("size");\n');
  expect((await told(program, ["size.max", 2, 0.5]))[0]?.[2]).toBe(
    "pulumi config set --path --type float --stack dev 'proj:size.max' -- 0.5",
  );
  expect((await told(program, ["size", 2, { min: 1, max: 8 }]))[0]?.[2]).toBe(
    `pulumi config set --stack dev 'proj:size' -- '{"min":1,"max":8}'`,
  );
  const args = compute("settings", 'const settings = config.requireObject("settings");\n');
  expect((await told(args, ['settings.pgSettings["app.x"]', "a", "1"]))[0]?.[2]).toBe(
    `pulumi config set --path --type string --stack dev 'proj:settings.pgSettings["app.x"]' -- 1`,
  );
  // The CLI cannot set an object within another.
  expect((await told(args, ["settings.pgSettings", { a: "1" }, { a: "2" }]))[0]?.[2]).toBe('pgSettings: { a: "2" }');
});

test.each([
  ["what is read as a secret", 'name: config.requireSecret("name")', /^the value is a secret$/],
  ["a name that is no literal", 'name: config.require(process.argv[0] ?? "")', /an expression$/],
  ["an expression", 'name: config.require("name") + "-x"', /an expression$/],
])("%s has no command", async (_what, args, reason) => {
  expect(await told(compute(args), ["name", "a", "theirs"])).toEqual([
    ["name", expect.stringMatching(reason), 'name: "theirs"'],
  ]);
});

test("a value that is gone has no command, and a secret is not shown", async () => {
  const program = compute('name: config.require("name")');
  expect((await told(program, ["name", "a", null]))[0]?.[2]).toBeUndefined();
  expect((await told(program, ["name", "a", "[secret]"]))[0]).toEqual([
    "name",
    expect.stringMatching(/^it is a secret/),
    undefined,
  ]);
});

test("a shell runs the command with the value as it is, whatever it holds", () => {
  for (const value of ["it's", "$(touch x)", "--secret", "a\\b", "`x`", "", "a b"]) {
    const command = commandToSet("proj:name", { path: [], value, stack: "acme/dev" }) ?? "";
    const script = `pulumi() { for word; do printf '%s\\0' "$word"; done; }\n${command}`;
    const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
    expect(words).toEqual(["config", "set", "--stack", "acme/dev", "proj:name", "--", value]);
  }
});
