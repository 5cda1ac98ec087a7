import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup, start } from "../lib/exec.mjs";
import { interrupted } from "../lib/interrupt.mjs";
import { NODE } from "../lib/paths.mjs";

const START_DEADLINE_MS = 20_000;

/**
 * A compute as the emulator's state shows it; only what is looked at here.
 * @typedef {{ id: string, branch_id: string, autoscaling_limit_min_cu: number, autoscaling_limit_max_cu: number, current_state: string }} Endpoint
 * @typedef {{ id: string, endpoints: Endpoint[], integrations: unknown[] }} Project
 * @typedef {Awaited<ReturnType<typeof startEmulator>>} Emulator
 */

/**
 * Starts the emulator as a process of its own, with the package's command as a user would.
 * @param {string} apiKey given by the environment: command lines are public
 * @param {string} logFile its output; it outlives us with --keep, so it must not write to our pipe
 */
export async function startEmulator(apiKey, logFile) {
  const log = createWriteStream(logFile, { mode: 0o600 });
  await once(log, "open");
  const child = start(NODE, ["dist/cli/main.js", "emulator", "--port", "0"], {
    env: { SVC_EMULATOR_API_KEY: apiKey },
    stdin: "ignore",
    stdout: log,
    stderr: log,
  });
  log.destroy();
  const baseUrl = await listening(child, logFile);
  const control = new URL("/_emulator/", baseUrl);

  /**
   * @param {string} path
   * @param {RequestInit} [init]
   */
  async function request(path, init) {
    const response = await fetch(new URL(path, control), { ...init, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`the emulator answered ${response.status} to ${path}: ${await response.text()}`);
    return response;
  }

  return {
    child,
    baseUrl,
    control,

    /** @param {string} id */
    async project(id) {
      const { projects } = /** @type {{ projects: Project[] }} */ (await (await request("state")).json());
      const project = projects.find((candidate) => candidate.id === id);
      if (!project) throw new Error(`the emulator has no project ${id}`);
      return project;
    },

    /** An out-of-band change, as somebody makes it in the service's console. @param {Record<string, unknown>} change */
    async edit(change) {
      const headers = { "content-type": "application/json" };
      await request("edit", { method: "POST", headers, body: JSON.stringify(change) });
    },
  };
}

/**
 * The address that the emulator says it listens on.
 * @param {import("execa").ResultPromise} child
 * @param {string} logFile
 */
async function listening(child, logFile) {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline && child.exitCode === null && !interrupted.aborted) {
    const baseUrl = /^listening on (\S+)$/m.exec(readFileSync(logFile, "utf8"))?.[1];
    if (baseUrl) return baseUrl;
    await sleep(50);
  }
  await endGroup(child);
  throw new Error(`the emulator did not start:\n${readFileSync(logFile, "utf8").trimEnd()}`);
}
