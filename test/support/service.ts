import { startEmulator, type Emulator, type EmulatorOptions } from "../../src/emulator";
import { api } from "./emulator";
import { exchangeJson } from "./inProcess";

export interface LoggedRequest {
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly body: unknown;
  readonly status: number;
  /** Set if a fault changed the response of an executed request. */
  readonly real_status?: number;
}

/**
 * For a service that stops during a test: below the range of automatic ports, so that no other process gets the port
 * meanwhile.
 */
export const ownPort = (): number => 20_000 + (process.pid % 10_000);

/**
 * The emulator that a harness or a stack uses, and what a test asks it over raw HTTP, without the client under test.
 */
export class Service {
  constructor(readonly emulator: Emulator) {}

  static async start(options: EmulatorOptions): Promise<Service> {
    return new Service(await startEmulator({ activationMs: 60, ...options }));
  }

  /** The service's objects, from its own lists. */
  async list(path: string): Promise<Record<string, unknown>> {
    return (await api(this.emulator, "GET", path)).body;
  }

  async endpoints(projectId = "prj-demo"): Promise<Record<string, unknown>[]> {
    return (await this.list(`/projects/${projectId}/endpoints`))["endpoints"] as Record<string, unknown>[];
  }

  /** An operator's change outside the program. */
  async edit(change: object): Promise<Record<string, unknown>> {
    return (await this.#control("POST", "edit", { project_id: "prj-demo", ...change })) as Record<string, unknown>;
  }

  async fault(fault: object): Promise<void> {
    await this.#control("POST", "faults", fault);
  }

  /** Rotates the key: the previous one is refused from now on. */
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

  /** The service's whole state, with hashed secrets. */
  async state(): Promise<{ projects: Record<string, unknown>[] }> {
    return (await this.#control("GET", "state")) as { projects: Record<string, unknown>[] };
  }

  /** Everything that the emulator shows on request. */
  async shown(): Promise<string> {
    return JSON.stringify([await this.requests(), await this.state()]);
  }

  async addProject(project: object): Promise<void> {
    await this.#control("POST", "projects", project);
  }

  async #control(method: string, route: string, body?: object): Promise<unknown> {
    const { status, text, body: answer } = await exchangeJson(`${this.emulator.url}/_emulator/${route}`, method, body);
    if (status >= 300) throw new Error(`${method} of the control route ${route} -> ${status} ${text}`);
    return answer;
  }
}
