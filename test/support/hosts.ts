import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "./cli";

/**
 * Processes of a test file that do the work of more than one process, one after the other: commandHost.cjs, programHost.cjs,
 * providerHost.cjs. Before each command such a host gets the folder and the environment of that.
 */

export interface Host {
  readonly process: ChildProcess;
  /** Sends a message, and returns the one that answers it. */
  ask(message: object): Promise<unknown>;
  /** For the next command. */
  release(): void;
}

/** What Node and preload.cjs read when a process starts: the same for all commands of a host. */
const AT_START = ["NODE_OPTIONS", "NODE_COMPILE_CACHE", "CHEAP_DIGESTS", "REFUSE_FOLDER", "SHORTER_ATTEMPTS_MS"];

const started: ChildProcess[] = [];
/** Those without a command, by what they were started with. */
const free = new Map<string, Host[]>();
afterAll(() => {
  for (const host of started.splice(0)) if (host.connected) host.disconnect();
  free.clear();
});

/** A host for one command, whose `cwd` has the packages that the host finds. */
export function takeHost(script: string, cwd: string, env: NodeJS.ProcessEnv): Host {
  const atStart = Object.fromEntries(Object.entries(env).filter(([name]) => AT_START.includes(name)));
  const key = JSON.stringify([script, cwd, atStart]);
  const known = free.get(key) ?? [];
  free.set(key, known);
  return known.pop() ?? startHost(script, cwd, atStart, known);
}

function startHost(script: string, cwd: string, env: NodeJS.ProcessEnv, known: Host[]): Host {
  const file = join(ROOT, "test", "support", `${script}.cjs`);
  const process = fork(file, { cwd, env, execArgv: [], silent: true });
  started.push(process);
  process.stdout?.resume();
  let said = "";
  process.stderr?.on("data", (chunk) => (said += String(chunk)));
  const end = new AbortController();
  process.once("exit", (code) => end.abort(new Error(`${script}.cjs ended with ${code}:\n${said}`)));
  const host: Host = {
    process,
    ask: async (message) => {
      const answered = once(process, "message", { signal: end.signal });
      process.send(message);
      return ((await answered) as unknown[])[0];
    },
    release: () => void (end.signal.aborted || known.push(host)),
  };
  return host;
}
