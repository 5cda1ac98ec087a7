import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

export const ROOT = join(__dirname, "..", "..");
/** Of the SDK and the CLI that everything is tested with; the set-up gets both. */
export const TESTED = (
  JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { devDependencies: { "@pulumi/pulumi": string } }
).devDependencies["@pulumi/pulumi"];
/** A campaign runs whole (`npm run test:consumers` and its like); in a run of everything, a part that fits. */
export const WHOLE = process.env["PULUMI_SVC_WHOLE"] === "1";
const LONGEST_RUN_MS = 600_000;

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
  const versions = join(process.env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"), "versions", TESTED, "bin");
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

/** What changes nothing but the time that processes take. */
export const TUNING = {
  // The SDK is compiled once, not by each program and provider process.
  NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "node-compile"),
  // The CLI ends before it has to collect garbage: a third of its processor time.
  GOGC: "off",
  GOMEMLIMIT: "500MiB",
};

/** Without the caller's Pulumi login, stacks and settings: only what a process needs to start. */
export function cliEnvironment(home: string, backend: string): Record<string, string> {
  return {
    // The CLI's folder last: where it is on PATH already it keeps its place, and brings no other Node before the wanted one.
    PATH: [join(ROOT, "node_modules", ".bin"), process.env["PATH"] ?? "", cliFolder()].join(delimiter),
    HOME: home,
    // The CLI leaves its pipes there when a program fails.
    TMPDIR: home,
    PULUMI_HOME: join(home, ".pulumi"),
    PULUMI_BACKEND_URL: `file://${backend}`,
    PULUMI_CONFIG_PASSPHRASE: "a passphrase of the tests",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    ...TUNING,
    // One log of what was said, without colours.
    NO_COLOR: "1",
  };
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly input?: string;
  /** Gets the process, to interrupt it as Ctrl-C does. */
  readonly onStart?: (process: ChildProcess) => void;
}

/** Runs `pulumi` and answers with its exit code, whatever it is. A run that does not end is killed, and throws. */
export const pulumi = (args: readonly string[], options: RunOptions): Promise<Run> => run("pulumi", args, options);

/** The same with any command. */
export function run(file: string, args: readonly string[], { cwd, env, input, onStart }: RunOptions): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, detached: true });
    let text = "";
    let stdout = "";
    const timer = setTimeout(() => {
      kill(child.pid);
      reject(new Error(`${file} ${args.join(" ")} did not end within ${LONGEST_RUN_MS / 1000} s:\n${text}`));
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
    onStart?.(child);
  });
}

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

export function isAlive({ pid }: RunningProcess): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * The processes that a process has started, directly or indirectly: the CLI gives its hosts and providers process
 * groups of their own.
 */
export function descendants(pid: number): RunningProcess[] {
  const listed = spawnSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).stdout;
  const processes = [...listed.matchAll(/^ *(\d+) +(\d+) (.*)$/gm)].map(([, child, parent, command = ""]) => ({
    pid: Number(child),
    parent: Number(parent),
    command,
  }));
  const parents = [pid];
  const tree: RunningProcess[] = [];
  for (const parent of parents) {
    const children = processes.filter((one) => one.parent === parent);
    tree.push(...children);
    parents.push(...children.map((one) => one.pid));
  }
  return tree;
}

/** With all that it has started, the youngest first. */
function kill(pid: number | undefined): void {
  if (pid === undefined) return;
  for (const one of [
    ...descendants(pid)
      .map((each) => each.pid)
      .reverse(),
    pid,
  ]) {
    try {
      process.kill(one, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
