import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "../support/Stack";

/**
 * The ways to start an inline program of the Automation API. Where the engine looks for the provider is decided by the
 * project file in the workspace, which each of them writes differently.
 */

/** Folders: that of the package, and one without any packages. */
type Folder = "package" | "elsewhere";

interface Way {
  /** Where the process is started. */
  readonly cwd: Folder;
  readonly by?: "createStack" | "createOrSelectStack" | "selectStack";
  /** The process changes to the folder of the package before the stack is created, or after it. */
  readonly chdir?: "before" | "after";
  readonly workDir?: Folder;
  /** `main` of the project settings; null: project settings without it. Undefined: no project settings. */
  readonly main?: string | null;
  /** The text of a Pulumi.yaml in workDir. */
  readonly file?: string;
}

const SCRIPT = `
const { join } = require("node:path");
const { writeFileSync } = require("node:fs");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const svc = require("pulumi-svc");
const { by = "createOrSelectStack", chdir, workDir, main, file } = JSON.parse(process.env.WAY);
const folders = { package: __dirname, elsewhere: process.env.ELSEWHERE };
const program = async () => {
  const api = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: 1 });
  return { host: api.host };
};
async function start() {
  const args = { stackName: "dev", projectName: "inline", program };
  const backend = { url: process.env.PULUMI_BACKEND_URL };
  const settings = { name: "inline", runtime: "nodejs", backend, ...(main && { main: main.replace("PACKAGE", __dirname) }) };
  if (file !== undefined) writeFileSync(join(folders[workDir], "Pulumi.yaml"), file.replace("PACKAGE", __dirname));
  const options = { ...(workDir && { workDir: folders[workDir] }), ...(main !== undefined && { projectSettings: settings }) };
  if (chdir === "before") process.chdir(__dirname);
  if (by === "selectStack") await LocalWorkspace.createStack(args, options);
  const stack = await LocalWorkspace[by](args, options);
  if (chdir === "after") process.chdir(__dirname);
  const { outputs } = await stack.up();
  const host = outputs.host.value;
  await stack.refresh();
  await stack.destroy();
  return host;
}
start().then((host) => console.log("deployed " + host), (error) => { console.error(error.message); process.exit(1); });
`;

async function started(way: Way): Promise<string> {
  const stack = await Stack.create({ program: "" });
  const { service } = stack;
  const folder = join(stack.folder, "inline");
  const elsewhere = join(stack.folder, "elsewhere");
  for (const one of [folder, elsewhere]) mkdirSync(one);
  symlinkSync(join(__dirname, "..", "..", "node_modules"), join(folder, "node_modules"));
  stack.write("../inline/start.js", SCRIPT);
  const env = {
    ...stack.env,
    WAY: JSON.stringify(way),
    ELSEWHERE: elsewhere,
    SVC_BASE_URL: service.emulator.baseUrl,
    SVC_API_KEY: service.emulator.apiKey,
  };
  const before = await service.state();
  const text = await new Promise<string>((resolve) => {
    const cwd = way.cwd === "package" ? folder : elsewhere;
    execFile(process.execPath, [join(folder, "start.js")], { cwd, env }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
  expect(await service.state()).toMatchObject({ projects: before.projects.map(({ endpoints }) => ({ endpoints })) });
  await stack.close();
  return text;
}

const WORKS: readonly (readonly [string, Way])[] = [
  ["in the folder of the package", { cwd: "package" }],
  ["by createStack", { cwd: "package", by: "createStack" }],
  ["by selectStack", { cwd: "package", by: "selectStack" }],
  ["elsewhere, with chdir before", { cwd: "elsewhere", chdir: "before" }],
  ["with a backend and main", { cwd: "elsewhere", main: "PACKAGE" }],
  ["with a backend and main, by createStack", { cwd: "elsewhere", main: "PACKAGE", by: "createStack" }],
  ["with a backend and main, by selectStack", { cwd: "elsewhere", main: "PACKAGE", by: "selectStack" }],
  ["with a backend and a file as main", { cwd: "elsewhere", main: "PACKAGE/start.js" }],
  ["with a backend, and workDir in the package", { cwd: "elsewhere", workDir: "package", main: null }],
  ["with workDir elsewhere, and main", { cwd: "elsewhere", workDir: "elsewhere", main: "PACKAGE" }],
  ["with workDir elsewhere, in the folder of the package", { cwd: "package", workDir: "elsewhere" }],
  [
    "with a project file in the package",
    { cwd: "elsewhere", workDir: "package", file: "name: inline\nruntime: nodejs\n" },
  ],
  [
    "with a project file that names the package",
    { cwd: "elsewhere", workDir: "elsewhere", file: "name: inline\nruntime: nodejs\nmain: PACKAGE\n" },
  ],
];

const FAILS: readonly (readonly [string, Way])[] = [
  ["elsewhere", { cwd: "elsewhere" }],
  ["elsewhere, with chdir after", { cwd: "elsewhere", chdir: "after" }],
  ["with workDir in the package alone", { cwd: "elsewhere", workDir: "package" }],
  ["with a backend, in the folder of the package", { cwd: "package", main: null }],
  ["with a backend, by createStack", { cwd: "package", main: null, by: "createStack" }],
  ["with a backend, and workDir elsewhere", { cwd: "package", workDir: "elsewhere", main: null }],
  ["with a project file elsewhere", { cwd: "package", workDir: "elsewhere", file: "name: inline\nruntime: nodejs\n" }],
];

test.concurrent.each(WORKS)("%s, it is deployed and destroyed", async (_, way) => {
  expect(await started(way)).toMatch(/^deployed ep-/);
});

test.concurrent.each(FAILS)("%s, it is refused in words", async (_, way) => {
  const text = await started(way);
  expect(text).toMatch(
    /error: pulumi-svc: the Pulumi engine starts the provider in \S+, and finds no @pulumi\/pulumi there\. .*set `main: __dirname` in its projectSettings/,
  );
  expect(text).not.toMatch(/Cannot find module/);
});
