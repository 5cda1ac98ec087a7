import { isDeepStrictEqual } from "node:util";
import { UNKNOWN_VALUE, type Properties } from "../../../../src/contract/hiddenKeys";
import { isSecret } from "../../../../src/contract/engineSecrets";
import { typeInUrn } from "../../../../src/contract/identifiers";
import { protocolOf, PACKAGES, type Protocol } from "../../../../src/contract/pointer";
import { annotated, asSecret, containsSecret, unmarked } from "../../engineMarks";
import { isTransformed, Output, registered, sentInputs, type Program, type Registered } from "./declared";
import { isNamed, withoutIgnored } from "./paths";
import type { Process, Provider } from "./process";
import { chance, pause, Slots } from "./seeded";
import {
  dependantsOf,
  dependenciesOf,
  inOrder,
  isComponent,
  withDependencies,
  withoutGone,
  type Stored,
} from "./state";
import { inheritedAlias } from "./urns";

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
  /** `any`: the seed decides in which order the resources are registered, as far as they do not wait for each other. @default "program" */
  readonly order?: "program" | "any";
}

type ByUrn = (urn: string) => boolean;

/** Which part of a stack a command is about. As a pattern of the CLI, each may match nothing. */
export interface Part {
  readonly targets?: ByUrn | undefined;
  readonly excludes?: ByUrn | undefined;
  readonly replaces?: ByUrn | undefined;
}

/** What the engine changes while it works. The rest of an entry stays. */
type Working = { -readonly [Key in keyof Stored]: Stored[Key] };

/** What a program learns of a resource that it has registered. */
interface Known {
  readonly urn: string;
  readonly outs: Properties;
}

interface Ready {
  readonly promise: Promise<Known | undefined>;
  readonly resolve: (known: Known | undefined) => void;
}

/** The engine's message for a step that another failure has prevented. */
const CANCELLED = "cancelled";
const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** One phase of a command: a preview, an update, a refresh or a deletion. Follows the engine's step generator. */
export class Run {
  readonly errors: string[] = [];
  readonly steps: string[] = [];
  /** The state before, in the order of the snapshot, in which dependencies come first. */
  #base: Working[];
  readonly #news: Working[] = [];
  /** Of both: no longer in the state. */
  readonly #done = new Set<Working>();
  #olds = new Map<string, Working>();

  /** Of the program, as far as it is registered. */
  readonly #providers = new Set<string>();
  readonly #urns = new Set<string>();
  readonly #operated = new Set<string>();
  /** Created, updated, the same or being replaced: such a resource can't depend on one that is registered later. */
  readonly #planned = new Set<string>();
  readonly #skippedCreates = new Set<string>();
  /** By former URN, and the reverse. */
  readonly #aliased = new Map<string, string>();
  readonly #formerly = new Map<string, string>();
  /** Deleted by this run; one that is registered afterwards is created again. */
  readonly #deletes = new Set<string>();
  readonly #deletedAlong = new Set<Working>();

  #isCancelled = false;
  readonly #generator = new Slots(1);
  readonly #slots: Slots;

  constructor(
    readonly process: Process,
    entries: readonly Stored[],
    readonly course: Course,
    readonly dry: boolean,
    readonly label: string,
    readonly part: Part = {},
  ) {
    this.#base = entries.map((entry) => ({ ...entry }));
    this.#lookUp();
    const serial = chance(course.seed, "serial") < 0.12;
    this.#slots = new Slots(course.parallel ?? (serial ? 1 : 16));
  }

  /** The state after it. */
  get state(): Stored[] {
    const entries = [...this.#news, ...this.#base].filter((entry) => !this.#done.has(entry));
    // What is not a target keeps its former URN.
    const urns = new Set(this.#news.map(({ urn }) => urn));
    const now = (urn: string): string => {
      const to = this.#aliased.get(urn);
      return to !== undefined && urns.has(to) ? to : urn;
    };
    const renamed = entries.map((entry) => ({
      ...entry,
      dependencies: Object.fromEntries(Object.entries(entry.dependencies).map(([urn, keys]) => [now(urn), keys])),
      dependsOn: entry.dependsOn?.map(now) ?? [],
      deletedWith: entry.deletedWith && now(entry.deletedWith),
      parent: entry.parent && now(entry.parent),
    }));
    return inOrder(renamed);
  }

  /** Registers every resource; then deletes those that the program no longer has. */
  async program(program: Program): Promise<void> {
    this.#moveProviders(program);
    const all = this.#inOrder(program);
    const ready = new Map(all.map(({ declared: { name } }) => [name, deferred()] as const));
    for (const one of all) {
      const { name } = one.declared;
      await this.#jitter(`register ${name}`, 0.3);
      // A resource whose dependency failed is never registered.
      const known = this.#register(one, ready, all).catch((error: unknown) => this.#fail(error));
      void known.then((result) => ready.get(name)?.resolve(result));
    }
    await Promise.all([...ready.values()].map(({ promise }) => promise));
    if (this.#isCancelled) return;
    await this.#deleteSurplus();
  }

  /** An explicit Provider of the native protocol has the alias of the other, and takes over what that has in the state. */
  #moveProviders(program: Program): void {
    const natives = program.filter(({ protocol }) => protocol === "native");
    const moved = new Set(natives.flatMap(({ options }) => options?.provider ?? []));
    for (const entry of this.#base) if (moved.has(entry.provider ?? "")) entry.protocol = "native";
    for (const name of moved) this.#providers.add(providerOf("native", name));
  }

  async refresh(): Promise<void> {
    const gone = new Set<Working>();
    const read = this.#base.filter(
      (entry) => this.#isIncluded(entry.urn) && !isComponent(entry) && entry.pendingReplacement !== true,
    );
    // A failure stops no other read.
    await Promise.all(
      read.map(async (entry) => {
        await this.#jitter(`read ${entry.name}`);
        await this.#slots.run(async () => {
          this.steps.push(`read ${entry.name}`);
          await this.#read(entry, gone).catch((error: unknown) => this.errors.push(messageOf(error)));
        });
      }),
    );
    if (this.errors.length > 0) this.#isCancelled = true;
    this.#base = withoutGone(this.#base, (entry) => gone.has(entry));
    this.#lookUp();
  }

  async #read(entry: Working, gone: Set<Working>): Promise<void> {
    const provider = this.#providerOf(entry);
    const before = entry.inputs;
    const { id = "", props = {}, inputs } = await provider.read(entry.id, unmarked(entry.outs), unmarked(before));
    if (id === "") return void gone.add(entry);
    const ofSdk = provider.isNative === true ? {} : entry.outs;
    entry.outs = annotated(withPointer(props, ofSdk), entry.outs);
    if (inputs !== undefined) entry.inputs = annotated(withPointer(inputs, ofSdk), before);
    Object.assign(entry, { id, unfinished: false });
    markOutputs(entry);
    // Its result is the drift that a refresh reports; the inputs are from the state, without a check.
    await provider.diff(id, unmarked(entry.outs), unmarked(before), unmarked(entry.inputs));
  }

  #isIncluded(urn: string): boolean {
    const { targets, excludes } = this.part;
    return targets?.(urn) ?? excludes?.(urn) !== true;
  }

  #lookUp(): void {
    this.#olds = new Map(this.#base.filter(({ toDelete }) => toDelete !== true).map((entry) => [entry.urn, entry]));
  }

  #inOrder(program: Program): readonly Registered[] {
    const all = registered(program);
    if (this.course.order !== "any") return all;
    const place = ({ declared: { name } }: Registered): number => chance(this.course.seed, `order ${name}`);
    return all.toSorted((a, b) => place(a) - place(b));
  }

  #fail(error: unknown): undefined {
    this.#isCancelled = true;
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
      if (this.#isCancelled) throw new Error(CANCELLED);
      this.steps.push(what);
      try {
        return await work();
      } catch (error) {
        this.#fail(error);
        throw new Error(CANCELLED, { cause: error });
      }
    });
  }

  #providerOf({ kind, ...entry }: Working): Provider {
    if (kind === "Group") throw new Error("a component has no provider");
    return this.process.of({ ...entry, kind });
  }

  async #register(
    one: Registered,
    ready: ReadonlyMap<string, Ready>,
    all: readonly Registered[],
  ): Promise<Known | undefined> {
    const { declared, urn, parent } = one;
    const { kind, name, options = {} } = declared;
    const sources = new Map<string, Known>();
    for (const other of one.waitsFor) {
      const known = await ready.get(other)?.promise;
      if (known === undefined) throw new Error(CANCELLED);
      sources.set(other, known);
    }
    const urnOfOther = (other: string): string => sources.get(other)?.urn ?? "";
    const dependencies: Record<string, string[]> = {};
    const given: Properties = {};
    for (const [key, value] of Object.entries(declared.inputs)) {
      given[key] = value instanceof Output ? this.#valueOf(sources.get(value.name), value.property) : value;
      if (value instanceof Output) (dependencies[urnOfOther(value.name)] ??= []).push(key);
    }
    if (kind !== "Group" && kind !== "Foreign") this.process.declare(kind, urn, given);
    const sameKind = all.filter((other) => other.declared.kind === kind).length;
    const mark = process.env["SVC_STRICT_PLAN"] === undefined ? true : sameKind;
    const preview = this.dry && this.course.looks === true ? mark : undefined;
    const news = withoutUndefined(sentInputs(one, given, preview));
    const { retainOnDelete, replaceOnChanges, provider, customTimeouts } = options;
    const entry: Working = {
      ...{ urn, kind, name, id: "", inputs: news, outs: {}, unfinished: false, parent },
      dependencies: isTransformed(one) ? {} : dependencies,
      dependsOn: [...new Set([...one.dependsOn.map(urnOfOther), ...Object.keys(dependencies)])],
      deletedWith: one.deletedWith === undefined ? undefined : urnOfOther(one.deletedWith),
      ...{ protect: one.protect, retainOnDelete: retainOnDelete ?? false },
      ...{ ignoreChanges: one.ignoreChanges, replaceOnChanges: replaceOnChanges ?? [] },
      ...{
        secretOutputs: one.secretOutputs,
        provider,
        timeouts: customTimeouts,
        protocol: declared.protocol ?? "dynamic",
      },
    };
    const steps = await this.#generator.run(async () => {
      if (this.#isCancelled) throw new Error(CANCELLED);
      return this.#generate(one, entry);
    });
    return steps();
  }

  /** A missing output is not known in a plan. */
  #valueOf(source: Known | undefined, property: string): unknown {
    const value = source?.outs[property] ?? (this.dry ? UNKNOWN_VALUE : undefined);
    return containsSecret(value) && !isSecret(value) ? asSecret(unmarked({ value })["value"]) : value;
  }

  /** Decides about a resource. What it returns executes that, possibly beside others. */
  async #generate(one: Registered, entry: Working): Promise<() => Promise<Known | undefined>> {
    const { urn, name } = entry;
    const { replaces } = this.part;
    const old = this.#oldOf(one, entry);
    this.#urns.add(urn);
    this.#providers.add(providerOf(protocolIn(entry), entry.provider));
    if (!this.#isIncluded(urn)) return this.#untargeted(entry, old);
    const missing = [...(entry.dependsOn ?? []), ...Object.keys(entry.dependencies), entry.parent, entry.deletedWith];
    if (missing.some((other) => other !== undefined && this.#skippedCreates.has(other))) {
      throw new Error(`Resource '${urn}' depends on a resource which was not specified in --target list.`);
    }

    const news = entry.inputs;
    const isRecreated = this.#deletes.has(urn);
    const isReplaceTarget = replaces?.(urn) === true || old?.tainted === true;
    const isNew = isRecreated || isReplaceTarget || old === undefined;
    const considered = isNew ? news : withoutIgnored(news, old.inputs, entry.ignoreChanges ?? []);
    entry.inputs = await this.#check(entry, isNew ? {} : old.inputs, considered);
    if (isRecreated) {
      this.#deletes.delete(urn);
      this.#operated.add(urn);
      this.#plan("replace", entry);
      return () => this.#create(entry, old, false);
    }
    if (old === undefined) {
      this.#plan("create", entry);
      return () => this.#create(entry, undefined, false);
    }

    const { changes, isReplaced, deletesFirst } = isReplaceTarget
      ? { changes: true, isReplaced: true, deletesFirst: false }
      : await this.#diff(entry, old);
    this.#operated.add(urn);
    if ((changes && isReplaced) || old.pendingReplacement === true) {
      if (entry.protect === true && old.protect === true)
        throw new Error(`unable to replace resource "${urn}" as it is currently marked for protection`);
      if (!isReplaceTarget) entry.inputs = await this.#check(entry, {}, news);
      this.#plan("replace", entry);
      if (!(one.deleteBeforeReplace ?? deletesFirst)) return () => this.#create(entry, old, true);
      const along = await this.#replacedWith(old);
      for (const other of along) {
        if (other.protect === true && other.toDelete !== true)
          throw new Error(`unable to replace resource "${other.urn}" as part of replacing it`);
        this.#deletes.add(other.urn);
        this.#deletedAlong.add(other);
      }
      return async () => {
        for (const other of along.toReversed())
          await this.#step(`delete ${other.name}`, () => this.#deleteFirst(other));
        if (old.pendingReplacement !== true) await this.#step(`delete ${name}`, () => this.#deleteFirst(old));
        return this.#create(entry, old, false);
      };
    }
    if (changes || old.unfinished) {
      this.#plan("update", entry);
      return () => this.#step(`update ${name}`, () => this.#update(entry, old));
    }
    this.#plan("same", entry);
    return async () => this.#same(entry, old);
  }

  #plan(what: string, { urn, name }: Working): void {
    this.#planned.add(urn);
    this.steps.push(`plan ${what} ${name}`);
  }

  #oldOf({ aliases }: Registered, { urn, parent }: Working): Working | undefined {
    const former = parent === undefined ? undefined : this.#formerly.get(parent);
    const inherited =
      parent === undefined || former === undefined
        ? []
        : [urn, ...aliases].map((alias) => inheritedAlias(alias, parent, former));
    const oldUrn = [urn, ...aliases, ...inherited].find((known) => this.#olds.has(known));
    if (this.#aliased.has(urn)) throw new Error(`Duplicate resource URN '${urn}' conflicting with alias`);
    if (oldUrn !== undefined && oldUrn !== urn) {
      if (this.#urns.has(oldUrn) || this.#aliased.has(oldUrn))
        throw new Error(`Duplicate resource alias '${oldUrn}' applied to resource with URN '${urn}'`);
      this.#aliased.set(oldUrn, urn);
      this.#formerly.set(urn, oldUrn);
    }
    return oldUrn === undefined ? undefined : this.#olds.get(oldUrn);
  }

  #untargeted({ urn }: Working, old: Working | undefined): () => Promise<Known> {
    const itsProvider = old === undefined || isComponent(old) ? undefined : providerOf(protocolIn(old), old.provider);
    if (itsProvider !== undefined && !this.#providers.has(itsProvider)) {
      const change = "this is due to a change of providers mixed with --target";
      throw new Error(`provider ${itsProvider} for resource ${urn} has not been registered yet, ${change}`);
    }
    this.#operated.add(urn).add(old?.urn ?? urn);
    if (old === undefined) this.#skippedCreates.add(urn);
    return async () => ({ urn: old?.urn ?? urn, outs: old?.outs ?? {} });
  }

  async #check(entry: Working, olds: Properties, news: Properties): Promise<Properties> {
    if (isComponent(entry)) return news;
    const { inputs = news, failures = [] } = await this.#providerOf(entry).check(unmarked(olds), unmarked(news));
    if (failures.length > 0) throw new Error(`${entry.name}: ${failures.map(({ reason }) => reason).join("; ")}`);
    return annotated(withPointer(inputs, news), news);
  }

  async #diff(entry: Working, old: Working): Promise<{ changes: boolean; isReplaced: boolean; deletesFirst: boolean }> {
    if (isComponent(entry)) return { changes: false, isReplaced: false, deletesFirst: false };
    return this.#compare(entry, old, entry.inputs);
  }

  async #compare(by: Working, old: Working, inputs: Properties) {
    const provider = this.#providerOf(by);
    const found = await provider.diff(old.id, unmarked(old.outs), unmarked(inputs), unmarked(old.inputs));
    const compared = withoutIgnored(inputs, old.inputs, by.ignoreChanges ?? []);
    // A dynamic provider says only whether they differ, or leaves it to the engine.
    const keys = found.changes === undefined ? differing(old.inputs, compared) : (found.diffs ?? []);
    const changes = found.changes ?? keys.length > 0;
    const isForced = changes && keys.some((key) => isNamed(key, by.replaceOnChanges ?? []));
    const isReplaced = isForced || (found.replaces ?? []).length > 0;
    return { changes, isReplaced, deletesFirst: found.deleteBeforeReplace ?? false };
  }

  /**
   * What is replaced as well if this is deleted first: the engine compares the dependants with unknown values for the
   * outputs.
   */
  async #replacedWith(replaced: Working): Promise<Working[]> {
    const urns = new Set([replaced.urn]);
    const found: Working[] = [];
    const ignored = new Set([...this.#planned].filter((urn) => urn !== replaced.urn));
    // Entries of the state that the run works on.
    for (const entry of dependantsOf(replaced, this.#base, { children: false, ignored }) as Working[]) {
      const keys = new Set([...urns].flatMap((urn) => entry.dependencies[urn] ?? []));
      if (isComponent(entry) || keys.size === 0) continue;
      const news = { ...entry.inputs, ...Object.fromEntries([...keys].map((key) => [key, UNKNOWN_VALUE])) };
      const { isReplaced } = await this.#compare(entry, entry, news);
      if (!isReplaced) continue;
      urns.add(entry.urn);
      if (!this.#deletedAlong.has(entry)) found.push(entry);
    }
    return found;
  }

  #known(entry: Working): Known {
    this.#news.push(entry);
    // The SDK shows an input where the engine returns no output.
    return { urn: entry.urn, outs: this.dry ? entry.outs : { ...entry.inputs, ...entry.outs } };
  }

  #same(entry: Working, old: Working): Known {
    Object.assign(entry, { id: old.id, outs: { ...old.outs } });
    markOutputs(entry);
    this.#done.add(old);
    return this.#known(entry);
  }

  /** The provider that is asked to create or update it. */
  #asked(entry: Working): Provider | undefined {
    const provider = isComponent(entry) ? undefined : this.#providerOf(entry);
    return this.dry && provider?.isNative !== true ? undefined : provider;
  }

  /** `isLast`: the replaced object is deleted at the end. */
  #create(entry: Working, old: Working | undefined, isLast: boolean): Promise<Known> {
    const change = async () => {
      const provider = this.#asked(entry);
      if (provider === undefined) return { id: "", outs: this.dry ? entry.inputs : {} };
      return provider.create(unmarked(entry.inputs), this.dry);
    };
    const keep = (): void => {
      if (isLast && old !== undefined) old.toDelete = true;
      if (old?.pendingReplacement === true) this.#done.add(old);
    };
    return this.#step(`create ${entry.name}`, () => this.#changed(entry, change, keep));
  }

  #update(entry: Working, old: Working): Promise<Known> {
    const { id } = old;
    const change = async () => {
      const provider = this.#asked(entry);
      if (provider === undefined) return { id, outs: entry.inputs };
      const more = { oldInputs: unmarked(old.inputs), isPreview: this.dry };
      const { outs } = await provider.update(id, unmarked(old.outs), unmarked(entry.inputs), more);
      return { id, outs };
    };
    const keep = (isPartial: boolean): void => {
      if (isPartial) entry.inputs = old.inputs;
      this.#done.add(old);
    };
    return this.#changed(entry, change, keep);
  }

  /** `keep`: when the state gets the result, also that of a partial error. */
  async #changed(
    entry: Working,
    change: () => Promise<{ readonly id: string; readonly outs?: object | undefined }>,
    keep: (isPartial: boolean) => void,
  ): Promise<Known> {
    const store = (id: string, outs: object, isPartial: boolean): void => {
      Object.assign(entry, { id, unfinished: isPartial });
      entry.outs = annotated(withPointer(outs, entry.inputs), entry.inputs);
      markOutputs(entry);
      keep(isPartial);
    };
    try {
      const { id, outs = {} } = await change();
      store(id, outs, false);
      return this.#known(entry);
    } catch (error) {
      const kept = partOf(error);
      if (kept !== undefined) {
        store(kept.id, kept.outs, true);
        this.#news.push(entry);
      }
      throw error;
    }
  }

  /** Before its replacement: it stays in the state until that is there, unless it was replaced already. */
  async #deleteFirst(entry: Working): Promise<void> {
    await this.#remove(entry);
    if (entry.toDelete === true) this.#done.add(entry);
    else entry.pendingReplacement = true;
  }

  async #remove(entry: Working): Promise<void> {
    const { retainOnDelete, deletedWith, id, outs, inputs } = entry;
    const isLeft = retainOnDelete === true || (deletedWith !== undefined && this.#deletes.has(deletedWith));
    if (!this.dry && !isLeft && !isComponent(entry))
      await this.#providerOf(entry).delete(id, unmarked(outs), unmarked(inputs));
  }

  /** What the program does not have, and what was replaced: dependants first, otherwise concurrently. */
  async #deleteSurplus(): Promise<void> {
    const part = this.#deletable();
    const condemned = this.#base.filter((entry) => {
      const { urn, toDelete } = entry;
      if (!part(entry)) return false;
      if (toDelete === true) return !this.#deletedAlong.has(entry);
      return !this.#operated.has(this.#aliased.get(urn) ?? urn);
    });
    const { targets } = this.part;
    const unnamed = targets === undefined ? [] : condemned.filter(({ urn }) => !targets(urn));
    for (const { urn } of unnamed)
      this.errors.push(`Resource '${urn}' will be destroyed but was not specified in --target list.`);
    if (unnamed.length > 0 && !this.dry) return void (this.#isCancelled = true);
    for (const { urn } of condemned) this.#deletes.add(urn);
    const kept = new Set<Working>();
    for (const layer of layersOf(condemned, this.#base)) {
      const now = layer.filter((entry) => !kept.has(entry));
      const protectedOnes = await Promise.all(now.map((entry) => this.#delete(entry)));
      for (const one of protectedOnes) if (one !== undefined) this.#keepWith(one, kept);
    }
  }

  /** Nothing that a protected resource depends on is deleted. */
  #keepWith(entry: Working, kept: Set<Working>): void {
    // Entries of the state that the run works on.
    for (const other of dependenciesOf(entry, this.#base) as Working[]) {
      if (kept.has(other)) continue;
      kept.add(other);
      this.#keepWith(other, kept);
    }
  }

  #deletable(): (entry: Working) => boolean {
    const { targets, excludes } = this.part;
    if (targets !== undefined) {
      const named = this.#base.filter(({ urn }) => targets(urn));
      const all = named.flatMap((entry) => [entry, ...dependantsOf(entry, this.#base, { children: true })]);
      const urns = new Set(all.map(({ urn }) => urn));
      return ({ urn }) => urns.has(urn);
    }
    if (excludes === undefined) return () => true;
    const kept = withDependencies(this.#base, ({ urn }) => excludes(urn));
    return ({ urn }) => !kept.has(urn);
  }

  /** The entry, if it is protected. */
  async #delete(entry: Working): Promise<Working | undefined> {
    const { urn, name, toDelete, pendingReplacement, protect } = entry;
    if (pendingReplacement === true && toDelete !== true) return void this.#done.add(entry);
    if (protect === true && toDelete !== true) {
      if (this.#isCancelled) return undefined;
      // Such an error stops no other deletion.
      this.errors.push(`resource "${urn}" cannot be deleted because it is protected`);
      return entry;
    }
    const what = toDelete === true ? `delete replaced ${name}` : `delete ${name}`;
    await this.#step(what, async () => {
      await this.#remove(entry);
      this.#done.add(entry);
    }).catch(() => undefined);
    return undefined;
  }
}

/** What may be deleted at a time, one group after the other. */
function layersOf(condemned: readonly Working[], state: readonly Working[]): Working[][] {
  const layers: Working[][] = [];
  let left = condemned;
  while (left.length > 0) {
    const waiting = left;
    const free = left.filter(
      (entry) => !dependenciesOf(entry, state).some((other) => waiting.some((one) => one === other)),
    );
    layers.push(free);
    left = left.filter((entry) => !free.includes(entry));
  }
  return layers.toReversed();
}

function deferred(): Ready {
  let resolve: Ready["resolve"] = () => undefined;
  const promise = new Promise<Known | undefined>((done) => (resolve = done));
  return { promise, resolve };
}

const protocolIn = ({ urn, protocol = protocolOf(typeInUrn(urn)) }: Working): Protocol => protocol;

/** All dynamic resources share the default one. */
const providerOf = (protocol: Protocol, name = "default"): string => `pulumi:providers:${PACKAGES[protocol]}::${name}`;

/** As the SDK sends them. */
const withoutUndefined = (properties: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));

/** The SDK adds it to each result. */
const withPointer = (result: object, given: Properties): Properties => ({
  ...result,
  ...("__provider" in given && { __provider: given["__provider"] }),
});

/** What the engine marks in the outputs, beside what it was given as a secret. */
function markOutputs(entry: Working): void {
  const outs = Object.entries(entry.outs).map(([name, value]): [string, unknown] => {
    const isMarked = entry.secretOutputs?.includes(name) === true || isSecret(entry.inputs[name]);
    return [name, isMarked && !isSecret(value) ? asSecret(value) : value];
  });
  entry.outs = Object.fromEntries(outs);
}

/** The top-level inputs that differ, also by a mark. A clone has the prototypes of another realm in Jest: so have both. */
function differing(olds: Properties, news: Properties): string[] {
  const [before, now] = [structuredClone(olds), structuredClone(news)];
  return [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(
    (key) => !isDeepStrictEqual(before[key], now[key]),
  );
}

/** The id and the properties of a partial error. */
function partOf(error: unknown): { id: string; outs: Properties } | undefined {
  if (!(error instanceof Error) || !("id" in error) || !("properties" in error)) return undefined;
  const { id, properties } = error;
  // Only the provider sets both, for the engine.
  return typeof id === "string" ? { id, outs: properties as Properties } : undefined;
}
