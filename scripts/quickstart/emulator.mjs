import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endGroup, start } from "../lib/exec.mjs";

const START_DEADLINE_MS = 20_000;

/**
 * A compute as the emulator's state shows it; only what is looked at here.
 * @typedef {{ id: string, branch_id: string, autoscaling_limit_min_cu: number, autoscaling_limit_max_cu: number, current_state: string }} Endpoint
 * @typedef {{ id: string, endpoints: Endpoint[], integrations: unknown[] }} Project
 */

/** The emulator as its own process, started with the package's command as a user would. */
export class Emulator {
  /**
   * @param {import("node:child_process").ChildProcess} child
   * @param {string} baseUrl
   */
  constructor(child, baseUrl) {
    this.child = child;
    this.baseUrl = baseUrl;
    this.control = new URL("/_emulator/", baseUrl);
  }

  /**
   * @param {import("../setup/setup.mjs").Toolchain} toolchain
   * @param {string} apiKey given by the environment: command lines are public
   * @param {string} logFile its output; it outlives us with --keep, so it must not write to our pipe
   */
  static async start({ root, node, env }, apiKey, logFile) {
    const log = openSync(logFile, "w", 0o600);
    const args = [join(root, "dist", "cli", "main.js"), "emulator", "--port", "0"];
    const child = start(node, args, { env: { ...env, SVC_EMULATOR_API_KEY: apiKey }, stdio: ["ignore", log, log] });
    closeSync(log);
    const deadline = Date.now() + START_DEADLINE_MS;
    while (Date.now() < deadline && child.exitCode === null) {
      const baseUrl = /^listening on (\S+)$/m.exec(readFileSync(logFile, "utf8"))?.[1];
      if (baseUrl) return new Emulator(child, baseUrl);
      await sleep(50);
    }
    await endGroup(child);
    throw new Error(`the emulator did not start:\n${readFileSync(logFile, "utf8").trimEnd()}`);
  }

  /**
   * @param {string} id
   * @returns {Promise<Project>}
   */
  async project(id) {
    const answer = await this.#ask("state");
    const { projects } = /** @type {{ projects: Project[] }} */ (await answer.json());
    const project = projects.find((candidate) => candidate.id === id);
    if (!project) throw new Error(`the emulator has no project ${id}`);
    return project;
  }

  /**
   * An out-of-band change, as somebody makes it in the service's console.
   * @param {Record<string, unknown>} change
   */
  async edit(change) {
    await this.#ask("edit", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(change),
    });
  }

  async stop() {
    await endGroup(this.child);
  }

  /**
   * @param {string} path
   * @param {RequestInit} [init]
   */
  async #ask(path, init) {
    const answer = await fetch(new URL(path, this.control), { ...init, signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(`the emulator answered ${answer.status} to ${path}: ${await answer.text()}`);
    return answer;
  }
}
