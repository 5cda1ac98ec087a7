import { execa } from "execa";
import { interrupted } from "./interrupt.mjs";
import { ROOT } from "./paths.mjs";

/** @typedef {{ code: number, stdout: string, output: string }} Result `output` is both outputs, as the lines came. */

/**
 * Ends a command and what it started: TERM for the process group, KILL after 5 seconds.
 * @param {import("execa").ResultPromise} child one that `start` started
 */
export async function endGroup(child) {
  signalGroup(child, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), 5_000);
  await child.catch(() => undefined);
  clearTimeout(timer);
  signalGroup(child, "SIGKILL");
}

/**
 * @param {import("execa").ResultPromise} child
 * @param {NodeJS.Signals} signal
 */
function signalGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/**
 * Starts a command in the clone as the leader of a process group: Ctrl-C then reaches us alone, and we end the group.
 * @param {string} command
 * @param {string[]} args
 * @param {import("execa").Options} options
 */
export function start(command, args, options) {
  const child = execa(command, args, { cwd: ROOT, reject: false, detached: true, cleanup: false, ...options });
  const end = () => void endGroup(child);
  interrupted.addEventListener("abort", end);
  void child.finally(() => interrupted.removeEventListener("abort", end));
  return child;
}

/**
 * Runs a command to its end. Throws only when we are interrupted; whatever else went wrong is in the result.
 * @param {string} command
 * @param {string[]} args
 * @param {import("execa").Options & { inherit?: boolean, onLine?: (line: string) => void, timeoutMs?: number }} [options]
 * @returns {Promise<Result>}
 */
export async function run(command, args, { inherit = false, onLine, timeoutMs, ...options } = {}) {
  /** @param {unknown} line */
  const tell = function* (line) {
    onLine?.(String(line));
    yield line;
  };
  const out = inherit ? "inherit" : onLine ? tell : "pipe";
  const child = start(command, args, { input: "", stdout: out, stderr: out, all: true, maxBuffer: 1e9, ...options });
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => void endGroup(child), timeoutMs);
  const { exitCode, stdout, all, failed, shortMessage } = await child;
  clearTimeout(timer);
  interrupted.throwIfAborted();
  // Without an exit code it did not start, or a signal ended it.
  const output = failed && exitCode === undefined ? `${all ?? ""}\n${shortMessage}` : all;
  return { code: exitCode ?? 127, stdout: String(stdout ?? ""), output: String(output ?? "") };
}
