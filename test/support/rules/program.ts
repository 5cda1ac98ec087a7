import type { Kind } from "../../../src/contract/pointer";
import type { LogLine } from "../../../src/runtime/progress";
import type { Declared as AnyDeclared } from "./engine/declared";
import { unmarked } from "../engineMarks";
import { Process, type Account, type Delays, type Observe } from "./engine/process";
import { Run, type Course, type Part } from "./engine/run";
import { chance } from "./engine/seeded";
import { isComponent, stateRename, stateTaint, withDependencies, type Entry, type Stored } from "./engine/state";
import { urnOf } from "./engine/urns";

export { UNKNOWN_VALUE as UNKNOWN } from "../../../src/contract/hiddenKeys";
export { output } from "./engine/declared";
export type { Course, Entry, Kind, Part, Stored };

/** One `new svc.Kind(name, inputs, options)`. */
export type Declared = AnyDeclared<Kind>;
export type Program = readonly Declared[];
/** Also with components and somebody else's resources. */
export type AnyProgram = readonly AnyDeclared[];

/** The result of a CLI command. */
export interface Outcome {
  /** The failures as the CLI would print them. */
  readonly errors: readonly string[];
  /** All lines, including ephemeral ones. */
  readonly log: readonly LogLine[];
  /** The planned or executed steps, such as `create a`, in order of their start. */
  readonly steps: readonly string[];
}

/**
 * A stack in process: its state, and the CLI's commands, each in its own provider process. For the real CLI see
 * ../Stack.ts.
 */
export class Stack {
  /** Everything in the state, in the order of the snapshot. */
  all: readonly Stored[] = [];
  /** Receives the process of each command, and the calls of our providers. */
  onProcess: (process: Process) => void = () => undefined;
  observe: Observe | undefined;
  readonly #account: Account;
  readonly #client: Delays;

  constructor(account: Account, client: Delays = {}) {
    this.#account = account;
    this.#client = client;
  }

  /** What is ours in the state, secrets in clear, without what is deleted and not created again yet. */
  get state(): readonly Entry[] {
    return this.ours.filter(({ pendingReplacement }) => pendingReplacement !== true);
  }
  set state(entries: readonly Entry[]) {
    this.all = entries;
  }
  /** With what is deleted and not created again yet. */
  get ours(): readonly Entry[] {
    const ours = this.all.filter(isOurs);
    return ours.map((entry) => ({ ...entry, inputs: unmarked(entry.inputs), outs: unmarked(entry.outs) }));
  }

  /** `pulumi preview`: stores nothing. */
  async preview(program: AnyProgram, course: Course = { seed: 1 }, part: Part = {}): Promise<Outcome> {
    const process = this.#process();
    const refreshed = course.refreshFirst && (await this.#refreshed(process, course, part));
    if (refreshed !== undefined && refreshed.errors.length > 0) return outcome(refreshed);
    const run = new Run(process, refreshed?.state ?? this.all, course, true, "preview", part);
    await run.program(program);
    return outcome(run);
  }

  /** `pulumi up --yes`, with or without a plan: a failed plan is not executed. */
  async up(program: AnyProgram, course: Course = { seed: 1 }, part: Part = {}): Promise<Outcome> {
    const roll = chance(course.seed, "preview");
    const { preview = roll < 0.4 ? "both" : roll < 0.7 ? "apart" : "none" } = course;
    let process = this.#process();
    if (course.refreshFirst !== undefined) {
      const first = await this.#refreshed(process, course, part);
      this.all = first.state;
      if (first.errors.length > 0) return outcome(first);
      await course.refreshFirst();
    }
    if (preview !== "none") {
      const plan = new Run(process, this.all, course, true, "preview", part);
      await plan.program(program);
      if (plan.errors.length > 0) return outcome(plan);
      if (preview === "apart") process = this.#process();
    }
    const run = new Run(process, this.all, course, false, "up", part);
    await run.program(program);
    this.all = run.state;
    return outcome(run);
  }

  /** `pulumi refresh --yes`. What was found until a failure is stored. */
  async refresh(course: Course = { seed: 1 }, part: Part = {}): Promise<Outcome> {
    const run = await this.#refreshed(this.#process(), course, part);
    this.all = run.state;
    return outcome(run);
  }

  /** `pulumi destroy --yes`, with `--exclude-protected` where it is asked for. */
  async destroy(course: Course = { seed: 1 }, part: Part & { excludeProtected?: boolean } = {}): Promise<Outcome> {
    const kept = withDependencies(this.all, ({ protect }) => protect === true);
    const isKept = (urn: string): boolean => kept.has(urn) || part.excludes?.(urn) === true;
    const excludes = part.excludeProtected === true ? isKept : part.excludes;
    const run = new Run(this.#process(), this.all, course, false, "destroy", { ...part, excludes });
    await run.program([]);
    this.all = run.state;
    return outcome(run);
  }

  /** `pulumi state rename`. @throws as the CLI refuses it. */
  rename(urn: string, name: string): void {
    this.all = stateRename(this.all, urn, name);
  }

  /** `pulumi state taint`. @throws as the CLI refuses it. */
  taint(urn: string): void {
    this.all = stateTaint(this.all, urn);
  }

  /** The entry with this name. */
  entry(name: string): Entry {
    const found = this.state.find((entry) => entry.name === name);
    if (found === undefined)
      throw new Error(`the state holds no "${name}": ${this.state.map((e) => e.name).join(", ")}`);
    return found;
  }

  async #refreshed(process: Process, course: Course, part: Part): Promise<Run> {
    const run = new Run(process, this.all, course, false, "refresh", part);
    await run.refresh();
    return run;
  }

  #process(): Process {
    const process = new Process(this.#account, this.#client, this.observe);
    this.onProcess(process);
    return process;
  }
}

const isOurs = (entry: Stored): entry is Entry => entry.kind !== "Foreign" && !isComponent(entry);

const outcome = ({ errors, steps, process }: Run): Outcome => ({ errors, steps, log: process.log });

/** The lasting warnings about a resource. */
export const warningsOn = ({ log }: Outcome, kind: Kind, name: string): string[] =>
  log
    .filter(({ severity, ephemeral, urn }) => severity === "warning" && !ephemeral && urn === urnOf(kind, name))
    .map(({ message }) => message);

/** The steps of a plan that change something. */
export const changesIn = ({ steps }: Outcome): string[] =>
  steps.filter((step) => (step.startsWith("plan") ? !step.startsWith("plan same") : step.startsWith("delete")));
