import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

export const ROOT = join(__dirname, "..", "..");
const VERSION = "3.259.0";
const LONGEST_RUN_MS = 150_000;

/** What one run of the CLI left. */
export interface Run {
  readonly code: number | null;
  /** Standard output and error in the order in which they came. */
  readonly text: string;
  readonly stdout: string;
}

/**
 * The folder of the Pulumi CLI: on PATH (where `npm run test:engine` puts it) or in the versions folder.
 * A test that needs the CLI fails without it: never a silent skip.
 */
function cliFolder(): string {
  const versions = join(process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "versions", VERSION, "bin");
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), versions];
  const folder = folders.find((candidate) => isExecutable(join(candidate, "pulumi")));
  if (folder === undefined)
    throw new Error("The engine tests need the Pulumi CLI: run `npm run setup`, which gets it.");
  return folder;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Nothing of the caller's Pulumi login, stacks and settings gets in: only what a process needs to start. */
export function cliEnvironment(home: string, backend: string): Record<string, string> {
  return {
    PATH: [cliFolder(), join(ROOT, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter),
    HOME: home,
    TMPDIR: process.env["TMPDIR"] ?? "/tmp",
    PULUMI_HOME: join(home, ".pulumi"),
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "a passphrase of the tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    // One log of what was said, without colours.
    NO_COLOR: "1",
  };
}

/** Runs `pulumi` and answers with its exit code, whatever it is. A run that does not end is killed, and throws. */
export function pulumi(
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string>; input?: string },
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn("pulumi", args, { cwd, env, detached: true });
    let text = "";
    let stdout = "";
    const timer = setTimeout(() => {
      kill(child.pid);
      reject(new Error(`pulumi ${args.join(" ")} did not end within ${LONGEST_RUN_MS / 1000} s:\n${text}`));
    }, LONGEST_RUN_MS);
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      stdout += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, text, stdout });
    });
    child.stdin.end(input ?? "");
  });
}

/** The whole group: the CLI starts hosts of its own. */
function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
