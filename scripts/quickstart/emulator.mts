import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { ResultPromise } from "execa";
import { endGroup, start } from "../lib/exec.mts";
import { interrupted } from "../lib/interrupt.mts";
import { NODE } from "../lib/paths.mjs";

const START_DEADLINE_MS = 20_000;

/** A project as the emulator's state shows it; only what is looked at here. */
interface Project {
  id: string;
  integrations: unknown[];
  endpoints: {
    id: string;
    branch_id: string;
    autoscaling_limit_min_cu: number;
    autoscaling_limit_max_cu: number;
    current_state: string;
  }[];
}

/** The emulator as a process of its own. */
export class Emulator {
  readonly child: ResultPromise;
  readonly baseUrl: string;
  readonly control: URL;

  private constructor(child: ResultPromise, baseUrl: string) {
    this.child = child;
    this.baseUrl = baseUrl;
    this.control = new URL("/_emulator/", baseUrl);
  }

  /**
   * Starts it with the package's command, as a user would. The key is given by the environment: command lines are
   * public. Its output goes to a file: it outlives us with `--keep`, so it must not write to our pipe.
   */
  static async start(apiKey: string, logFile: string): Promise<Emulator> {
    const log = createWriteStream(logFile, { mode: 0o600 });
    await once(log, "open");
    const output = { stdin: "ignore", stdout: log, stderr: log } as const;
    const args = ["dist/cli/main.js", "emulator", "--port", "0"];
    const child = start(NODE, args, { env: { SVC_EMULATOR_API_KEY: apiKey }, ...output });
    log.destroy();
    const deadline = Date.now() + START_DEADLINE_MS;
    while (Date.now() < deadline && child.exitCode === null && !interrupted.aborted) {
      const baseUrl = /^listening on (\S+)$/m.exec(readFileSync(logFile, "utf8"))?.[1];
      if (baseUrl) return new Emulator(child, baseUrl);
      await sleep(50);
    }
    await endGroup(child);
    throw new Error(`the emulator did not start:\n${readFileSync(logFile, "utf8").trimEnd()}`);
  }

  async project(id: string): Promise<Project> {
    const response = await this.#request("state");
    const { projects } = (await response.json()) as { projects: Project[] }; // what the emulator documents
    const project = projects.find((candidate) => candidate.id === id);
    if (!project) throw new Error(`the emulator has no project ${id}`);
    return project;
  }

  /** An out-of-band change, as somebody makes it in the service's console. */
  async edit(change: Record<string, unknown>): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#request("edit", { method: "POST", headers, body: JSON.stringify(change) });
  }

  async #request(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(new URL(path, this.control), { ...init, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`the emulator answered ${response.status} to ${path}: ${await response.text()}`);
    return response;
  }
}
