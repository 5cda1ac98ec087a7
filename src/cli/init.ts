import { existsSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { createInterface } from "node:readline/promises";
import { InvalidArgumentError, Option, type Command } from "commander";
import { EXIT } from "./exitCodes";
import { exitCodes } from "./options";

/** Each package manager's commands to install dependencies and development dependencies. */
const MANAGERS = {
  npm: ["npm install", "npm install --save-dev"],
  pnpm: ["pnpm add", "pnpm add --save-dev"],
  yarn: ["yarn add", "yarn add --dev"],
} as const;
type Manager = keyof typeof MANAGERS;

interface InitFlags {
  readonly yes?: true;
  readonly manager: Manager;
  readonly name: string;
}

/** The program from the first section of README.md. */
const PROGRAM = `import * as svc from "pulumi-svc";

const projectId = "prj-demo"; // the project of the emulator: in production one of yours

const api = new svc.ComputeEndpoint("api", {
  projectId,
  branchId: "br-dev",
  size: { min: 0.5, max: 2 }, // compute units, scaled by the service
});

const auth = new svc.ProjectAuth("auth", {
  projectId,
  oauth: { google: "shared" }, // give clientId and clientSecret in production
  redirectDomains: ["https://app.example.com"],
});

export const host = api.host; // stays when the compute moves to another branch
export const jwksUrl = auth.integration.jwksUrl;
`;

/** `pulumi-svc init`: writes the files of a first program into this folder. Existing files are kept. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("Write the files of a first program to this folder. Existing files are not changed")
    .option("--yes", "do not ask for confirmation")
    .addOption(
      new Option("--manager <name>", "the package manager; by default the one that runs this")
        .choices(Object.keys(MANAGERS))
        .default(runningManager()),
    )
    .addOption(
      new Option("--name <name>", "the name of the Pulumi project; by default that of the folder")
        .argParser(projectName)
        .default(nameOf(process.cwd())),
    )
    .addHelpText(
      "after",
      exitCodes("the files exist", "a file could not be written, or the user declined", {
        [EXIT.usage]: "wrong usage, or no terminal to ask on and no --yes",
      }),
    )
    .action(async ({ yes, manager, name }: InitFlags) => {
      const wanted = filesOf(manager, name);
      const held = Object.keys(wanted).filter((file) => existsSync(file));
      const missing = Object.entries(wanted).filter(([file]) => !held.includes(file));
      if (yes !== true && missing.length > 0 && !(await isAgreed(missing.map(([file]) => file)))) return;
      // "wx": does not overwrite a file that was created meanwhile.
      for (const [file, text] of missing) writeFileSync(file, text, { flag: "wx" });
      process.stdout.write(report(missing, held, manager));
    });
}

/** As in the examples. */
const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2022",
    "module": "node16",
    "moduleResolution": "node16",
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "files": ["index.ts"]
}
`;

/**
 * Files to keep out of a repository: the state of a backend in this folder, and the output of `emulator --data` and
 * `env --out`.
 */
const IGNORED = "node_modules/\n.pulumi/\nemulator.json*\n.env\n";

function filesOf(manager: Manager, name: string): Record<string, string> {
  return {
    "package.json": '{ "private": true }\n',
    "Pulumi.yaml": `name: ${name}\nruntime: nodejs\n`,
    "tsconfig.json": TSCONFIG,
    ".gitignore": IGNORED,
    "index.ts": PROGRAM,
    // Pulumi's Node runtime needs a node_modules folder, which Yarn creates only with this setting. Yarn classic does
    // not read it.
    ...(manager === "yarn" && { ".yarnrc.yml": "nodeLinker: node-modules\n" }),
  };
}

function report(written: readonly (readonly [string, string])[], held: readonly string[], manager: Manager): string {
  const [install, installForDevelopment] = MANAGERS[manager];
  return [
    ...written.map(([file]) => `wrote ${file}`),
    ...held.map((file) => `kept ${file}: it already exists`),
    "",
    ...(isInstalled()
      ? []
      : ["next:", `  ${install} pulumi-svc @pulumi/pulumi`, `  ${installForDevelopment} typescript@5`, ""]),
    ...(isOnPath("pulumi")
      ? []
      : [
          "the Pulumi CLI, which is not on PATH (or https://www.pulumi.com/docs/install/), with npx before each pulumi below:",
          `  ${installForDevelopment} pulumi`,
          "",
        ]),
    "the emulator, in a second terminal in the same folder:",
    "  npx pulumi-svc emulator",
    "",
    "and a stack, whose state stays in this folder:",
    "  export SVC_BASE_URL=http://127.0.0.1:8787/api/v2 SVC_API_KEY=test-key",
    '  export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=start',
    "  pulumi stack init dev",
    "  pulumi up --yes",
    "",
  ].join("\n");
}

const isInstalled = (): boolean =>
  ["pulumi-svc", "@pulumi/pulumi", "typescript"].every((name) => existsSync(join("node_modules", name)));

const isOnPath = (command: string): boolean =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));

async function isAgreed(files: readonly string[]): Promise<boolean> {
  if (!process.stdin.isTTY) {
    process.stderr.write("pulumi-svc: there is no terminal to ask on: use --yes to write the files\n");
    process.exitCode = EXIT.usage;
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Write ${files.join(", ")} to ${process.cwd()}? [Y/n] `);
  terminal.close();
  const agreed = /^\s*(y(es)?)?\s*$/i.test(answer);
  if (!agreed) process.exitCode = EXIT.failure;
  return agreed;
}

/** `npx`, `pnpm dlx` and `yarn dlx` identify themselves. */
function runningManager(): Manager {
  const [name = ""] = (process.env["npm_config_user_agent"] ?? "").split("/");
  return name === "pnpm" || name === "yarn" ? name : "npm";
}

const PROJECT_NAME = /^[\w.-]{1,100}$/;

function projectName(text: string): string {
  if (PROJECT_NAME.test(text)) return text;
  throw new InvalidArgumentError("The name of a Pulumi project has at most 100 letters, digits and . _ -");
}

function nameOf(folder: string): string {
  const name = basename(folder).replace(/[^\w.-]+/g, "-");
  return PROJECT_NAME.test(name) ? name : "svc-start";
}
