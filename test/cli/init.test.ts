import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ROOT } from "../support/cli";
import { codeBlocks, textOf } from "../support/codeBlocks";

const MAIN = join(ROOT, "dist", "cli", "main.js");

let folder: string;
beforeAll(() => expect(existsSync(MAIN)).toBe(true));
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "init-")), "svc-start");
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

function init(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const all = [MAIN, "init", ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, {
    cwd: folder,
    env,
    encoding: "utf8",
    input: "",
  });
  return { code: status, stdout, stderr };
}
const files = () =>
  Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]));

const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
const blocks = codeBlocks("README.md", start);

const shell = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);

test("it writes what README.md's first section says, with its program, and shows its commands", () => {
  const { code, stdout } = init(["--yes"]);
  expect(code).toBe(0);
  expect(shell[0]).toContain("npx pulumi-svc init --yes\n");
  expect(files()).toEqual({
    "package.json": /^printf '(.*)\\n' > package.json$/m.exec(shell[0] ?? "")?.[1] + "\n",
    "Pulumi.yaml": "name: svc-start\nruntime: nodejs\n",
    "tsconfig.json": readFileSync(join(ROOT, "examples", "quickstart", "tsconfig.json"), "utf8"),
    ".gitignore": expect.stringMatching(/^node_modules\/\n\.pulumi\/\n/),
    "index.ts": blocks.find(({ file }) => file === "index.ts")?.text,
  });
  // An account that may not change it refuses even the default.
  expect(files()["index.ts"]).not.toContain("scaleToZero");
  const [project = "", ...others] = shell;
  const commands = [...project.split("\n").filter((line) => line.startsWith("npm ")), ...others.join("").split("\n")];
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands.filter((line) => line !== "")) expect(stdout).toContain(`  ${command}\n`);
});

test("where the packages are installed, as README.md has it, the commands that install them are not shown", () => {
  for (const name of ["pulumi-svc", "@pulumi/pulumi", "typescript"])
    mkdirSync(join(folder, "node_modules", name), { recursive: true });
  const { code, stdout } = init(["--yes"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("npm install pulumi-svc");
  expect(stdout).toContain("  npx pulumi-svc emulator\n");
});

test("without a CLI on PATH it shows how to get it from npm", () => {
  const hint = /^the Pulumi CLI, which is not on PATH .*\n {2}npm install --save-dev pulumi\n$/m;
  expect(init(["--yes"], { PATH: folder }).stdout).toMatch(hint);
  writeFileSync(join(folder, "pulumi"), "");
  expect(init(["--yes"], { PATH: ["/nowhere", folder].join(delimiter) }).stdout).not.toContain("the Pulumi CLI");
});

test("what is there already stays as it is, and is named", () => {
  writeFileSync(join(folder, "index.ts"), "mine");
  const first = init(["--yes", "--name", "other"]);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("kept index.ts: it already exists\n") });
  expect(files()).toMatchObject({ "index.ts": "mine", "Pulumi.yaml": "name: other\nruntime: nodejs\n" });
  const before = files();
  const second = init(["--yes"]);
  expect(second).toMatchObject({ code: 0, stdout: expect.not.stringContaining("wrote") });
  expect(files()).toEqual(before);
});

test.each([
  [
    "pnpm",
    "pnpm/10.1.0 npm/? node/v22",
    [],
    ["pnpm add pulumi-svc @pulumi/pulumi", "pnpm add --save-dev typescript@5"],
  ],
  ["yarn", "yarn/4.9.0 npm/? node/v22", [], ["yarn add pulumi-svc @pulumi/pulumi", "yarn add --dev typescript@5"]],
  ["npm", "yarn/4.9.0 npm/? node/v22", ["--manager", "npm"], ["npm install pulumi-svc @pulumi/pulumi"]],
])("for %s it shows the commands that docs/toolchains.md has", (manager, agent, args, commands) => {
  const { stdout } = init(["--yes", ...args], { npm_config_user_agent: agent });
  for (const command of commands) {
    expect(stdout).toContain(`  ${command}\n`);
    expect(textOf("docs/toolchains.md")).toContain(`\`${command}\``);
  }
  expect(files()[".yarnrc.yml"]).toBe(manager === "yarn" ? "nodeLinker: node-modules\n" : undefined);
});

test("where nobody can be asked it wants --yes, and writes nothing", () => {
  expect(init([])).toEqual({ code: 2, stdout: "", stderr: expect.stringContaining("use --yes") });
  expect(files()).toEqual({});
});

test("wrong usage ends with 2, and the help names the exit codes", () => {
  expect(init(["--yes", "--manager", "cargo"])).toMatchObject({ code: 2 });
  expect(init(["--yes", "--name", "a b"])).toMatchObject({ code: 2, stderr: expect.stringContaining("letters") });
  expect(init(["--help"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/Exit codes: 0 .*; 1 .*; 2 /) });
  expect(files()).toEqual({});
});
