import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { NODE, ROOT } from "../lib/paths.mjs";
import { interrupted } from "../lib/processes.mts";

/** A project as the emulator's state shows it; only what is looked at here. */
interface Project {
  id: string;
  integrations: unknown[];
  endpoints: (Record<"id" | "branch_id" | "current_state", string> &
    Record<"autoscaling_limit_min_cu" | "autoscaling_limit_max_cu", number>)[];
}

/** The emulator as a process of its own. */
export class Emulator {
  readonly child: ChildProcess;
  readonly #logFile: string;
  /** Where it listens. */
  baseUrl = "";

  /**
   * Starts it with the package's command, as a user would. The key is given by the environment: command lines are
   * public. With `outlivesUs` Ctrl-C does not reach it; its output goes to a file, so that it needs no pipe of ours.
   */
  constructor(apiKey: string, logFile: string, outlivesUs: boolean) {
    this.#logFile = logFile;
    const log = openSync(logFile, "w", 0o600);
    this.child = spawn(NODE, ["dist/cli/main.js", "emulator", "--port", "0"], {
      cwd: ROOT,
      env: { ...process.env, SVC_EMULATOR_API_KEY: apiKey },
      stdio: ["ignore", log, log],
      detached: outlivesUs,
    });
    closeSync(log);
  }

  async listens(): Promise<void> {
    for (const deadline = Date.now() + 20_000; ; await sleep(50, undefined, { signal: interrupted })) {
      const said = readFileSync(this.#logFile, "utf8");
      this.baseUrl = /^listening on (\S+)$/m.exec(said)?.[1] ?? "";
      if (this.baseUrl !== "") return;
      const ended = Date.now() > deadline || this.child.exitCode !== null;
      if (ended) throw new Error(`the emulator did not start:\n${said.trimEnd()}`);
    }
  }

  async stop(): Promise<void> {
    if (this.child.kill()) await once(this.child, "exit");
  }

  controlUrl(path: "state" | "edit"): string {
    return new URL(`/_emulator/${path}`, this.baseUrl).href;
  }

  async project(id: string): Promise<Project> {
    const { projects } = (await this.#request("state")) as { projects: Project[] }; // what the emulator documents
    const project = projects.find((candidate) => candidate.id === id);
    if (!project) throw new Error(`the emulator has no project ${id}`);
    return project;
  }

  /** An out-of-band change, as somebody makes it in the service's console. */
  async edit(change: Record<string, unknown>): Promise<void> {
    const headers = { "content-type": "application/json" };
    await this.#request("edit", { method: "POST", headers, body: JSON.stringify(change) });
  }

  async #request(path: "state" | "edit", init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(this.controlUrl(path), { ...init, signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`the emulator answered ${response.status} to ${path}: ${await response.text()}`);
    return await response.json();
  }
}
