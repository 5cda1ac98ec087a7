import { records, start, until, type Json } from "../emulator";
import { exchangeJson } from "../inProcess";
import type { Emulator, EmulatorOptions } from "../../../src/emulator";
import type { Place } from "../../kinds/KindCase";
import { changesIn, Stack, type Program } from "./program";

export type { Json } from "../emulator";

export const AUTH_PROVIDER = "supported_provider";

/** A service as seen by a colleague: through raw HTTP and its control routes. */
export interface World {
  readonly baseUrl: string;
  readonly url: string;
  readonly apiKey: string;
  /** A separate project for each run, with branches `br-<id>-1` to `-4` and an optional integration. */
  project(id: string, more?: { integration?: boolean; compute?: boolean }): Promise<void>;
  /** A stack without resources; `baseUrl`: of a proxy. */
  stack(client?: ConstructorParameters<typeof Stack>[1], baseUrl?: string): Stack;
  call(method: string, path: string, body?: unknown): Promise<Json>;
  /** The same for requests that may be refused. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }>;
  edit(projectId: string, edit: Json): Promise<Json>;
  domains(projectId: string): Promise<string[]>;
  computes(projectId: string): Promise<Json[]>;
  /** The project in the service's state, whatever its lists show. */
  holdings(projectId: string): Promise<Json>;
  /** All of them, each with its holdings. */
  projects(): Promise<Json[]>;
  /** The received requests, as `METHOD path`. */
  requests(): Promise<string[]>;
  /** Those that may have changed something. */
  mutations(): Promise<string[]>;
  forgetRequests(): Promise<void>;
  /** Restores the demo project alone. */
  reset(): Promise<void>;
}

export const branch = (projectId: string, n: number): string => `br-${projectId}-${n}`;

/** The place for a kind's case in such a project. */
export const placeIn = (projectId: string): Place => ({
  projectId,
  main: branch(projectId, 1),
  free: branch(projectId, 2),
  other: branch(projectId, 3),
});

export async function world(options: EmulatorOptions = {}): Promise<World> {
  return worldOf(await start({ activationMs: 2, anyOAuthProvider: true, ...options }));
}

/** A running emulator of this process. */
export function worldOf({ baseUrl, url, apiKey }: Pick<Emulator, "baseUrl" | "url" | "apiKey">): World {
  const send = (address: string, method: string, body?: unknown) => exchangeJson(address, method, body, apiKey);
  const control = (method: string, path: string, body?: unknown) => send(`${url}/_emulator${path}`, method, body);
  const good = async (answer: ReturnType<typeof send>): Promise<Json> => {
    const { status, text, body } = await answer;
    if (status >= 300) throw new Error(`the service of the test refused: ${status} ${text}`);
    return body;
  };
  const projects = async (): Promise<Json[]> => records((await control("GET", "/state")).body, "projects");
  const holdings = async (projectId: string): Promise<Json> => {
    const found = (await projects()).find(({ id }) => id === projectId);
    if (found === undefined) throw new Error(`no project ${projectId}`);
    return found;
  };
  const requests = async (): Promise<string[]> => {
    const { body } = await control("GET", "/requests");
    return records(body, "requests").map(({ method, path }) => `${String(method)} ${String(path)}`);
  };
  const ask = (method: string, path: string, body?: unknown) => send(baseUrl + path, method, body);
  const call = (method: string, path: string, body?: unknown) => good(ask(method, path, body));
  return {
    baseUrl,
    url,
    apiKey,
    call,
    ask,
    holdings,
    projects,
    project: async (id, { integration = false, compute = false } = {}) => {
      const branches = [1, 2, 3, 4].map((n) => ({ id: branch(id, n), compute: compute && n === 1 }));
      await good(control("POST", "/projects", { id, branches }));
      if (!integration) return;
      const sent = { project_id: id, auth_provider: AUTH_PROVIDER, branch_id: branch(id, 1) };
      await call("POST", "/projects/auth/create", sent);
    },
    stack: (client = {}, through = baseUrl) => new Stack({ baseUrl: through, apiKey }, client),
    edit: (projectId, edit) => good(control("POST", "/edit", { project_id: projectId, ...edit })),
    domains: async (projectId) =>
      records(await holdings(projectId), "domains")
        .map(({ domain }) => String(domain))
        .sort(),
    computes: async (projectId) => records(await holdings(projectId), "endpoints"),
    requests,
    mutations: async () => (await requests()).filter((line) => !line.startsWith("GET ")),
    forgetRequests: async () => void (await control("DELETE", "/requests")),
    reset: async () => void (await control("POST", "/reset")),
  };
}

/** Waits until no compute of the project has a running operation. */
export const atRest = (given: World, projectId: string): Promise<Json[]> =>
  until(
    () => given.computes(projectId),
    (all) => all.every(({ pending_state }) => pending_state === undefined),
  );

/** Runs all seeds at once, each in its own project. The first failure names its seed. */
export async function eachSeed(seeds: number, run: (seed: number) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: seeds }, (_, seed) => run(seed)));
  const failed = ends.flatMap((end, seed) =>
    end.status === "rejected" ? [{ seed, reason: end.reason as unknown }] : [],
  );
  const [first] = failed;
  if (first === undefined) return;
  const which = `seeds that failed: ${failed.map(({ seed }) => seed).join(", ")} of ${seeds}; of seed ${first.seed}:`;
  throw new Error(`${which} ${first.reason instanceof Error ? first.reason.message : String(first.reason)}`);
}

/** Asserts an empty plan after a refresh: the state matches both the service and the program. */
export async function expectClean(stack: Stack, program: Program): Promise<void> {
  expect((await stack.refresh()).errors).toEqual([]);
  expect(stack.state.map(({ name }) => name).sort()).toEqual(program.map(({ name }) => name).sort());
  const plan = await stack.preview(program);
  expect(plan.errors).toEqual([]);
  expect(changesIn(plan)).toEqual([]);
}

/** Asserts that a command succeeded. */
export function expectDone({ errors }: { errors: readonly string[] }): void {
  expect(errors).toEqual([]);
}
