import { execa, type Options, type ResultPromise } from "execa";
import { interrupted } from "./interrupt.mts";
import { ROOT } from "./paths.mjs";

export interface Result {
  code: number;
  stdout: string;
  /** Both outputs, as the lines came. */
  output: string;
}

/** Ends a command that `start` started, and what it started: TERM for the process group, KILL after 5 seconds. */
export async function endGroup(child: ResultPromise): Promise<void> {
  signalGroup(child, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), 5_000);
  await child.catch(() => undefined);
  clearTimeout(timer);
  signalGroup(child, "SIGKILL");
}

function signalGroup({ pid }: ResultPromise, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Starts a command in the clone as the leader of a process group: Ctrl-C then reaches us alone, and we end the group. */
export function start(command: string, args: string[], options: Options): ResultPromise {
  const child = execa(command, args, { cwd: ROOT, reject: false, detached: true, cleanup: false, ...options });
  const end = () => void endGroup(child);
  interrupted.addEventListener("abort", end);
  void child.finally(() => interrupted.removeEventListener("abort", end));
  return child;
}

/** Runs a command to its end. Throws only when we are interrupted; whatever else went wrong is in the result. */
export async function run(
  command: string,
  args: string[],
  options: Options & { inherit?: boolean; onLine?: (line: string) => void; timeoutMs?: number } = {},
): Promise<Result> {
  const { inherit = false, onLine, timeoutMs, ...more } = options;
  const tell = function* (line: unknown) {
    onLine?.(String(line));
    yield line;
  };
  const out = inherit ? "inherit" : onLine ? tell : "pipe";
  const child = start(command, args, { input: "", stdout: out, stderr: out, all: true, maxBuffer: 1e9, ...more });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => void endGroup(child), timeoutMs);
  const { exitCode, stdout, all, failed, shortMessage } = await child;
  clearTimeout(timer);
  interrupted.throwIfAborted();
  // Without an exit code it did not start, or a signal ended it.
  const output = failed && exitCode === undefined ? `${all ?? ""}\n${shortMessage}` : all;
  return { code: exitCode ?? 127, stdout: String(stdout ?? ""), output: String(output ?? "") };
}
