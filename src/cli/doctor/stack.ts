import { execFile } from "node:child_process";
import { isAtLeast } from "../../contract/sdkVersion";
import { ENVIRONMENT } from "../../contract/settings";
import { withoutEnvironmentSecrets } from "../environmentSecrets";
import { failure, ok, skipped, warning, type Check } from "./check";
import { isSupported, RANGE } from "./installation";

/** From this CLI on, `--expect-no-changes` ends with 7 for drift and with another code for a failure. */
const EXIT_CODES_SINCE = "3.226.1";
const LONGEST_RUN_MS = 60_000;
const LONGEST_OUTPUT_BYTES = 256 * 1024 * 1024;

/** A setting as the stack's configuration has it. */
export interface Configured {
  readonly value: string | undefined;
  readonly secret: boolean;
}

/** What the Pulumi CLI says of the stack. */
export interface Stack {
  readonly checks: readonly Check[];
  /** By the name in the namespace `svc`. Undefined where it could not be read. */
  readonly configuration: ReadonlyMap<string, Configured> | undefined;
  /** The projects that resources of its state belong to. */
  readonly projects: readonly string[];
}

interface Run {
  readonly ok: boolean;
  readonly stdout: string;
  /** Of a failure: what the CLI says, in one line. */
  readonly words: string;
}

/** Runs the Pulumi CLI. What it prints may hold secrets: it goes nowhere but to the caller. */
type Pulumi = (...args: string[]) => Promise<Run>;

function pulumiIn(folder: string, stack: string | undefined): Pulumi {
  const selected = stack === undefined ? [] : ["--stack", stack];
  const options = {
    cwd: folder,
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", NO_COLOR: "1" },
    timeout: LONGEST_RUN_MS,
    maxBuffer: LONGEST_OUTPUT_BYTES,
  };
  return (command, ...args) =>
    new Promise((resolve) => {
      const all = [command ?? "", ...args, ...(command === "version" ? [] : ["--non-interactive", ...selected])];
      execFile("pulumi", all, options, (error, stdout, stderr) => {
        resolve({ ok: error === null, stdout: stdout.trim(), words: error === null ? "" : wordsOf(stderr, error) });
      });
    });
}

/** The CLI's own error, without what an address or the environment may hold of secrets. */
function wordsOf(stderr: string, error: Error & { code?: unknown; killed?: boolean }): string {
  if (error.code === "ENOENT") return "there is no command pulumi on PATH";
  if (error.killed === true) return `pulumi did not end within ${LONGEST_RUN_MS / 1000} s`;
  const lines = stderr.split("\n").map((line) => line.trim());
  const line = lines.find((each) => each.startsWith("error:")) ?? lines.find((each) => each !== "") ?? "it failed";
  const words = line.replace(/^error:\s*/, "").replace(/\b[a-z][\w+.-]*:\/\/[^\s"']+/gi, "[address]");
  return withoutEnvironmentSecrets(words).slice(0, 300);
}

/** The CLI, and what it knows of the stack. `folder`: where the command was started. */
export async function readStack(
  folder: string,
  hasProgram: boolean,
  stack: string | undefined,
  needsProjects: boolean,
): Promise<Stack> {
  const pulumi = pulumiIn(folder, stack);
  const version = await pulumi("version");
  const cli = cliCheck(version);
  const without = (why: string): Stack => ({
    checks: [cli, skippedStack(why, stack)],
    // Of a stack that was asked for by name, the environment alone says nothing.
    configuration: stack === undefined ? new Map() : undefined,
    projects: [],
  });
  if (!version.ok) return without("without the Pulumi CLI there is no stack configuration to read");
  if (!hasProgram) return without("no Pulumi.yaml here or in a folder above: only the environment counts");
  const name = await pulumi("stack", "--show-name");
  if (!name.ok) return without(`no stack configuration was read: ${name.words}`);
  const config = await configurationOf(pulumi);
  if (typeof config === "string") {
    const remedy = "Make `pulumi config` work in this folder: it needs the login and the passphrase of the stack.";
    const check = failure("stack", `the configuration of ${name.stdout} cannot be read: ${config}`, remedy);
    return { checks: [cli, check], configuration: undefined, projects: [] };
  }
  const projects = needsProjects ? await projectsOf(pulumi) : [];
  return { checks: [cli, ok("stack", name.stdout)], configuration: config, projects };
}

function cliCheck({ ok: works, stdout, words }: Run): Check {
  const install = "Install the Pulumi CLI: https://www.pulumi.com/docs/install/";
  if (!works) return failure("Pulumi CLI", words, install);
  const version = stdout.split("\n").at(-1)?.replace(/^v/, "") ?? "";
  if (!isSupported(version)) return failure("Pulumi CLI", `${version}; pulumi-svc needs ${RANGE}`, install);
  if (isAtLeast(version, EXIT_CODES_SINCE)) return ok("Pulumi CLI", version);
  return warning(
    "Pulumi CLI",
    `${version}; the exit codes that tell drift from failures hold from ${EXIT_CODES_SINCE} on`,
    install,
  );
}

/** Asked for by name, a stack has to be there. */
function skippedStack(why: string, stack: string | undefined): Check {
  if (stack === undefined) return skipped("stack", why);
  return failure("stack", why, "Run this in the folder of the program, with the name that `pulumi stack ls` shows.");
}

/** The settings, or why they cannot be read. */
async function configurationOf(pulumi: Pulumi): Promise<ReadonlyMap<string, Configured> | string> {
  const shown = await pulumi("config", "--json");
  if (!shown.ok) return shown.words;
  // The CLI's own JSON. It leaves out the values of secrets.
  const all = JSON.parse(shown.stdout) as Record<string, { value?: string; secret?: boolean }>;
  const found = new Map<string, Configured>();
  for (const name of Object.keys(ENVIRONMENT)) {
    const entry = all[`svc:${name}`];
    if (entry === undefined) continue;
    let { value } = entry;
    if (entry.secret === true) {
      const read = await pulumi("config", "get", `svc:${name}`);
      if (!read.ok) return read.words;
      value = read.stdout;
    }
    found.set(name, { value, secret: entry.secret === true });
  }
  return found;
}

async function projectsOf(pulumi: Pulumi): Promise<string[]> {
  const exported = await pulumi("stack", "export");
  if (!exported.ok) return [];
  interface State {
    deployment?: { resources?: { type: string; outputs?: { projectId?: unknown } }[] };
  }
  // The CLI's own JSON; secrets are encrypted in it.
  const { deployment } = JSON.parse(exported.stdout) as State;
  const ours = (deployment?.resources ?? []).filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic/svc:"));
  const ids = ours.map(({ outputs }) => outputs?.projectId);
  return [...new Set(ids.filter((id) => typeof id === "string"))];
}
