import { spawn } from "node:child_process";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import { onInterrupt } from "./interrupt.mjs";

/**
 * @typedef {object} RunOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [input] Fed to standard input, for what must not stand on a command line.
 * @property {boolean} [inherit] The command writes straight to our own output; nothing is kept.
 * @property {(line: string) => void} [onLine] Called with each line of either output as it comes.
 * @property {number} [timeoutMs]
 */

/**
 * @typedef {object} RunResult
 * @property {number} code The exit code; 127 when the command could not be started, 128 + n after a signal.
 * @property {string} stdout
 * @property {string} stderr
 * @property {string} output Both, in the order in which the lines came.
 */

/**
 * Ends a command and whatever it started: TERM for the process group, KILL after the grace.
 * @param {import("node:child_process").ChildProcess} child one started by `start`
 * @param {number} graceMs
 */
export async function endGroup(child, graceMs = 5_000) {
  const { pid } = child;
  if (pid === undefined) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const running = child.exitCode === null && child.signalCode === null;
  signalGroup(pid, "SIGTERM");
  if (running) {
    const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), graceMs);
    await gone;
    clearTimeout(timer);
  }
  signalGroup(pid, "SIGKILL");
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone, which is what was wanted.
  }
}

/**
 * Starts a command as the leader of its own process group: Ctrl-C then reaches us alone, and we end the group.
 * @param {string} command
 * @param {string[]} args
 * @param {import("node:child_process").SpawnOptions} options
 */
export function start(command, args, options) {
  const child = spawn(command, args, { detached: true, ...options });
  const forget = onInterrupt(() => endGroup(child));
  child.once("exit", forget);
  child.once("error", forget);
  return child;
}

/**
 * Runs a command to its end. Never throws: what went wrong is in the result.
 * @param {string} command
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<RunResult>}
 */
export function run(command, args, { cwd, env, input, inherit = false, onLine, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const out = inherit ? "inherit" : "pipe";
    const child = start(command, args, { cwd, env, stdio: [input === undefined ? "ignore" : "pipe", out, out] });
    const kept = { stdout: "", stderr: "", output: "" };
    for (const name of /** @type {const} */ (["stdout", "stderr"])) {
      const stream = child[name];
      if (!stream) continue;
      createInterface({ input: stream, crlfDelay: Infinity }).on("line", (line) => {
        kept[name] += `${line}\n`;
        kept.output += `${line}\n`;
        onLine?.(line);
      });
    }
    // A command that ends without reading its input closes the pipe; the exit code tells the story.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => void endGroup(child, 1_000), timeoutMs);
    const done = (/** @type {number} */ code) => {
      clearTimeout(timer);
      resolve({ code, ...kept });
    };
    child.once("error", (error) => {
      kept.stderr += `${error.message}\n`;
      kept.output += `${error.message}\n`;
      done(127);
    });
    child.once("close", (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
