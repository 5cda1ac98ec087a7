/** `drift --accept` if several stacks share one program: only a stack's plan shows which `new` belongs to it. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AcceptResult, acceptSchema } from "../../src/cli/drift/accept/result";
import { ROOT } from "../support/cli";
import { Stack } from "../support/Stack";
import { svc } from "../support/svc";

const INDEX = `import * as pulumi from "@pulumi/pulumi";
await import(\`./\${pulumi.getStack()}.js\`);
`;
const DEV = `import * as svc from "pulumi-svc";
new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });
`;
/** The class is sometimes imported from another file. */
const LIB = `export * as svc from "pulumi-svc";
import { ComputeEndpoint } from "pulumi-svc";
export class Compute extends ComputeEndpoint {}
export const jobs = (make) => make("jobs");
`;
const prod = (api: string): string => `import * as pulumi from "@pulumi/pulumi";
import * as ours from "pulumi-svc";
import { Compute, jobs, svc } from "./lib.js";
${api}
new ours.ComputeEndpoint("own", { projectId: "prj-demo", branchId: "br-main", type: "read_only", size: 1, name: "own" });
`;
const OPTIONS = `{ projectId: "prj-demo", branchId: "br-test", size: 1 }`;

const sized = (size: number) => ({ autoscaling_limit_min_cu: size, autoscaling_limit_max_cu: size });
const read = (stack: Stack, file: string): string => readFileSync(join(stack.folder, "program", file), "utf8");

async function accepted(stack: Stack, ...args: string[]): Promise<AcceptResult & { code: number }> {
  const { code, stdout } = await svc(stack, ["drift", "--accept", "--force", "--json", ...args]);
  return { code, ...acceptSchema.parse(JSON.parse(stdout)) };
}

/** The exit code of a command that receives a signal as soon as `isReady`. */
async function ended(stack: Stack, signal: NodeJS.Signals, isReady: () => boolean): Promise<number | null> {
  const args = [join(ROOT, "dist", "cli", "main.js"), "drift", "--accept", "--force", "--stack", "prod"];
  const child = spawn(process.execPath, args, { cwd: join(stack.folder, "program"), env: stack.env, stdio: "ignore" });
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  while (child.exitCode === null && !isReady()) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill(signal);
  return code;
}

test("of two stacks each accepts what is its own: what the other one declares stays as it is", async () => {
  const stack = await Stack.create({ program: "" });
  stack.write("package.json", '{ "name": "proj", "private": true, "type": "module" }');
  stack.write("index.js", INDEX);
  stack.write("dev.js", DEV);
  stack.write("lib.js", LIB);
  const [barrel, subclass] = [`new svc.ComputeEndpoint("api", ${OPTIONS});`, `new Compute("api", ${OPTIONS});`];
  stack.write("prod.js", prod(barrel));
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect(await stack.run("stack", "init", "prod", "--copy-config-from", "dev")).toMatchObject({ code: 0 });
  expect(await stack.run("up", "--yes", "--skip-preview", "--stack", "prod")).toMatchObject({ code: 0 });
  for (const { id, name, branch_id: branch } of await stack.service.endpoints())
    if (name === "own" || branch === "br-test") await stack.service.edit({ kind: "endpoint", id, set: sized(4) });

  // Two files have the name: none is guessed.
  const twice = await accepted(stack, "--stack", "prod", "--dry-run");
  expect(twice.left).toMatchObject([
    { name: "api", reason: expect.stringMatching(/more than one.*: dev\.js:2, prod\.js:4$/) },
  ]);
  expect(twice.accepted.map(({ name }) => name)).toEqual(["own"]);
  // A class of the program: only dev's file has the name, and its edit does not reach the stack.
  stack.write("prod.js", prod(subclass));
  const undone = await accepted(stack, "--stack", "prod", "api");
  expect(undone).toMatchObject({ files: [], left: [{ name: "api", reason: expect.stringMatching(/undone/) }] });
  expect(read(stack, "dev.js")).toBe(DEV);

  // If a factory creates it, the text does not show the stack. The plan does: an edit that does not reach the stack is
  // undone, and the rest stays.
  stack.write("prod.js", prod(`jobs((name) => Reflect.construct(Compute, ["api", ${OPTIONS}]));`));
  const rest = await accepted(stack, "--stack", "prod");
  expect(rest).toMatchObject({
    code: 7,
    files: ["prod.js"],
    otherStacks: ["dev"],
    accepted: [{ name: "own", path: "size", found: 4 }],
    left: [{ name: "api", file: "dev.js", line: 2, code: "size: 4", reason: expect.stringMatching(/undone/) }],
  });
  expect(read(stack, "dev.js")).toBe(DEV);
  expect(read(stack, "prod.js")).toContain(`size: 4, name: "own"`);
  // A program that cannot be planned: nothing stays.
  stack.write(
    "prod.js",
    `${prod(barrel).replace("svc.ComputeEndpoint", "ours.ComputeEndpoint")}throw new Error("no way");\n`,
  );
  stack.write("dev.js", "");
  const before = read(stack, "prod.js");
  const failed = await accepted(stack, "--stack", "prod");
  expect(failed).toMatchObject({
    code: 1,
    accepted: [],
    messages: [expect.stringMatching(/^nothing was edited.*no way$/)],
  });
  expect(read(stack, "prod.js")).toBe(before);
  // With its own class it is found. Cut off while the plan runs, the edit does not stay.
  const own = before.replace(/throw.*\n/, "");
  stack.write("prod.js", own);
  expect(await ended(stack, "SIGTERM", () => read(stack, "prod.js") !== own)).toBe(1);
  expect(read(stack, "prod.js")).toBe(own);
  const kept = await svc(stack, ["drift", "--accept", "--force", "--stack", "prod"]);
  expect(kept).toMatchObject({ code: 0, stderr: "" });
  expect(kept.stdout).toContain("Check its plan before you commit the edit\n  dev\n");
  expect(await stack.run("preview", "--refresh", "--expect-no-changes", "--stack", "prod")).toMatchObject({ code: 0 });
  stack.write("dev.js", DEV);
  expect(await stack.run("preview", "--refresh", "--expect-no-changes", "--stack", "dev")).toMatchObject({ code: 0 });
  expect(await stack.leaks([stack.service.emulator.apiKey])).toEqual([]);
});
