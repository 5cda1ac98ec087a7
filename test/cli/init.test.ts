import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("it writes the files that README.md's first section has, and shows its commands", () => {
  const { code, stdout } = init(["--yes"]);
  expect(code).toBe(0);
  const [project = "", ...others] = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
  const shown = [...project.matchAll(/^printf '(.*)' > (.*)$/gm)];
  expect(shown).toHaveLength(2);
  expect(files()).toEqual({
    ...Object.fromEntries(shown.map(([, text = "", file = ""]) => [file, text.replaceAll("\\n", "\n")])),
    "index.ts": blocks.find(({ file }) => file === "index.ts")?.text,
  });
  const commands = [...project.split("\n").filter((line) => line.startsWith("npm ")), ...others.join("").split("\n")];
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands.filter((line) => line !== "")) expect(stdout).toContain(`  ${command}\n`);
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
