import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutEnvironmentSecrets } from "../environmentSecrets";
import { readEventLog, type Refreshed } from "./refreshed";
import { StackState } from "../stack/state";

/** Resources of this package, at any depth: no other package is asked, so none needs its credentials here. */
const OURS = "**pulumi-nodejs:dynamic/svc:**";

/** What a refresh found, and the state that it began with. */
export interface RefreshedStack {
  readonly resources: readonly Refreshed[];
  readonly state: StackState;
}

/**
 * Runs the CLI's refresh, which changes nothing and does not run the program, and reads its event log: what the
 * Automation API reads, too. The output of `--json` holds the state from before.
 * @param withSecrets the state holds its secrets in clear: in memory only.
 * @throws in the words of the CLI.
 */
export async function previewRefresh(stack: string | undefined, withSecrets: boolean): Promise<RefreshedStack> {
  const folder = await mkdtemp(join(tmpdir(), "pulumi-svc-drift-"));
  try {
    const log = join(folder, "events.json");
    const args = ["refresh", "--preview-only", "--run-program=false", "--target", OURS, "--event-log", log];
    const { code, stderr } = await pulumi(args, stack);
    const text = await readFile(log, "utf8").catch(() => "");
    const { errors } = readEventLog(text);
    if (code !== 0 || errors.length > 0) throw failure("refresh", [...errors, ...errorLines(stderr)]);
    const state = await exportedState(stack, withSecrets);
    return { resources: readEventLog(text, state).resources, state };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws in the words of the CLI. */
export async function exportedState(stack: string | undefined, withSecrets: boolean): Promise<StackState> {
  const { code, stdout, stderr } = await pulumi(["stack", "export", ...(withSecrets ? ["--show-secrets"] : [])], stack);
  if (code !== 0) throw failure("stack export", errorLines(stderr));
  return new StackState(JSON.parse(stdout));
}

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function pulumi(args: readonly string[], stack: string | undefined): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, PULUMI_DEBUG_COMMANDS: "true", PULUMI_SKIP_UPDATE_CHECK: "true" };
  // The CLI refuses it beside --preview-only.
  delete env["PULUMI_SKIP_CONFIRMATIONS"];
  const all = [...args, "--non-interactive", "--color", "never", ...(stack === undefined ? [] : ["--stack", stack])];
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", all, { env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
    // Ctrl-C reaches the CLI, too: what it says then is waited for, and what it wrote is removed.
    const wait = (): void => undefined;
    const pass = (): void => void child.kill("SIGTERM");
    process.on("SIGINT", wait).on("SIGTERM", pass);
    const done = (): void => void process.off("SIGINT", wait).off("SIGTERM", pass);
    child.on("error", (error) => {
      done();
      reject(notStarted(error));
    });
    child.on("close", (code) => {
      done();
      resolve({ code, stdout, stderr });
    });
  });
}

function notStarted(error: Error & { code?: string }): Error {
  if (error.code !== "ENOENT") return new Error(`the Pulumi CLI could not be started: ${error.message}`);
  return new Error('the Pulumi CLI was not found: install it, and put the folder of "pulumi" on PATH');
}

function errorLines(stderr: string): string[] {
  return stderr.split("\n").flatMap((line) => (line.startsWith("error: ") ? [line.slice("error: ".length)] : []));
}

function failure(command: string, errors: readonly string[]): Error {
  const [first = "it gave no reason", ...others] = [...new Set(errors)].filter((text) => text !== "preview failed");
  // The rest is a stack, where SVC_DEBUG asks for it.
  const [line = ""] = first.split("\n");
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  // An older CLI has nothing but these words for it.
  const advice = line.startsWith("unknown flag") ? ". This CLI is too old for pulumi-svc: update it" : "";
  return new Error(`pulumi ${command} failed: ${withoutSecrets(line)}${more}${advice}`);
}

/** An error of a state backend may name its address, with a password in it. */
function withoutSecrets(text: string): string {
  return withoutEnvironmentSecrets(text.replace(/\/\/[^/@\s]+@/g, "//[secret]@"));
}
