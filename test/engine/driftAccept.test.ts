import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AcceptResult, acceptSchema } from "../../src/cli/drift/accept/result";
import { Stack } from "../support/Stack";
import { drift, svc, type Ended } from "../support/svc";

const accept = (stack: Stack, ...args: string[]): Promise<Ended> => svc(stack, ["drift", "--accept", ...args]);

async function accepted(stack: Stack, ...args: string[]): Promise<AcceptResult & { code: number }> {
  const { code, stdout } = await accept(stack, "--json", ...args);
  return { code, ...acceptSchema.parse(JSON.parse(stdout)) };
}

const read = (stack: Stack, file: string): string => readFileSync(join(stack.folder, "program", file), "utf8");

const templates = async (stack: Stack): Promise<string[]> =>
  (await stack.service.requests()).map(({ method, template }) => `${method} ${template}`).toSorted();

function git(stack: Stack, ...args: string[]): void {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
  execFileSync("git", [...identity, ...args], { cwd: join(stack.folder, "program"), stdio: "ignore" });
}

/** Somebody resizes the computes. */
async function resized(stack: Stack, size: number, ...names: string[]): Promise<void> {
  for (const name of names) {
    const [, id] = (await stack.resource(name)).id.split("/");
    const set = { autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size };
    await stack.service.edit({ kind: "endpoint", id, set });
  }
}

/** One line on standard error, exit code 1, and an unchanged program. */
async function expectRefusal(stack: Stack, words: RegExp, ...args: string[]): Promise<void> {
  const before = read(stack, "index.js");
  const { code, stdout, stderr } = await accept(stack, ...args);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^pulumi-svc: [^\n]+\n$/);
  expect(stderr).toMatch(words);
  expect(read(stack, "index.js")).toBe(before);
}

/** An `up` with a refresh has nothing to do and sends nothing. */
async function expectNoChanges(stack: Stack): Promise<void> {
  await stack.service.clearRequests();
  expect(await stack.up("--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
  expect(await stack.service.mutations()).toEqual([]);
}

const SHAPES = `import * as pulumi from "@pulumi/pulumi";
import * as svc from 'pulumi-svc';
import { branchId, sharedSize } from "./src/constants";

interface Named { readonly name: string }
const projectId = "prj-demo", size = 1; // the size of "api"
const config = new pulumi.Config();

// A comment that stays.
const api = new svc.ComputeEndpoint('api', { projectId, branchId: "br-dev",   size });
new svc.ComputeEndpoint("literal", { projectId, branchId, type: "read_only", size: 1 /* small */, name: 'one' });
new svc.ComputeEndpoint("const-object", {
  projectId, branchId, type: "read_only", size: { min: 0.5, max: 1 } as const,
});
new svc.ComputeEndpoint("imported", { projectId, branchId, type: "read_only", size: sharedSize });
new svc.ComputeEndpoint("configured", { projectId, branchId, type: "read_only", size: config.getNumber("size") || 1 });
function once({ name }: Named) {
  return new svc.ComputeEndpoint("in-function", { projectId, branchId, type: "read_only", size: 1 });
}
once({ name: "x" });
for (const name of ["loop-a", "loop-b"]) {
  new svc.ComputeEndpoint(name, { projectId, branchId, type: "read_only", size: 1 });
}
[1].forEach(() => { new svc.ComputeEndpoint("anonymous", { projectId, branchId, type: "read_only", size: 1 }); });
(() => { new svc.ComputeEndpoint("in-arrow", { projectId, branchId, type: "read_only", size: 1 }); })();
for (const name of ["part-a", "part-b"]) {
  new svc.ComputeEndpoint(name, { projectId, branchId, type: "read_only", size: 1 });
}
type One = 1;
const one: One = 1;
new svc.ComputeEndpoint("typed", { projectId, branchId, type: "read_only", size: one });
class Mine extends pulumi.ComponentResource {
  constructor(name: string) {
    super("mine:index:Mine", name);
    new svc.ComputeEndpoint(\`\${name}-compute\`, { projectId, branchId, type: "read_only", size: 1 }, { parent: this });
  }
}
new Mine("mine");
new svc.ComputeGroup("group", { projectId, branchId: "br-test", primary: { size: 1 }, replicas: 1 });
export const host = api.host;
`;

const CONSTANTS = `export const branchId = "br-main";
export const sharedSize = 1;
`;

test("a TypeScript program: what the plan confirms is edited, all else is reported, and the program still compiles", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  rmSync(join(stack.folder, "program", "index.js"));
  stack.write("Pulumi.yaml", "name: proj\nruntime: nodejs\n");
  stack.write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noUnusedLocals: true,
        target: "es2022",
        module: "commonjs",
        moduleResolution: "node",
        skipLibCheck: true,
      },
    }),
  );
  stack.write("index.ts", SHAPES);
  stack.write("src/constants.ts", CONSTANTS);
  stack.write(".gitignore", "node_modules\nPulumi.dev.yaml\n");
  expect(await stack.up()).toMatchObject({ code: 0 });

  const edited = [
    ...["api", "literal", "const-object", "in-function", "in-arrow", "anonymous", "loop-a", "loop-b"],
    "mine-compute",
  ];
  const told = ["imported", "configured", "part-a", "typed", "group-primary"];
  await resized(stack, 4, ...edited, ...told);

  // No file is in git: refused.
  const outside = await accept(stack, "literal");
  expect([outside.code, outside.stdout]).toEqual([1, ""]);
  expect(outside.stderr).toMatch(
    /^pulumi-svc: index\.ts is not in a git repository\. Nothing was written\. .*--force\n$/,
  );
  expect(read(stack, "index.ts")).toBe(SHAPES);
  // Committed, it can be brought back.
  git(stack, "init");
  git(stack, "add", ".");
  git(stack, "commit", "-m", "first");
  const result = await accepted(stack);
  expect(result.code).toBe(7);
  expect(result.accepted.map(({ name }) => name).toSorted()).toEqual(edited.toSorted());
  expect(Object.fromEntries(result.left.map(({ name, reason }) => [name, reason]))).toEqual({
    imported: expect.stringMatching(/from another file/),
    configured: `the value is "proj:size" of the stack's configuration`,
    "part-a": "several resources get the value from here, and they differ in different ways, or not at all",
    "group-primary": 'an edit here also changes the plan of "group-replica-0", so it was undone',
    typed: "the program gives the value a type that may not allow the new one",
  });
  expect(Object.fromEntries(result.left.map(({ name, code }) => [name, code]))).toEqual({
    ...Object.fromEntries(told.map((name) => [name, "size: 4"])),
    configured: "pulumi config set --stack dev 'proj:size' -- 4",
  });
  expect(result).toMatchObject({ files: ["index.ts"], messages: [], dryRun: false, stack: "dev" });
  const lines = SHAPES.split("\n");
  const expected = SHAPES.replace("size = 1; // the", "size = 4; // the")
    .replace("size: 1 /* small */", "size: 4 /* small */")
    .replace("{ min: 0.5, max: 1 } as const", "4 as const")
    .replace(/("(?:in-function|in-arrow|anonymous)".*)size: 1/g, "$1size: 4")
    .replace(/(loop-b.*\n.*)size: 1/, "$1size: 4")
    .replace(/(-compute.*)size: 1/, "$1size: 4");
  expect(read(stack, "index.ts")).toBe(expected);
  for (const { name, line } of result.left)
    if (line !== null && name !== "typed") expect(lines[line - 1]).toMatch(/Compute(Endpoint|Group)/);

  await resized(stack, 1, ...told);
  await expectNoChanges(stack);
  await stack.end(before);
});

const ESM = `import * as svc from "pulumi-svc";
import "./lib/other.js";
import { make } from "./lib/make.js";

const compute = { projectId: "prj-demo", branchId: "br-main" };
export const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1, type: 'read_write' });
new svc.AuthIntegration("same", { projectId: "prj-demo" });
new svc.ComputeEndpoint("same", { ...compute, type: "read_only", size: 1 });
new svc.ComputeEndpoint("twice", { ...compute, type: "read_only", size: 1 });
make();
`;
const OTHER = `import { ComputeEndpoint as Compute } from "pulumi-svc";
new Compute("other", { projectId: "prj-demo", branchId: "br-test", size: 1 });
`;
const MAKE = `import * as svc from "pulumi-svc";
export function make() { new svc.ComputeEndpoint("made", { projectId: "prj-demo", branchId: "br-main", type: "read_only", size: 1 }); }
`;

test("an ES module: what no stack trace names is searched, and more than one find is reported", async () => {
  const stack = await Stack.create({ program: "" });
  const before = await stack.service.state();
  stack.write("package.json", '{ "name": "proj", "private": true, "type": "module" }');
  stack.write("index.js", ESM);
  stack.write("lib/other.js", OTHER);
  stack.write("lib/make.js", MAKE);
  // Not part of the program, but it might be.
  stack.write("old.js", `import * as svc from "pulumi-svc";\nnew svc.ComputeEndpoint("twice", { size: 1 });\n`);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await resized(stack, 4, "api", "other", "made", "twice");
  const same = await stack
    .resources()
    .then((all) => all.filter(({ urn }) => urn.endsWith("::same")).map(({ urn }) => urn));
  await stack.service.edit({ kind: "endpoint", id: await endpointId(stack, "ComputeEndpoint::same"), set: sized(4) });

  const ambiguous = await accept(stack, "same", "nobody");
  expect(ambiguous.code).toBe(1);
  for (const words of [...same, '"same" is the name of several resources', '"nobody"'])
    expect(ambiguous.stderr).toContain(words);
  const [urn = ""] = same.filter((one) => one.includes("ComputeEndpoint"));
  const one = await accepted(stack, "--force", urn);
  expect(one).toMatchObject({
    code: 0,
    accepted: [{ urn, path: "size", declared: 1, found: 4, file: "index.js", line: 8 }],
  });

  const out = join(stack.folder, "accepted.markdown");
  const rest = await accept(stack, "--force", "--format", "markdown", "--out", out);
  expect(rest).toEqual({ code: 7, stdout: `Stack dev: 4 accepted, 1 left. The report is in ${out}\n`, stderr: "" });
  const report = readFileSync(out, "utf8");
  expect(report).toContain("| ComputeEndpoint `api` | `size` | `1` | `4` | `index.js:6` |");
  expect(report).toMatch(
    /^- ComputeEndpoint `twice` `size`: `.*more than one new ComputeEndpoint.*index\.js:9.*old\.js:2`/m,
  );
  expect(report).toContain("| ComputeEndpoint `made` | `size` | `1` | `4` | `lib/make.js:2` |");
  expect(read(stack, "lib/other.js")).toBe(OTHER.replace("size: 1", "size: 4"));
  expect(read(stack, "index.js")).toBe(ESM.replace(/("(?:api|same)", .*)size: 1/g, "$1size: 4"));

  await resized(stack, 1, "twice");
  await expectNoChanges(stack);
  await stack.end(before);
});

const sized = (size: number) => ({ autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size });

async function endpointId(stack: Stack, end: string): Promise<string | undefined> {
  return (await stack.resources()).find(({ urn }) => urn.endsWith(end))?.id.split("/")[1];
}

test("what cannot be told or written is a failure in one line, and the program stays as it is", async () => {
  const program = (more = "", size = "1"): string => `
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: ${size} });
const replica = { projectId: "prj-demo", branchId: "br-main", type: "read_only" };
require("../shared/one.js")(svc);
new svc.ComputeEndpoint("gone", replica);
new svc.EmailServer("mail", { projectId: new svc.AuthIntegration("auth", { projectId: "prj-demo" }).projectId, type: "standard",
  host: "h.example.com", port: 25, username: "u", password: "canary-accept-password", senderEmail: "a@example.com", senderName: "A" });
${more}`;
  const stack = await Stack.create({ program: program() });
  const one = `module.exports = (svc) => new svc.ComputeEndpoint("outside", { projectId: "prj-demo", branchId: "br-main", type: "read_only", size: 1 });\n`;
  stack.write("../shared/one.js", one);
  expect(await stack.up()).toMatchObject({ code: 0 });
  await resized(stack, 4, "api", "outside");
  await stack.service.edit({ kind: "email_server", set: { host: "other.example.com" } });

  await expectRefusal(stack, /\.\.\/shared\/one\.js is outside the folder of the project/);
  expect(readFileSync(join(stack.folder, "shared", "one.js"), "utf8")).toBe(one);

  // Another program than the deployed one.
  stack.program(`// One line more.\n${program()}`);
  await expectRefusal(
    stack,
    /"api" at index\.js:4: the position no longer fits the file: .*Deploy the program once/,
    "api",
  );
  stack.program(program("new svc.ComputeEndpoint("));
  const failed = await accept(stack, "--json", "api");
  expect([failed.code, acceptSchema.parse(JSON.parse(failed.stdout))]).toMatchObject([
    1,
    { accepted: [], messages: [expect.stringMatching(/index\.js:\d+ does not parse/)] },
  ]);
  expect(failed.stderr).toMatch(/^pulumi-svc: index\.js:\d+ does not parse[^\n]*\n$/);
  expect(read(stack, "index.js")).toContain("new svc.ComputeEndpoint(\n");
  // A pending edit of the property itself, with another one of the program.
  stack.program(program(`new svc.ComputeEndpoint("new", { projectId: "prj-demo", branchId: "br-test" });`, "8"));
  expect(await accepted(stack, "--force", "api")).toMatchObject({
    code: 7,
    left: [{ name: "api", path: "size", reason: expect.stringMatching(/not deployed/), code: "size: 4" }],
  });
  stack.program(program());

  // What the file covers is skipped unless it is named; deleted resources are reported.
  stack.write(
    "svc-drift.json",
    JSON.stringify({
      ignore: [
        { resource: "outside", reason: "on purpose" },
        { resource: "api", reason: "on purpose" },
      ],
    }),
  );
  await stack.service.edit({ kind: "endpoint", id: await endpointId(stack, "::gone"), delete: true });
  await stack.service.clearRequests();
  const dry = await accepted(stack, "--dry-run");
  const asked = await templates(stack);
  expect(dry).toMatchObject({
    code: 7,
    dryRun: true,
    accepted: [{ name: "mail", path: "host" }],
    left: [
      { name: "gone", path: null, reason: expect.stringMatching(/Remove it from the program.*create it again with/) },
    ],
  });
  expect(dry.patch).toContain('+  host: "other.example.com"');
  expect(dry.patch).toContain('password: "[secret]"');
  expect(read(stack, "index.js")).not.toContain("other.example.com");
  // It sends the requests of a drift check, and no others.
  await stack.service.clearRequests();
  const { report } = await drift(stack);
  expect(asked).toEqual(await templates(stack));
  expect(dry.fingerprint).toBe(report.fingerprint);
  expect(await accepted(stack, "--force", "api", "mail")).toMatchObject({ code: 0, left: [], files: ["index.js"] });
  expect(read(stack, "index.js")).toContain('branchId: "br-dev", size: 4 }');

  expect(await stack.leaks(["canary-accept-password", stack.service.emulator.apiKey])).toEqual([]);
});
