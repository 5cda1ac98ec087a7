import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { cliEnvironment, pulumi, ROOT, WHOLE } from "../support/cli";
import { codeBlocks, textOf } from "../support/codeBlocks";
import { type Consumer, CONSUMERS, type Manager, OLDEST, PROGRAMS, titleOf } from "../support/consumers";
import { packInto, Reader } from "../support/reader";
import { Service } from "../support/service";

jest.setTimeout(600_000);

const chosen = CONSUMERS.filter(({ always }) => WHOLE || always);

const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-consumers-"));
const tools = join(folder, "tools");
let tarball: string;
let service: Service;

/** Fixed versions, independent of the machine. */
const MANAGERS = {
  pnpm: "npm:pnpm@10",
  "yarn classic": "npm:yarn@1",
  yarn: "npm:@yarnpkg/cli-dist@4",
  Bun: "npm:bun@1",
};
const nodePackage = (node: number): string => `node-${node}`;
const managerPackage = (manager: string): string => manager.toLowerCase().replace(" ", "-");
/** The tests themselves run on one of the wanted versions: no other is installed for it. */
const isOwn = (node: number): boolean => process.versions.node.startsWith(`${node}.`);
const TOOLS = Object.fromEntries(
  chosen.flatMap(({ manager, node }) => [
    ...(isOwn(node) ? [] : [[nodePackage(node), `npm:node@${node}`]]),
    ...(manager === "npm" ? [] : [[managerPackage(manager), MANAGERS[manager]]]),
  ]),
);

beforeAll(async () => {
  mkdirSync(tools);
  writeFileSync(join(tools, "package.json"), JSON.stringify({ private: true, dependencies: TOOLS }));
  run(tools, process.env, "npm", "install", "--no-audit", "--no-fund");
  tarball = packInto(folder);
  service = await Service.start({});
});
afterAll(async () => {
  await service?.emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(cwd: string, env: NodeJS.ProcessEnv, command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const nodeFolder = (node: number): string =>
  isOwn(node) ? dirname(realpathSync(process.execPath)) : join(tools, "node_modules", nodePackage(node), "bin");

/** Installs the packages in package.json. Creating a lock file is not an error here. */
function install(manager: Manager, project: string, env: NodeJS.ProcessEnv): void {
  const tool = (path: string, ...args: string[]): void =>
    void run(project, env, process.execPath, join(tools, "node_modules", managerPackage(manager), path), ...args);
  switch (manager) {
    case "npm":
      return void run(project, env, "npm", "install", "--no-audit", "--no-fund");
    case "pnpm":
      return tool("bin/pnpm.cjs", "install", "--no-frozen-lockfile");
    case "yarn classic":
      return tool("bin/yarn.js", "install", "--non-interactive", "--no-lockfile");
    case "yarn":
      writeFileSync(join(project, ".yarnrc.yml"), "nodeLinker: node-modules\nenableTelemetry: false\n");
      writeFileSync(join(project, "yarn.lock"), "");
      return tool("bin/yarn.js", "install", "--no-immutable");
    case "Bun":
      return void run(project, env, join(tools, "node_modules", "bun", "bin", "bun.exe"), "install");
  }
}

function writeProject(project: string, { program, sdk, typescript }: Consumer): void {
  const { files, packageJson, options = "typescript: true", main, devDependencies = [] } = PROGRAMS[program];
  const dependencies = { "@pulumi/pulumi": sdk, "pulumi-svc": `file:${tarball}` };
  const own = [...(typeof typescript === "number" ? [`typescript@${typescript}`] : []), ...devDependencies];
  const devs = Object.fromEntries(own.map((each) => [each.slice(0, each.lastIndexOf("@")), each.split("@").at(-1)]));
  const all = { name: "proj", private: true, ...packageJson, dependencies, devDependencies: devs };
  const lines = ["name: proj", ...(main === undefined ? [] : [`main: ${main}`])];
  lines.push("runtime:", "  name: nodejs", "  options:", `    ${options}`, "");
  const texts = { ...files, "package.json": JSON.stringify(all), "Pulumi.yaml": lines.join("\n") };
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(project, file), text);
}

test.each(chosen.map((consumer) => [titleOf(consumer), consumer] as const))("%s", async (_, consumer) => {
  const home = mkdtempSync(join(folder, "home-"));
  const project = mkdtempSync(join(folder, "project-"));
  const backend = mkdtempSync(join(folder, "backend-"));
  const path = [nodeFolder(consumer.node), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  writeProject(project, consumer);
  install(consumer.manager, project, { ...process.env, PATH: path, CI: "true" });
  const [build, ...args] = PROGRAMS[consumer.program].build ?? [];
  if (build !== undefined) {
    run(project, { ...process.env, PATH: path }, join(project, "node_modules", ".bin", build), ...args);
  }

  // The compiled code of one of these programs is of no use to the next.
  const { NODE_COMPILE_CACHE: _cache, ...cli } = cliEnvironment(home, backend);
  const env = {
    ...cli,
    PATH: [nodeFolder(consumer.node), cli["PATH"]].join(delimiter),
    SVC_API_KEY: service.emulator.apiKey,
    SVC_BASE_URL: service.emulator.baseUrl,
  };
  const said = [];
  for (const command of [
    ["stack", "init", "dev"],
    ["up", "--yes", "--skip-preview"],
    ["preview", "--refresh", "--expect-no-changes"],
    ["destroy", "--yes", "--skip-preview"],
  ]) {
    const { code, text } = await pulumi([...command, "--non-interactive"], { cwd: project, env });
    said.push(text);
    if (code !== 0) throw new Error(`pulumi ${command.join(" ")} ended with ${code}:\n${said.join("\n")}`);
    if (command[0] === "up") expect(await service.endpoints()).toHaveLength(2);
  }
  const everything = said.join("\n");
  expect(everything).not.toMatch(/two versions are installed/);
  const isWarned = everything.includes("no TypeScript is installed beside this program");
  expect(isWarned).toBe(consumer.typescript === "the SDK's own TypeScript");
  expect(await service.endpoints()).toHaveLength(1);
});

/** README.md with npm and the newest SDK is in test/engine/tour.test.ts. */
const READERS = [
  { manager: "npm", node: 20, sdk: OLDEST },
  { manager: "pnpm", node: 22, sdk: undefined },
  { manager: "pnpm", node: 20, sdk: OLDEST },
  { manager: "yarn classic", node: 22, sdk: undefined },
  { manager: "Bun", node: 24, sdk: undefined },
] as const;

if (WHOLE)
  test.each(READERS)(
    "a reader of README.md gets to a first up by the commands that docs/toolchains.md has for $manager, SDK $sdk",
    async ({ manager, node, sdk }) => {
      const commands = (of: string): string[] => {
        const [, row = ""] = textOf("docs/toolchains.md").split("\n## How\n");
        const [, cell = ""] = new RegExp(`^\\| ${of} +\\|([^|]*)`, "m").exec(row) ?? [];
        return [...cell.matchAll(/`([^`]+)`/g)].map(([, command = ""]) => command);
      };
      const inReadme = commands("npm");
      const wanted = commands(manager).map((command) =>
        command
          .replace(/(?<= )pulumi-svc(?= )/, tarball)
          .replace("@pulumi/pulumi", sdk === undefined ? "@pulumi/pulumi" : `@pulumi/pulumi@${sdk}`),
      );
      expect(wanted).toHaveLength(inReadme.length);
      const [, start = ""] = textOf("README.md").split(/^(?=## )/m);
      const reader = new Reader(folder, [managerCommands(), nodeFolder(node)]);
      try {
        const replaced = new Map(inReadme.map((command, at) => [`${command}\n`, `${wanted[at] ?? ""}\n`]));
        const said = await reader.follow(codeBlocks("README.md", start), "svc-start", replaced);
        expect(said).toContain("+ 6 created");
      } finally {
        await reader.close();
      }
    },
  );

/** A folder that contains only the commands `pnpm`, `yarn` and `bun`. */
function managerCommands(): string {
  const bin = join(tools, "commands");
  mkdirSync(bin, { recursive: true });
  for (const [command, path] of Object.entries({
    pnpm: "pnpm/bin/pnpm.cjs",
    yarn: "yarn-classic/bin/yarn.js",
    bun: "bun/bin/bun.exe",
  })) {
    rmSync(join(bin, command), { force: true });
    symlinkSync(join(tools, "node_modules", path), join(bin, command));
  }
  return bin;
}

test("docs/toolchains.md has a row for each of them", () => {
  const page = readFileSync(join(ROOT, "docs", "toolchains.md"), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("|"));
  const cells = rows.map((row) =>
    row
      .split("|")
      .map((cell) => cell.trim())
      .filter(Boolean)
      .slice(0, 5)
      .join(" | "),
  );
  expect(cells).toEqual(expect.arrayContaining(CONSUMERS.map(titleOf)));
});
