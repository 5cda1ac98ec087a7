import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "./cli";

/** The command `pulumi-svc` as it is built. */
export const MAIN = join(ROOT, "dist", "cli", "main.js");

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface Host {
  readonly process: ChildProcess;
  readonly ended: AbortSignal;
  isBusy: boolean;
}

/** What preload.cjs and Node read when a process starts. */
const AT_START = ["NODE_OPTIONS", "NODE_COMPILE_CACHE", "CHEAP_DIGESTS", "REFUSE_FOLDER", "SHORTER_ATTEMPTS_MS"];
/** By these variables. */
const hosts = new Map<string, Host>();
afterAll(() => {
  for (const host of hosts.values()) if (host.process.connected) host.process.disconnect();
  hosts.clear();
});

/** Runs `pulumi-svc` in the process of commandHost.cjs: beside another command, in a process of its own. */
export async function runCommand({ args, cwd, env }: Command): Promise<Ended> {
  const host = hostFor(env);
  if (host.isBusy) return await runProcess({ args, cwd, env });
  host.isBusy = true;
  try {
    const ended = once(host.process, "message", { signal: host.ended });
    host.process.send({ args, cwd, env });
    // As commandHost.cjs sends it.
    return ((await ended) as [Ended])[0];
  } finally {
    host.isBusy = false;
  }
}

function hostFor(env: NodeJS.ProcessEnv): Host {
  const atStart = Object.fromEntries(Object.entries(env).filter(([name]) => AT_START.includes(name)));
  const key = JSON.stringify(atStart);
  const known = hosts.get(key);
  if (known !== undefined) return known;
  const file = join(ROOT, "test", "support", "commandHost.cjs");
  const process = fork(file, { env: atStart, execArgv: [], silent: true });
  const end = new AbortController();
  process.once("exit", (code) => end.abort(new Error(`commandHost.cjs ended with ${code}`)));
  const host = { process, ended: end.signal, isBusy: false };
  hosts.set(key, host);
  return host;
}

/** Runs `pulumi-svc` as a user's shell does. */
export function runProcess({ args, cwd, env }: Command): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [MAIN, ...args], { cwd, env }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
