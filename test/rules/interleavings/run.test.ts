/**
 * The memory of one run (docs/design/rules.md, 1, 2 and 4), with the real host, lifecycles and client, in any order of the calls of
 * an `up`, of requests and responses, and with lost responses:
 *
 * 1. What the run has created, taken over or kept exists at the end, where its resource declares it.
 * 2. An object is in the state of one resource, if no call has failed.
 * 3. What exists and is ours is in the state, unless a call about it has failed.
 * 4. What a colleague has is as it was, unless a resource has adopted it.
 * 5. Every call ends. Without faults and a colleague a call fails only if the object in its way leaves too late: it is
 *    removed by this run, which happens last, or waits in turn for this one.
 */
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../../../src/contract/pointer";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { dynamicProvider } from "../../../src/protocols/dynamic/provider";
import type { DynamicProvider } from "../../../src/protocols/dynamic/types";
import { startEmulator, type Emulator } from "../../../src/emulator";
import { Digests } from "../../../src/runtime/digests";
import { Session } from "../../../src/runtime/session";
import { KIND_CASES } from "../../kinds";
import { unmarked } from "../../support/engineMarks";
import { exchange, exchangeJson } from "../../support/inProcess";
import { inAnyOrder, interleavings, inTurn } from "../../support/interleaving";
import { inMemory, type Script } from "../../support/scriptedServer";

interleavings();

const PROJECT = "prj-demo";
const BRANCHES = ["br-a", "br-b", "br-c"];
const AUTH = { auth_provider: "supported_provider" };
/** Late responses are a matter of other files: time goes on slowly while something else may happen. */
const PACE = { mostMs: 500 };
type Order = typeof inTurn;
const FAULTS = ["lost, carried out", "lost, not carried out", "503, carried out", "429", "401"] as const;
type Fault = (typeof FAULTS)[number] | undefined;

const FAULTS_IN_TURN = fc.oneof(
  fc.constant<Fault[]>([]),
  fc.array(fc.constantFrom(undefined, undefined, ...FAULTS), { minLength: 1, maxLength: 4 }),
);

let emulator: Emulator;
beforeAll(async () => {
  const branches = [{ id: "br-main", default: true, compute: true }, ...BRANCHES.map((id) => ({ id }))];
  emulator = await startEmulator({ activationMs: 60, seed: { projects: [{ id: PROJECT, branches }] } });
});
afterAll(() => emulator.close());

const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
  (await exchangeJson(emulator.baseUrl + path, method, body, emulator.apiKey)).body;

/** The service, whose requests arrive and are answered when the order says so. `faults`: of its changes, in turn. */
function service(order: Order, faults: Fault[]): Script {
  return async ({ method, path, text, headers }) => {
    const line = `${method} ${path}`;
    const fault = method === "GET" ? undefined : faults.shift();
    const isCarriedOut = fault === undefined || fault.endsWith(", carried out");
    const { authorization, "content-type": type } = headers;
    const sent = { authorization: authorization ?? "", ...(type !== undefined && { "content-type": type }) };
    const response = await order.event(`${line} arrives`, async () =>
      isCarriedOut ? exchange(emulator.baseUrl + path, method, sent, text) : undefined,
    );
    await order.event(`${line} is answered: ${fault ?? response?.status ?? ""}`, () => undefined);
    if (fault === "401") return { status: 401 };
    if (fault === "429") return { status: 429, headers: { "retry-after": "1" } };
    if (fault === "503, carried out") return { status: 503 };
    if (fault !== undefined || response === undefined) return { fault: "reset" };
    return { status: response.status, text: response.text, headers: Object.fromEntries(response.headers) };
  };
}

/** One provider process. */
class Process {
  readonly #session = new Session(() => undefined, { digests: new Digests({ N: 16, r: 1, p: 1 }) });
  readonly #providers = new Map<Kind, DynamicProvider>();

  constructor(private readonly baseUrl: string) {}

  of(kind: Kind): DynamicProvider {
    const known = this.#providers.get(kind);
    if (known !== undefined) return known;
    const provider = dynamicProvider(KIND_CASES[kind].lifecycle, this.#session);
    const settings: Record<string, string> = {
      "svc:apiKey": emulator.apiKey,
      "svc:baseUrl": this.baseUrl,
      "svc:allowHttp": "true",
    };
    void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
    this.#providers.set(kind, provider);
    return provider;
  }
}

interface Entry {
  readonly id: string;
  readonly inputs: Properties;
  readonly outs: Properties;
}

type Program = ReadonlyMap<string, Properties>;

const inputsOf = (kind: Kind, name: string, inputs: Properties): Properties =>
  unmarked({
    ...inputs,
    __urn: `urn:pulumi:dev::proj::pulumi-nodejs:dynamic/svc:${kind}::${name}`,
    __provider: "pointer",
  });

/** A stack of resources of one kind, and what the engine does with it: see test/support/rules/program.ts for more of it. */
class Stack {
  readonly state = new Map<string, Entry>();
  /** The resources of calls that have failed, and with what. */
  readonly failed = new Map<string, string>();

  constructor(
    private readonly kind: Kind,
    private readonly order: Order,
    private readonly baseUrl: string,
  ) {}

  /** `isPrompt`: the engine begins all steps at once. */
  async up(program: Program, isPrompt = false): Promise<void> {
    const { kind, order } = this;
    const provider = new Process(this.baseUrl).of(kind);
    const steps: (() => Promise<void>)[] = [];
    for (const [name, given] of program) {
      const inputs = inputsOf(kind, name, given);
      const old = this.state.get(name);
      const { failures = [] } = await provider.check(old?.outs ?? {}, inputs);
      expect(failures).toEqual([]);
      const differs = !isDeepStrictEqual(old?.inputs, inputs);
      const { changes = differs, replaces = [] } =
        old === undefined ? { changes: true } : await provider.diff(old.id, old.outs, inputs);
      const create = async (): Promise<void> => {
        const { id, outs } = await provider.create(inputs);
        this.state.set(name, { id, inputs, outs: unmarked(outs ?? {}) });
      };
      const step = async (): Promise<void> => {
        if (old === undefined) return create();
        if (replaces.length > 0) {
          await provider.delete(old.id, old.outs);
          this.state.delete(name);
          return create();
        }
        const { outs } = await provider.update(old.id, old.outs, inputs);
        this.state.set(name, { id: old.id, inputs, outs: unmarked(outs ?? {}) });
      };
      const noted = (): Promise<void> => this.#noting(name, step);
      if (changes) steps.push(isPrompt ? noted : () => order.begin(name, noted));
    }
    await order.everySettled(steps.map((begin) => begin()));
    // The engine deletes nothing after a failure.
    if (this.failed.size > 0) return;
    const removed = [...this.state].filter(([name]) => !program.has(name));
    await order.everySettled(
      removed.map(([name, { id, outs }]) =>
        order.begin(`deletion of ${name}`, () =>
          this.#noting(name, async () => {
            await provider.delete(id, outs);
            this.state.delete(name);
          }),
        ),
      ),
    );
  }

  async #noting(name: string, step: () => Promise<void>): Promise<void> {
    await step().catch((error: unknown) =>
      this.failed.set(name, error instanceof Error ? error.message : String(error)),
    );
  }
}

const ORIGINS = ["https://a.test", "https://b.test"];
const domain = fc.record({ domain: fc.constantFrom(...ORIGINS), adopt: fc.constantFrom(true, true, false) });
/** Up to two resources, each with an origin of its own. */
const domains = fc
  .record({ r: fc.option(domain, { freq: 9 }), s: fc.option(domain, { freq: 9 }) })
  .map(({ r, s }) => [
    ...(r === null ? [] : [{ name: "r", ...r }]),
    ...(s === null || s.domain === r?.domain ? [] : [{ name: "s", ...s }]),
  ]);

test("redirect domains: what an `up` declares exists when it has ended, whatever it replaces and removes", async () => {
  const inputs = fc.record({
    before: domains,
    after: domains,
    theirs: fc.constantFrom([], [], ...ORIGINS.map((origin) => [origin])),
    faults: FAULTS_IN_TURN,
    isPrompt: fc.boolean(),
  });
  await inAnyOrder(
    80,
    inputs,
    async ({ before, after, theirs, faults, isPrompt }, order) => {
      emulator.reset();
      await call("POST", "/projects/auth/create", { ...AUTH, project_id: PROJECT, branch_id: "br-main" });
      const { server } = inMemory(service(order, [...faults]));
      const listed = async (): Promise<string[]> =>
        ((await call("GET", `/projects/${PROJECT}/auth/domains`))["domains"] as { domain: string }[]).map(
          (one) => one.domain,
        );
      const programOf = (all: typeof before): Program =>
        new Map(all.map(({ name, domain, adopt }) => [name, { projectId: PROJECT, domain, adopt }]));
      const stack = new Stack("WhitelistDomain", order, server.baseUrl);
      const calm = new Stack("WhitelistDomain", inTurn, inMemory(service(inTurn, [])).server.baseUrl);
      await calm.up(programOf(before.map((one) => ({ ...one, adopt: false }))));
      expect([...calm.failed]).toEqual([]);
      for (const [name, entry] of calm.state) stack.state.set(name, entry);
      const others = theirs.filter((domain) => !before.some((one) => one.domain === domain));
      for (const domain of others) await call("POST", `/projects/${PROJECT}/auth/domains`, { ...AUTH, domain });
      await stack.up(programOf(after), isPrompt);
      const atEnd = await listed();
      const inState = [...stack.state.values()].map(({ outs }) => String(outs["domain"]));
      const what = { atEnd, inState, failed: [...stack.failed] };
      // A failed deletion leaves in the state what may be deleted.
      const kept = [...stack.state]
        .filter(([name]) => !stack.failed.has(name))
        .map(([, { outs }]) => String(outs["domain"]));
      const missing = kept.filter((domain) => !atEnd.includes(domain));
      const lost = others.filter((domain) => !atEnd.includes(domain));
      const tried = new Set(after.filter(({ name }) => stack.failed.has(name)).map(({ domain }) => domain));
      const orphans = atEnd.filter((domain) => ![...inState, ...others, ...tried].includes(domain));
      expect({ ...what, missing, lost, orphans }).toEqual({ ...what, missing: [], lost: [], orphans: [] });
      if (isPrompt && faults.length === 0 && others.length === 0) {
        const isLate = (origin: string): boolean =>
          before.some((old) => old.domain === origin && !after.some(({ name }) => name === old.name));
        const expected = after.filter((one) => !one.adopt && isLate(one.domain)).map(({ name }) => name);
        const isSame = ({ name, domain: origin }: { name: string; domain: string }): boolean =>
          before.some((old) => old.name === name && old.domain === origin);
        expect(what.failed.map(([name]) => name).sort()).toEqual(
          expected.filter((name) => !after.some((one) => one.name === name && isSame(one))).sort(),
        );
      }
      // The deletion of a renamed resource comes last, and not after a failure.
      if (stack.failed.size === 0) expect(new Set(inState).size).toBe(inState.length);
    },
    PACE,
  );
});

interface Compute {
  readonly id: string;
  readonly branch_id: string;
}

/** Two or three resources, each with a branch of its own. */
const computes = fc
  .tuple(
    fc.shuffledSubarray(["r", "s", "t"], { minLength: 2 }),
    fc.shuffledSubarray(BRANCHES, { minLength: 3 }),
    fc.boolean(),
  )
  .map(([names, branches, adopt]) => names.map((name, index) => ({ name, branchId: branches[index] ?? "", adopt })));

test("computes: what an `up` declares exists when it has ended, whatever it moves and removes", async () => {
  const inputs = fc.record({
    before: computes,
    after: computes,
    theirs: fc.constantFrom(undefined, undefined, undefined, ...BRANCHES),
    faults: FAULTS_IN_TURN,
    isPrompt: fc.boolean(),
  });
  await inAnyOrder(
    80,
    inputs,
    async ({ before, after, theirs, faults, isPrompt }, order) => {
      emulator.reset();
      const listed = async (): Promise<Compute[]> =>
        ((await call("GET", `/projects/${PROJECT}/endpoints`))["endpoints"] as Compute[]).filter(
          ({ branch_id }) => branch_id !== "br-main",
        );
      const isRemoved = (branchId: string): boolean =>
        before.some((old) => old.branchId === branchId && !after.some(({ name }) => name === old.name));
      // One that moves away may be adopted on its old branch (docs/design/decisions.md, Known weaknesses).
      const mayAdopt = (branchId: string): boolean => branchId === theirs || isRemoved(branchId);
      const programOf = (all: typeof before): Program =>
        new Map(
          all.map(({ name, branchId, adopt }) => [
            name,
            { projectId: PROJECT, branchId, ...(adopt && mayAdopt(branchId) && { adopt }) },
          ]),
        );
      const calm = new Stack("ComputeEndpoint", inTurn, inMemory(service(inTurn, [])).server.baseUrl);
      await calm.up(programOf(before.filter(({ branchId }) => branchId !== theirs)));
      expect([...calm.failed]).toEqual([]);
      const stack = new Stack("ComputeEndpoint", order, inMemory(service(order, [...faults])).server.baseUrl);
      for (const [name, entry] of calm.state) stack.state.set(name, entry);
      const endpoint = { branch_id: theirs, type: "read_write" };
      if (theirs !== undefined) await call("POST", `/projects/${PROJECT}/endpoints`, { endpoint });
      const ours = new Set((await listed()).filter(({ branch_id }) => branch_id !== theirs).map(({ id }) => id));
      const foreign = (await listed()).find(({ id }) => !ours.has(id));
      const program = programOf(after);
      await stack.up(program, isPrompt);
      const atEnd = (await listed()).map(({ id, branch_id }) => `${id} on ${branch_id}`);
      const ids = [...stack.state.values()].map(({ id }) => id.split("/")[1] ?? "");
      const wanted = [...stack.state]
        .filter(([name]) => !stack.failed.has(name))
        .map(
          ([name, { id, outs }]) =>
            `${id.split("/")[1]} on ${String(program.get(name)?.["branchId"] ?? outs["branchId"])}`,
        );
      const what = { atEnd, ids, failed: [...stack.failed] };
      const missing = wanted.filter((one) => !atEnd.includes(one));
      const isTheirs = foreign !== undefined && !ids.includes(foreign.id);
      const lost = isTheirs && !atEnd.includes(`${foreign.id} on ${foreign.branch_id}`) ? [foreign.id] : [];
      const orphans = atEnd.filter(
        (one) => stack.failed.size === 0 && !wanted.includes(one) && !one.startsWith(foreign?.id ?? "none"),
      );
      if (isPrompt && faults.length === 0 && theirs === undefined) {
        const isBlocked = (name: string, passed: readonly string[] = []): boolean => {
          if (passed.includes(name)) return true;
          const goal = program.get(name)?.["branchId"];
          const occupant = before.find(({ branchId }) => branchId === goal)?.name;
          if (occupant === undefined || occupant === name) return false;
          const isAdopted = program.get(name)?.["adopt"] === true && !before.some((old) => old.name === name);
          return program.has(occupant) ? isBlocked(occupant, [...passed, name]) : !isAdopted;
        };
        expect([...stack.failed.keys()].sort()).toEqual([...program.keys()].filter((name) => isBlocked(name)).sort());
      }
      // As above.
      const doubled = ids.filter((id, index) => stack.failed.size === 0 && ids.indexOf(id) !== index);
      expect({ ...what, missing, lost, orphans, doubled }).toEqual({
        ...what,
        missing: [],
        lost: [],
        orphans: [],
        doubled: [],
      });
    },
    PACE,
  );
});
