import type { ClientOptions } from "../../src/client";
import { Digests } from "../../src/runtime/digests";
import type { LogLine } from "../../src/runtime/progress";
import { dynamicProvider } from "../../src/protocols/dynamic/provider";
import type { DynamicProvider } from "../../src/protocols/dynamic/types";
import type { Lifecycle } from "../../src/runtime/lifecycle";
import type { Properties } from "../../src/contract/hiddenKeys";
import { Session, type SessionOptions } from "../../src/runtime/session";
import type { Emulator, EmulatorOptions } from "../../src/emulator";
import { start, type Json } from "./emulator";
import { unmarked } from "./engineMarks";
import { exchangeJson } from "./inProcess";
import { Service } from "./service";
import { thrownBy } from "./toy";

export { thrownBy };
export type { Json } from "./emulator";

/** The engine's value for an unknown (`@pulumi/pulumi` runtime/rpc). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const PROJECT = "prj-demo";
export const PROVIDER = "supported_provider";
/** Part of each secret of a test: it may appear only in requests and outs. */
export const CANARY = "canary-Zq8";
const KEY = `${CANARY}-key`;

/** A state as the engine stores it. */
export interface State {
  id: string;
  outs: Properties;
}

export interface Seen {
  method: string;
  path: string;
  body: Json;
}

/** The shortest delays that are still effective. */
export const QUICK: Partial<ClientOptions> = {
  baseDelayMs: 5,
  lagMs: 200,
  pollCeilingMs: 50,
  attemptTimeoutMs: 1_000,
  minuteMs: 200,
};

/** One resource with an emulator, called like the engine does: with raw properties. */
export interface Harness {
  /** For a test's own provider. */
  service: { readonly baseUrl: string; readonly apiKey: string };
  /** One provider process, whose calls share state. */
  provider: DynamicProvider;
  session: Session;
  /** All log lines of all processes. */
  log: LogLine[];
  /** All errors of the provider. */
  failures: string[];
  create(inputs: Properties): Promise<State>;
  /** The reasons why check refuses. */
  check(inputs: Properties, olds?: Properties): Promise<string[]>;
  /** The output of a plan that creates it, after `check` (which does not use the service). */
  plan(inputs: Properties, olds?: Properties, name?: string): Promise<{ failures: string[]; warnings: string[] }>;
  diff(state: State, inputs: Properties): ReturnType<DynamicProvider["diff"]>;
  /** Undefined if it is gone. */
  read(state: State): Promise<(State & { inputs: Properties }) | undefined>;
  update(state: State, inputs: Properties): Promise<State>;
  delete(state: State): Promise<void>;
  /** A new provider process without memory. */
  restart(client?: Partial<ClientOptions>): void;
  get(path: string): Promise<Json>;
  post(path: string, body: unknown): Promise<Json>;
  /** Any API call without the provider, as a colleague sends it; a refusal is a response. */
  call(method: string, path: string, body?: unknown): Promise<Json>;
  /** An undeclared change, without the API. */
  edit(edit: Json): Promise<void>;
  fault(fault: Json): Promise<void>;
  clearFaults(): Promise<void>;
  /** The received requests, optionally of one method. */
  requests(method?: string): Promise<Seen[]>;
  /** All changing requests. */
  mutations(): Promise<Seen[]>;
  forgetRequests(): Promise<void>;
  /** The demo project in the emulator's state. */
  state(): Promise<Json>;
}

export const urnOf = (kind: string, name = "thing"): string =>
  `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:${kind}::${name}`;

/** What a failed call leaves in the state, and its message. */
export async function keptBy(work: Promise<unknown>): Promise<{ id: string; message: string; properties: Properties }> {
  const error = await thrownBy(work);
  expect(error).toMatchObject({ id: expect.any(String), properties: expect.any(Object) });
  // Checked just before.
  return error as unknown as { id: string; message: string; properties: Properties };
}

/** An emulator that is closed after the test, and a provider that uses it, optionally `through` a proxy. */
export async function harness<Args extends object, Outputs extends object>(
  lifecycle: Lifecycle<Args, Outputs>,
  options: EmulatorOptions = {},
  { siblingStartsMs = 200, lookAheadMs, ...client }: Partial<ClientOptions> & Omit<SessionOptions, "client"> = {},
  through: (emulator: Emulator) => string | Promise<string> = ({ baseUrl }) => baseUrl,
): Promise<Harness> {
  const emulator = await start({ apiKey: KEY, ...options });
  const baseUrl = await through(emulator);
  const log: LogLine[] = [];
  const failures: string[] = [];
  let provider: DynamicProvider;
  let session: Session;
  let hasCreated = false;
  const restart = (changed: Partial<ClientOptions> = {}): void => {
    hasCreated = false;
    session = new Session((line) => log.push(line), {
      digests: new Digests({ N: 16, r: 1, p: 1 }),
      client: { ...QUICK, ...client, ...changed },
      siblingStartsMs,
      lookAheadMs,
    });
    provider = dynamicProvider(lifecycle, session);
    const settings: Record<string, string> = { "svc:apiKey": KEY, "svc:baseUrl": baseUrl };
    void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
  };
  restart();
  const hiddenInputs = { __urn: urnOf(lifecycle.kind), __provider: "pointer" };
  const noting = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
  const service = new Service(emulator);
  const call = async (method: string, path: string, sent?: unknown): Promise<Json> =>
    (await exchangeJson(emulator.baseUrl + path, method, sent, emulator.apiKey)).body;
  const requests = async (method?: string): Promise<Seen[]> => {
    const all = await service.requests();
    // The bodies of these tests are objects.
    return all.filter((request) => method === undefined || request.method === method) as unknown as Seen[];
  };
  return {
    service: { baseUrl, apiKey: KEY },
    get provider() {
      return provider;
    },
    get session() {
      return session;
    },
    log,
    failures,
    restart,
    create: async (inputs) => {
      hasCreated = true;
      const { id, outs } = await noting(provider.create(unmarked({ ...inputs, ...hiddenInputs })));
      return { id, outs: unmarked(outs ?? {}) };
    },
    check: async (inputs, olds) => {
      const before = olds === undefined ? {} : unmarked({ ...hiddenInputs, ...olds });
      const { failures: found = [] } = await provider.check(before, unmarked({ ...inputs, ...hiddenInputs }));
      for (const { property } of found) expect(property).toBe("");
      failures.push(...found.map(({ reason }) => reason));
      return found.map(({ reason }) => reason);
    },
    plan: async (inputs, olds = {}, name = "thing") => {
      const before = log.length;
      const strict = process.env["SVC_STRICT_PLAN"] !== undefined;
      const given = { ...inputs, ...hiddenInputs, __urn: urnOf(lifecycle.kind, name), __preview: strict ? 1 : true };
      const { failures: found = [], inputs: kept } = await provider.check(olds, unmarked(given));
      for (const { property } of found) expect(property).toBe("");
      expect(kept).not.toHaveProperty("__preview");
      failures.push(...found.map(({ reason }) => reason));
      const warnings = log.slice(before).filter(({ severity }) => severity === "warning");
      return { failures: found.map(({ reason }) => reason), warnings: warnings.map(({ message }) => message) };
    },
    diff: (state, inputs) => noting(provider.diff(state.id, state.outs, unmarked({ ...inputs, ...hiddenInputs }))),
    read: async (state) => {
      const { id = "", props = {}, inputs = {} } = await noting(provider.read(state.id, state.outs));
      return id === "" ? undefined : { id, outs: unmarked(props), inputs: unmarked(inputs) };
    },
    update: async (state, inputs) => {
      const { outs } = await noting(provider.update(state.id, state.outs, unmarked({ ...inputs, ...hiddenInputs })));
      return { id: state.id, outs: unmarked(outs ?? {}) };
    },
    delete: (state) => {
      // As with the engine: no command deletes what it has created itself.
      if (hasCreated) restart();
      return noting(provider.delete(state.id, state.outs));
    },
    get: (path) => call("GET", path),
    post: (path, sent) => call("POST", path, sent),
    call,
    edit: async (edit) => void (await service.edit({ project_id: PROJECT, ...edit })),
    fault: (fault) => service.fault(fault),
    clearFaults: () => service.clearFaults(),
    requests,
    mutations: async () => (await requests()).filter(({ method }) => method !== "GET"),
    forgetRequests: () => service.clearRequests(),
    state: async () => (await service.state()).projects.find(({ id }) => id === PROJECT) ?? {},
  };
}

/** An integration in the demo project, created without the provider. */
export async function withIntegration(given: Harness, auth_provider = PROVIDER): Promise<void> {
  await given.post("/projects/auth/create", { project_id: PROJECT, auth_provider, branch_id: "br-main" });
  await given.forgetRequests();
}

/** A plan after a refresh: the refreshed state compared with the program. */
export async function planAfterRefresh(given: Harness, state: State, inputs: Properties) {
  const found = await given.read(state);
  if (found === undefined) throw new Error("it is gone");
  return { ...(await given.diff(found, inputs)), found };
}

/** The errors of a read for each misbehaviour of the service that proves nothing about the object. */
export const MISBEHAVIOURS: readonly (readonly [string, Json, RegExp])[] = [
  ["401", { status: 401, times: 0 }, /401/],
  ["403", { status: 403, times: 0 }, /403/],
  ["404", { status: 404, times: 0 }, /404/],
  ["500", { status: 500, times: 0 }, /500/],
  ["503", { status: 503, times: 0 }, /503/],
  ["a web page", { status: 200, body: "<html>proxy</html>", contentType: "text/html", times: 0 }, /not|HTML|web page/i],
  ["no answer", { drop: "hang", times: 0 }, /no complete response|not done|deadline/],
];

/** Asserts that no secret of the test is in a log line or an error of the provider. */
export function expectNoSecrets({ log, failures }: Harness, more: readonly string[] = []): void {
  const said = [...log.map(({ message }) => message), ...failures].join("\n");
  for (const secret of [CANARY, ...more]) expect(said).not.toContain(secret);
}

/** Runs a plan that sends the service no request. */
export async function offline<Result>(work: () => Promise<Result>): Promise<Result> {
  process.env["SVC_OFFLINE_PLAN"] = "1";
  return work().finally(() => delete process.env["SVC_OFFLINE_PLAN"]);
}

/** The lasting lines that are not warnings. */
export const notes = ({ log }: Harness): string[] =>
  log.filter(({ severity, ephemeral }) => severity === "info" && !ephemeral).map(({ message }) => message);
