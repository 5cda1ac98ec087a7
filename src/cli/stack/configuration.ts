import { execFile } from "node:child_process";
import { ENVIRONMENT, type ReadSetting } from "../../contract/settings";
import { programFolder } from "../doctor/installation";
import { withoutEnvironmentSecrets } from "../environmentSecrets";

const LONGEST_RUN_MS = 60_000;
const LONGEST_OUTPUT_BYTES = 256 * 1024 * 1024;

/** A setting as the stack's configuration has it. */
export interface Configured {
  readonly value: string | undefined;
  readonly secret: boolean;
}

export interface Run {
  readonly ok: boolean;
  readonly stdout: string;
  /** Of a failure: what the CLI says, in one line. */
  readonly words: string;
}

/** Runs the Pulumi CLI. What it prints may hold secrets: it goes nowhere but to the caller. */
export type Pulumi = (...args: string[]) => Promise<Run>;

export function pulumiIn(folder: string, stack: string | undefined): Pulumi {
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

/** The settings, or why they cannot be read. */
export async function configurationOf(pulumi: Pulumi): Promise<ReadonlyMap<string, Configured> | string> {
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

/**
 * Reads a setting of the stack around `folder`. Without a program, without the CLI and without a selected stack there is
 * none, and the environment alone counts.
 * @throws in words where the stack is there and cannot be read, or was asked for by name and is not there.
 */
export async function readSettings(folder: string, stack: string | undefined): Promise<ReadSetting> {
  if (programFolder(folder) === undefined) {
    if (stack !== undefined) throw new Error(`there is no stack "${stack}" without a Pulumi.yaml here or above`);
    return () => undefined;
  }
  const pulumi = pulumiIn(folder, stack);
  const name = await pulumi("stack", "--show-name");
  if (!name.ok) {
    if (stack !== undefined) throw new Error(`the stack "${stack}" cannot be read: ${name.words}`);
    return () => undefined;
  }
  const configuration = await configurationOf(pulumi);
  if (typeof configuration === "string") {
    throw new Error(
      `the configuration of the stack ${name.stdout} cannot be read: ${configuration}. It needs the login and the passphrase of the stack`,
    );
  }
  return (setting) => configuration.get(setting)?.value;
}
