import { isDeepStrictEqual } from "node:util";
import type { ClientOptions } from "../../../src/client";
import type { LogLine } from "../../../src/host/progress";
import { dynamicProvider } from "../../../src/doors/dynamic/provider";
import type { DynamicProvider } from "../../../src/doors/dynamic/types";
import type { Kind } from "../../../src/contract/pointer";
import type { Properties } from "../../../src/contract/hiddenKeys";
import { Session, type SessionOptions } from "../../../src/host/session";
import { KIND_CASES } from "../../kinds";
import { unmarked } from "../engineMarks";

export type { Kind };

/** The engine's value for an unknown. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** One `new svc.Kind(name, inputs, options)`. */
export interface Declared {
  readonly kind: Kind;
  readonly name: string;
  /** Plain values, and `output(...)` of earlier resources. */
  readonly inputs: Properties;
  /** Its former names. */
  readonly aliases?: readonly string[];
}

export type Program = readonly Declared[];

/** An output of another resource as an input. */
export class Output {
  constructor(
    readonly name: string,
    readonly property: string,
  ) {}
}
export const output = (name: string, property: string): Output => new Output(name, property);

/** A resource in the state, as the engine stores it. */
export interface Entry {
  readonly urn: string;
  readonly kind: Kind;
  readonly name: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outs: Properties;
  /** The last create or update ended with a partial error. */
  readonly unfinished: boolean;
  /** The inputs that are outputs of other resources: input names by URN. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
}

/** The result of a CLI command. */
export interface Outcome {
  /** The failures as the CLI would print them. */
  readonly errors: readonly string[];
  /** All lines, including ephemeral ones. */
  readonly log: readonly LogLine[];
  /** The planned or executed steps, such as `create a`, in order of their start. */
  readonly steps: readonly string[];
}

/** How the engine proceeds: everything that depends on the seed. */
export interface Course {
  readonly seed: number;
  /** Concurrent steps. By default the seed decides: usually many, sometimes one. */
  readonly parallel?: number;
  /**
   * Plan first, in the same process (`both`), in a separate one (`apart`), or not at all. By default the seed decides.
   */
  readonly preview?: "both" | "apart" | "none";
  /** `--refresh`: reads everything first, in the same process; then calls this, and continues. */
  readonly refreshFirst?: () => Promise<void>;
  /** The program knows that it runs for a preview, like a real one, so its plan asks the service. @default false */
  readonly looks?: boolean;
  /** The longest pause before a step. */
  readonly jitterMs?: number;
}

interface Account {
  readonly baseUrl: string;
  /** Undefined: not configured. */
  readonly apiKey: string | undefined;
}

type Delays = Partial<ClientOptions> & Pick<SessionOptions, "siblingStartsMs">;

/** Short, but longer than the lag of lists in the tests. */
const QUICK: Partial<ClientOptions> = { baseDelayMs: 2, lagMs: 30, pollCeilingMs: 5, attemptTimeoutMs: 10_000 };
const TOKEN = "pulumi-nodejs:dynamic/svc:";

const urnOf = (kind: Kind, name: string): string => `urn:pulumi:dev::proj::${TOKEN}${kind}::${name}`;
const pause = (ms: number): Promise<void> => new Promise((resolve) => (ms > 0 ? setTimeout(resolve, ms) : resolve()));
const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** A number from 0 to 1 that depends on the seed and the purpose, but not on the time. */
function chance(seed: number, purpose: string): number {
  let hash = 2166136261 ^ seed;
  for (const char of purpose) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Limits concurrency, in order of arrival. */
class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  constructor(free: number) {
    this.#free = free;
  }
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

/** One provider process: one session for all kinds. */
class Process {
  readonly log: LogLine[] = [];
  readonly #providers = new Map<Kind, DynamicProvider>();
  readonly #session: Session;
  readonly #account: Account;

  constructor(account: Account, { siblingStartsMs, ...client }: Delays) {
    this.#account = account;
    this.#session = new Session((line) => this.log.push(line), {
      client: { ...QUICK, ...client },
      ...(siblingStartsMs !== undefined && { siblingStartsMs }),
    });
  }

  of(kind: Kind): DynamicProvider {
    const known = this.#providers.get(kind);
    if (known !== undefined) return known;
    const provider = dynamicProvider(KIND_CASES[kind].lifecycle, this.#session);
    const settings: Record<string, string | undefined> = {
      "svc:apiKey": this.#account.apiKey,
      "svc:baseUrl": this.#account.baseUrl,
    };
    void provider.configure({ config: { get: (key: string) => settings[key], require: () => "" } });
    this.#providers.set(kind, provider);
    return provider;
  }
}

type Plan = "create" | "update" | "same" | "replace";

/** One run of a program: a preview or an update. */
class Run {
  readonly errors: string[] = [];
  readonly steps: string[] = [];
  /** The final state. */
  readonly state: Map<string, Entry>;
  readonly #old: ReadonlyMap<string, Entry>;
  /** Deleted before a replacement that they depend on: to be created again. */
  readonly #takenAlong = new Set<string>();
  readonly #generator = new Slots(1);
  readonly #slots: Slots;

  constructor(
    readonly process: Process,
    entries: readonly Entry[],
    readonly course: Course,
    readonly dry: boolean,
    readonly label: string,
  ) {
    this.#old = new Map(entries.map((entry) => [entry.urn, entry]));
    this.state = new Map(this.#old);
    const serial = chance(course.seed, "serial") < 0.12;
    this.#slots = new Slots(course.parallel ?? (serial ? 1 : 16));
  }

  /** Registers every resource in order; then deletes those that the program no longer has. */
  async program(program: Program): Promise<void> {
    const ready = new Map<string, Promise<Properties | undefined>>();
    const taken = new Set<string>();
    for (const declared of program) {
      await this.#jitter(`register ${declared.name}`, 0.3);
      const sameKind = program.filter(({ kind }) => kind === declared.kind).length;
      const registered = this.#register(declared, ready, taken, sameKind);
      // A resource whose dependency failed is never registered.
      ready.set(
        declared.name,
        registered.catch((error: unknown) => this.#fail(error)),
      );
    }
    await Promise.all(ready.values());
    if (this.errors.length > 0) return;
    const wanted = new Set([...program.map(({ kind, name }) => urnOf(kind, name)), ...taken]);
    await this.deleteAll([...this.#old.values()].filter(({ urn }) => !wanted.has(urn) && this.state.has(urn)));
  }

  /** Dependants first, otherwise concurrently. */
  async deleteAll(entries: readonly Entry[]): Promise<void> {
    let left = [...entries];
    while (left.length > 0 && this.errors.length === 0) {
      const free = left.filter(({ urn }) => !left.some(({ dependencies }) => urn in dependencies));
      const now = free.length > 0 ? free : left;
      await Promise.all(
        now.map((entry) => this.#step(`delete ${entry.name}`, () => this.#delete(entry)).catch(() => undefined)),
      );
      left = left.filter((entry) => !now.includes(entry));
    }
  }

  async refresh(): Promise<void> {
    await Promise.all(
      [...this.#old.values()].map((entry) =>
        this.#step(`read ${entry.name}`, async () => {
          const provider = this.process.of(entry.kind);
          const { id = "", props = {}, inputs } = await provider.read(entry.id, unmarked(entry.outs));
          if (id === "") return void this.state.delete(entry.urn);
          const read = {
            ...entry,
            id,
            outs: unmarked(props),
            inputs: unmarked(inputs ?? entry.inputs),
            unfinished: false,
          };
          // Its result is the drift that a refresh reports; the inputs are from the state, without a check.
          await provider.diff(id, read.outs, unmarked(entry.inputs));
          this.state.set(entry.urn, read);
        }).catch(() => undefined),
      ),
    );
  }

  #fail(error: unknown): undefined {
    const message = messageOf(error);
    if (message !== CANCELLED) this.errors.push(message);
    return undefined;
  }

  async #jitter(purpose: string, share = 1): Promise<void> {
    const roll = chance(this.course.seed, `${this.label} ${purpose}`);
    // Half of them immediately, some much later than others.
    await pause(Math.round((roll < 0.5 ? 0 : (roll - 0.5) * 2) ** 2 * (this.course.jitterMs ?? 60) * share));
  }

  /** A step of the engine: none begins after a failure, but running ones are awaited. */
  async #step<T>(what: string, work: () => Promise<T>): Promise<T> {
    await this.#jitter(what);
    return this.#slots.run(async () => {
      if (this.errors.length > 0) throw new Error(CANCELLED);
      this.steps.push(what);
      try {
        return await work();
      } catch (error) {
        this.#fail(error);
        throw new Error(CANCELLED, { cause: error });
      }
    });
  }

  async #delete(entry: Entry): Promise<void> {
    if (!this.dry) await this.process.of(entry.kind).delete(entry.id, unmarked(entry.outs));
    this.state.delete(entry.urn);
  }

  async #register(
    { kind, name, inputs, aliases = [] }: Declared,
    ready: ReadonlyMap<string, Promise<Properties | undefined>>,
    taken: Set<string>,
    sameKind: number,
  ): Promise<Properties> {
    const urn = urnOf(kind, name);
    const dependencies: Record<string, string[]> = {};
    const given: Properties = {};
    for (const [key, value] of Object.entries(inputs)) {
      if (!(value instanceof Output)) {
        given[key] = value;
        continue;
      }
      const source = await ready.get(value.name);
      if (source === undefined) throw new Error(CANCELLED);
      given[key] = source[value.property] ?? (this.dry ? UNKNOWN : undefined);
      const from = [...this.#old.keys(), ...this.state.keys()].find((other) => other.endsWith(`::${value.name}`));
      if (from !== undefined) (dependencies[from] ??= []).push(key);
    }
    const preview =
      this.dry && this.course.looks === true
        ? { __preview: process.env["SVC_STRICT_PLAN"] === undefined ? true : sameKind }
        : {};
    const news = unmarked({ ...given, __urn: urn, __provider: "pointer", ...preview });
    const provider = this.process.of(kind);
    const [oldUrn = urn] = [name, ...aliases]
      .map((known) => urnOf(kind, known))
      .filter((known) => this.#old.has(known));
    const old = this.#old.get(oldUrn);
    if (old !== undefined) taken.add(oldUrn);

    const planned = await this.#generator.run(async () => {
      if (this.errors.length > 0) throw new Error(CANCELLED);
      return this.#plan(provider, name, old, news);
    });
    this.steps.push(`plan ${planned.plan} ${name}`);
    const entry = { urn, kind, name, dependencies };

    if (planned.plan === "same" && old !== undefined) {
      this.#put({ ...old, ...entry, inputs: planned.inputs }, oldUrn);
      return old.outs;
    }
    if (planned.plan === "update" && old !== undefined) {
      return this.#step(`update ${name}`, () => this.#update(provider, { ...old, ...entry }, oldUrn, planned.inputs));
    }
    if (planned.plan === "replace" && old !== undefined && planned.deletesFirst && this.state.has(oldUrn)) {
      const along = await this.#dependants(old);
      for (const dependant of along) this.#takenAlong.add(dependant.urn);
      await this.deleteAll(along);
      await this.#step(`delete ${name}`, () => this.#delete(old));
    }
    const made = await this.#step(`create ${name}`, () => this.#create(provider, entry, planned.inputs));
    if (planned.plan === "replace" && old !== undefined && !planned.deletesFirst && !this.#takenAlong.has(oldUrn)) {
      // The engine does this at the very end, but here the difference does not matter.
      if (!this.dry) await this.#step(`delete replaced ${name}`, () => provider.delete(old.id, unmarked(old.outs)));
    }
    return made;
  }

  async #plan(provider: DynamicProvider, name: string, old: Entry | undefined, news: Properties) {
    const check = async (olds: Properties): Promise<Properties> => {
      const { inputs = news, failures = [] } = await provider.check(unmarked(olds), unmarked(news));
      if (failures.length > 0) throw new Error(`${name}: ${failures.map(({ reason }) => reason).join("; ")}`);
      return unmarked(inputs);
    };
    const inputs = await check(old?.inputs ?? {});
    if (old === undefined) return { plan: "create" as Plan, inputs, deletesFirst: false };
    const diff = await provider.diff(old.id, unmarked(old.outs), inputs);
    const differs = diff.changes ?? !isDeepStrictEqual(visible(old.inputs), visible(inputs));
    const replaces = (diff.replaces ?? []).length > 0;
    if (this.#takenAlong.has(old.urn) || ((differs || old.unfinished) && replaces)) {
      return { plan: "replace" as Plan, inputs: await check({}), deletesFirst: diff.deleteBeforeReplace ?? false };
    }
    return { plan: (differs || old.unfinished ? "update" : "same") as Plan, inputs, deletesFirst: false };
  }

  /**
   * Dependants that are replaced as well if this is deleted first: the engine checks with unknown values for its
   * outputs.
   */
  async #dependants(replaced: Entry): Promise<Entry[]> {
    const found: Entry[] = [];
    for (const entry of this.#old.values()) {
      const keys = entry.dependencies[replaced.urn];
      if (keys === undefined || !this.state.has(entry.urn)) continue;
      const news = { ...entry.inputs, ...Object.fromEntries(keys.map((key) => [key, UNKNOWN])) };
      const { replaces = [] } = await this.process.of(entry.kind).diff(entry.id, unmarked(entry.outs), unmarked(news));
      if (replaces.length > 0) found.push(entry, ...(await this.#dependants(entry)));
    }
    return found;
  }

  async #create(
    provider: DynamicProvider,
    entry: Omit<Entry, "id" | "inputs" | "outs" | "unfinished">,
    inputs: Properties,
  ) {
    if (this.dry) return inputs;
    try {
      const { id, outs = {} } = await provider.create(unmarked(inputs));
      this.#put({ ...entry, id, inputs, outs: unmarked(outs), unfinished: false });
      return unmarked(outs);
    } catch (error) {
      const kept = partOf(error);
      if (kept !== undefined) this.#put({ ...entry, ...kept, inputs, unfinished: true });
      throw error;
    }
  }

  async #update(provider: DynamicProvider, entry: Entry, oldUrn: string, inputs: Properties): Promise<Properties> {
    if (this.dry) return { ...entry.outs, ...inputs };
    try {
      const { outs = {} } = await provider.update(entry.id, unmarked(entry.outs), unmarked(inputs));
      this.#put({ ...entry, inputs, outs: unmarked(outs), unfinished: false }, oldUrn);
      return unmarked(outs);
    } catch (error) {
      const kept = partOf(error);
      // A partial update keeps the old inputs.
      if (kept !== undefined) this.#put({ ...entry, outs: kept.outs, unfinished: true }, oldUrn);
      throw error;
    }
  }

  #put(entry: Entry, oldUrn = entry.urn): void {
    if (oldUrn !== entry.urn) {
      this.state.delete(oldUrn);
      // The engine also renames references from dependants.
      for (const [urn, { dependencies, ...other }] of this.state) {
        const { [oldUrn]: keys, ...others } = dependencies;
        if (keys !== undefined) this.state.set(urn, { ...other, dependencies: { ...others, [entry.urn]: keys } });
      }
    }
    this.state.set(entry.urn, entry);
  }
}

/** The engine's message for a step that another failure has prevented. */
const CANCELLED = "cancelled";

const visible = (properties: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith("__")));

/** The id and the properties of a partial error. */
function partOf(error: unknown): { id: string; outs: Properties } | undefined {
  if (!(error instanceof Error) || !("id" in error) || !("properties" in error)) return undefined;
  const { id, properties } = error;
  // Only the provider sets both, for the engine.
  return typeof id === "string" ? { id, outs: unmarked(properties as Properties) } : undefined;
}

/**
 * A stack in process: its state, and the CLI's commands, each in its own provider process. For the real CLI see
 * ../Stack.ts.
 */
export class Stack {
  state: readonly Entry[] = [];
  readonly #account: Account;
  readonly #client: Delays;

  constructor(account: Account, client: Delays = {}) {
    this.#account = account;
    this.#client = client;
  }

  /** `pulumi preview`: stores nothing. */
  async preview(program: Program, course: Course = { seed: 1 }): Promise<Outcome> {
    const run = new Run(this.#process(), this.state, course, true, "preview");
    await run.program(program);
    return outcome(run);
  }

  /** `pulumi up --yes`, with or without a plan: a failed plan is not executed. */
  async up(program: Program, course: Course = { seed: 1 }): Promise<Outcome> {
    const roll = chance(course.seed, "preview");
    const { preview = roll < 0.4 ? "both" : roll < 0.7 ? "apart" : "none" } = course;
    let process = this.#process();
    if (course.refreshFirst !== undefined) {
      const first = new Run(process, this.state, course, false, "refresh");
      await first.refresh();
      if (first.errors.length > 0) return outcome(first);
      this.state = [...first.state.values()];
      await course.refreshFirst();
    }
    if (preview !== "none") {
      const plan = new Run(process, this.state, course, true, "preview");
      await plan.program(program);
      if (plan.errors.length > 0) return outcome(plan);
      if (preview === "apart") process = this.#process();
    }
    const run = new Run(process, this.state, course, false, "up");
    await run.program(program);
    this.state = [...run.state.values()];
    return outcome(run);
  }

  /** `pulumi refresh --yes`. */
  async refresh(course: Course = { seed: 1 }): Promise<Outcome> {
    const run = new Run(this.#process(), this.state, course, false, "refresh");
    await run.refresh();
    // A failure stops the command and keeps the state.
    if (run.errors.length === 0) this.state = [...run.state.values()];
    return outcome(run);
  }

  /** `pulumi destroy --yes`. */
  async destroy(course: Course = { seed: 1 }): Promise<Outcome> {
    const run = new Run(this.#process(), this.state, course, false, "destroy");
    await run.deleteAll(this.state);
    this.state = [...run.state.values()];
    return outcome(run);
  }

  /** The entry with this name. */
  entry(name: string): Entry {
    const found = this.state.find((entry) => entry.name === name);
    if (found === undefined)
      throw new Error(`the state holds no "${name}": ${this.state.map((e) => e.name).join(", ")}`);
    return found;
  }

  #process(): Process {
    return new Process(this.#account, this.#client);
  }
}

const outcome = ({ errors, steps, process }: Run): Outcome => ({ errors, steps, log: process.log });

/** The lasting warnings about a resource. */
export const warningsOn = ({ log }: Outcome, kind: Kind, name: string): string[] =>
  log
    .filter(({ severity, ephemeral, urn }) => severity === "warning" && !ephemeral && urn === urnOf(kind, name))
    .map(({ message }) => message);

/** The steps of a plan that change something. */
export const changesIn = ({ steps }: Outcome): string[] =>
  steps.filter((step) => (step.startsWith("plan") ? !step.startsWith("plan same") : step.startsWith("delete")));
