import { delimiter, join } from "node:path";
import { execa, type Options } from "execa";
import { say, stopwatch } from "./console.mjs";
import { NODE, NODE_MODULES, ROOT } from "./paths.mjs";

const controller = new AbortController();
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Aborted by Ctrl-C, TERM and a closed terminal; the reason is the exit code. Running commands are then ended, and the
 * code that waits for them cleans up in its `finally`.
 */
export const interrupted = controller.signal;

export function watchInterrupts(): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.on(signal, () => {
      if (interrupted.aborted) process.exit(code);
      say(`\n${signal}: cleaning up (press again to exit at once)`);
      controller.abort(code);
    });
  }
}

interface RunOptions extends Options {
  /** The command writes to this process's output. */
  inherit?: boolean;
  onLine?: (line: string) => void;
  /** Printed every 20 seconds while it runs. */
  progress?: string;
}

export interface Result {
  code: number;
  stdout: string;
  /** Both outputs, line by line in order of arrival. */
  output: string;
}

/**
 * Runs a command in the clone to its end. Throws only if this process is interrupted; any other failure is in the
 * result.
 */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<Result> {
  const { inherit = false, onLine, progress, ...more } = options;
  const tell = function* (line: unknown) {
    onLine?.(String(line));
    yield line;
  };
  const out = inherit ? "inherit" : onLine ? tell : "pipe";
  const ends = { reject: false, cancelSignal: interrupted } as const;
  const elapsed = stopwatch();
  const timer = progress && setInterval(() => say(`   ${progress}: still running, ${elapsed()}`), 20_000);
  const child = execa(command, args, { cwd: ROOT, input: "", stdout: out, stderr: out, all: true, ...ends, ...more });
  const { exitCode, stdout, all, failed, shortMessage } = await child;
  clearInterval(timer);
  interrupted.throwIfAborted();
  // Without an exit code, the command did not start, or a signal ended it.
  const output = failed && exitCode === undefined ? `${all ?? ""}\n${shortMessage}` : all;
  return { code: exitCode ?? 127, stdout: String(stdout ?? ""), output: String(output ?? "") };
}

/**
 * Runs an installed tool whose exit code is the result; returns its complaints. `program` is its path in the package.
 */
export async function runTool(packageName: string, program: string, ...args: string[]): Promise<string> {
  const env = { NO_COLOR: "1" };
  const { code, output } = await run(NODE, [join(NODE_MODULES, packageName, program), ...args], { env });
  return code === 0 ? "" : `${[packageName, ...args].join(" ")} ended with ${code}:\n${output}`;
}

/** Prepends folders to the PATH of this process and everything it starts. */
export function putFirstOnPath(...folders: string[]): void {
  const rest = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folders.includes(folder));
  process.env.PATH = [...folders, ...rest].join(delimiter);
}

/**
 * The environment that prevents requests to this machine itself through a proxy. The Pulumi SDK needs it even for the
 * engine on 127.0.0.1: its gRPC client uses the proxy unless the list names the host.
 */
export function directLoopback(env: NodeJS.ProcessEnv): Record<string, string> {
  const lists: Record<string, string | undefined> = {
    no_proxy: env.no_proxy || env.NO_PROXY,
    NO_PROXY: env.NO_PROXY || env.no_proxy,
    // The gRPC client reads it instead.
    no_grpc_proxy: env.no_grpc_proxy || env.no_proxy || env.NO_PROXY,
  };
  const withLoopback = (list = ""): string =>
    [...new Set([...list.split(/[\s,]+/).filter(Boolean), "127.0.0.1", "localhost", "::1"])].join(",");
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, withLoopback(list)]));
}
