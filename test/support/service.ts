import { startEmulator, type Emulator, type EmulatorOptions } from "../../src/emulator";
import { api, control } from "./emulator";

export interface LoggedRequest {
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly body: unknown;
  readonly status: number;
  /** Only where a fault answered after the request was executed. */
  readonly real_status?: number;
}

/**
 * For a service that goes away during a test: below the range of which systems give out ports, so that no other process
 * is given it meanwhile.
 */
export const ownPort = (): number => 20_000 + (process.pid % 10_000);

/** The emulator that a harness or a stack talks to, and what a test asks it over raw HTTP, past the client under test. */
export class Service {
  constructor(readonly emulator: Emulator) {}

  static async start(options: EmulatorOptions): Promise<Service> {
    return new Service(await startEmulator({ activationMs: 60, ...options }));
  }

  /** What stands at the service, as its own lists tell. */
  async list(path: string): Promise<Record<string, unknown>> {
    return (await api(this.emulator, "GET", path)).body;
  }

  async endpoints(projectId = "prj-demo"): Promise<Record<string, unknown>[]> {
    return (await this.list(`/projects/${projectId}/endpoints`))["endpoints"] as Record<string, unknown>[];
  }

  /** An operator's change behind the program's back. */
  async edit(change: object): Promise<Record<string, unknown>> {
    return (await this.#control("POST", "edit", { project_id: "prj-demo", ...change })) as Record<string, unknown>;
  }

  async fault(fault: object): Promise<void> {
    await this.#control("POST", "faults", fault);
  }

  /** From now on another key is accepted, and the earlier one is refused. */
  async rotateKey(apiKey: string): Promise<void> {
    await this.#control("POST", "key", { api_key: apiKey });
  }

  async clearFaults(): Promise<void> {
    await this.#control("DELETE", "faults");
  }

  async clearRequests(): Promise<void> {
    await this.#control("DELETE", "requests");
  }

  async requests(): Promise<LoggedRequest[]> {
    return ((await this.#control("GET", "requests")) as { requests: LoggedRequest[] }).requests;
  }

  /** The requests that may have changed something, as `METHOD template`. */
  async mutations(): Promise<string[]> {
    const requests = await this.requests();
    return requests.filter(({ method }) => method !== "GET").map(({ method, template }) => `${method} ${template}`);
  }

  /** Everything that the service holds, secrets as hashes. */
  async state(): Promise<{ projects: Record<string, unknown>[] }> {
    return (await this.#control("GET", "state")) as { projects: Record<string, unknown>[] };
  }

  /** All that the emulator shows to who looks at it. */
  async shown(): Promise<string> {
    return JSON.stringify([await this.requests(), await this.state()]);
  }

  async addProject(project: object): Promise<void> {
    await this.#control("POST", "projects", project);
  }

  async #control(method: string, route: string, body?: object): Promise<unknown> {
    const { status, text, body: answer } = await control(this.emulator.url, method, `/${route}`, body);
    if (status >= 300) throw new Error(`${method} of the control route ${route} -> ${status} ${text}`);
    return answer;
  }
}
