import { projectOf } from "../../contract/identifiers";
import { type IgnoreFile, IGNORE_FILE, readIgnoreFile } from "../drift/ignoreFile";
import { refreshedBy } from "../drift/refreshed";
import { type Report, stackOf, toReport } from "../drift/report";
import { judged } from "../drift/tolerated";
import { unmanagedObjects } from "../drift/unmanaged";
import { compareText } from "../output";
import { sharedObjectsIn } from "../stack/sharedObjects";
import { exportedState } from "../stack/state";
import { UnfinishedError } from "../stack/unfinished";
import { entriesOfStacks, judgedObjects } from "./ignored";
import { inParallel } from "./inParallel";
import type { ProgressLine } from "./progress";
import { FleetRefresh } from "./refresh";
import { fleetFingerprint, type FleetReport, previousStacks, type StackReport } from "./report";
import { type FleetStack, fleetStacks } from "./stacks";
import { type FleetState, reliableState } from "./states";

export interface CheckOptions {
  /** Patterns of names. @default all stacks */
  readonly stack?: readonly string[];
  readonly unmanaged?: true;
  /** How many states, and how many projects, are read at a time. */
  readonly parallel: number;
  /** The file of an earlier report: drift that it has keeps its time. */
  readonly previous?: string;
}

/** A stack with its result. `project`: of Pulumi. */
interface Checked {
  readonly of: FleetState;
  readonly file: IgnoreFile;
  readonly project: string;
  readonly report: Report;
}

type Objects = Pick<FleetReport, "unmanaged" | "toleratedUnmanaged" | "byItself" | "expired" | "unused">;

const NOTHING: Objects = { unmanaged: [], toleratedUnmanaged: [], byItself: [], expired: [], unused: [] };
const NO_FILE: IgnoreFile = { name: IGNORE_FILE, entries: [] };

/** One check of many stacks. A stack about which nothing is known is noted, and the others go on. */
export class FleetCheck {
  readonly #now = new Date();
  readonly #notKnown = new Map<FleetStack, string>();
  readonly #unmanagedNotKnown: string[] = [];
  readonly #milliseconds = { states: 0, service: 0 };

  constructor(
    private readonly options: CheckOptions,
    private readonly progress: ProgressLine,
  ) {}

  /** @throws a message for the user if nothing could be checked. */
  async run(folders: readonly string[]): Promise<FleetReport> {
    const { parallel, stack = [], unmanaged = false, previous } = this.options;
    const earlier = previous === undefined ? [] : await previousStacks(previous);
    const stacks = await fleetStacks(folders, stack);
    // Before any request: an invalid file stops the command.
    const files = new Map(
      stacks.map(({ folder }) => [folder, folder === undefined ? NO_FILE : readIgnoreFile(folder)]),
    );

    const states = await this.#timed("states", () => this.#states(stacks));
    // A stack that only looks something up declares nothing.
    const ours = states.filter(({ resources }) => resources.some(({ external }) => external !== true));
    if (ours.length === 0 && this.#notKnown.size === 0)
      throw new Error("no stack holds a resource of pulumi-svc, so there is nothing to check");

    const refresh = new FleetRefresh(parallel, (note) => this.progress.show(note));
    const checked = await this.#timed("service", () => this.#checked(refresh, ours, files));
    const unread = stacks.filter((one) => !states.some((state) => state.stack === one));
    const objects = unmanaged
      ? await this.#timed("service", () => this.#objects(refresh, ours, unread, [...files.values()]))
      : NOTHING;
    const isLasting = await this.#timed("states", () => this.#confirm(states, checked, objects));

    const results = checked.filter(({ of }) => !this.#notKnown.has(of.stack));
    const shown = isLasting ? objects : NOTHING;
    const checkedAt = this.#now.toISOString();
    const reports = results.map(({ of, project, report }): StackReport => {
      const { name } = of.stack;
      const before = earlier.find((one) => one.name === name && one.fingerprint === report.fingerprint);
      const since = report.drift.length === 0 ? null : (before?.since ?? checkedAt);
      // The entries of the file are told once for all stacks.
      return { name, project, since, ...report, expired: [], unused: [] };
    });
    const ofStacks = entriesOfStacks(results);
    return {
      checkedAt,
      stacks: reports,
      notKnown: stacks.flatMap((one) => {
        const reason = this.#notKnown.get(one);
        return reason === undefined ? [] : { name: one.name, reason };
      }),
      withoutResources: states.filter((one) => !ours.includes(one)).map(({ stack: { name } }) => name),
      ...shown,
      unmanagedChecked: unmanaged && this.#unmanagedNotKnown.length === 0,
      unmanagedNotKnown: this.#unmanagedNotKnown.toSorted(compareText),
      expired: [...ofStacks.expired, ...shown.expired],
      unused: [...ofStacks.unused, ...shown.unused],
      requests: refresh.requests,
      seconds: {
        states: inSeconds(this.#milliseconds.states),
        service: inSeconds(this.#milliseconds.service),
      },
      fingerprint: fleetFingerprint(reports, shown.unmanaged),
    };
  }

  async #states(stacks: readonly FleetStack[]): Promise<FleetState[]> {
    this.progress.begin("states read", stacks.length);
    const states = await inParallel(this.options.parallel, stacks, async (stack) => {
      const state = await reliableState(stack).catch((error: Error) => this.#note(stack, error));
      this.progress.step();
      return state;
    });
    return states.flatMap((state) => state ?? []);
  }

  async #checked(
    refresh: FleetRefresh,
    states: readonly FleetState[],
    files: ReadonlyMap<string | undefined, IgnoreFile>,
  ): Promise<Checked[]> {
    const results = await refresh.results(states, this.progress);
    return states.flatMap((of) => {
      const found = results.get(of) ?? [];
      const file = files.get(of.stack.folder) ?? NO_FILE;
      try {
        if (found instanceof Error) throw found;
        const resources = refreshedBy(found, of.state);
        const { project, stack } = stackOf(of.resources[0]?.urn ?? "");
        const ignored = resources.flatMap((one) => one.ignored ?? []);
        const expiredDomains = resources.flatMap((one) => one.expiredDomains);
        const findings = {
          ...{ ignored, expiredDomains, byItself: [], sharedObjects: sharedObjectsIn(of.state) },
          ...judged(resources, undefined, file, this.#now),
        };
        return { of, file, project, report: toReport(project, stack, findings) };
      } catch (error) {
        return this.#note(of.stack, error as Error) ?? []; // Refreshes and entries throw nothing else.
      }
    });
  }

  /** What no stack declares. `unread`: stacks whose states are not known, so that they may declare anything. */
  async #objects(
    refresh: FleetRefresh,
    states: readonly FleetState[],
    unread: readonly FleetStack[],
    files: readonly IgnoreFile[],
  ): Promise<Objects> {
    if (unread.length > 0) return this.#unknownObjects(unread);
    const isReached = ({ stack }: FleetState): boolean => !refresh.unreachable.has(stack);
    // The ids in their states say which projects the others are about.
    const closed = states
      .filter((of) => !isReached(of))
      .flatMap(({ stack: { name }, resources }) =>
        resources.flatMap(({ id = "", external }) => (external === true ? [] : { name, projectId: projectOf(id) })),
      );
    const reasons = closed.map(({ name, projectId }) => `project ${projectId}: its objects may be declared in ${name}`);
    this.#unmanagedNotKnown.push(...new Set(reasons));
    const declaring = states.filter(isReached).map((of) => ({ of, state: of.state, resources: declaredIn(of) }));
    const { unmanaged, byItself } = await unmanagedObjects(declaring, {
      session: refresh.session,
      settingsOf: ({ of }, provider) => refresh.settingsOf(of, provider),
      each: async (projectId, look) => {
        if (closed.some((one) => one.projectId === projectId)) return undefined;
        return refresh
          .inTurn(look)
          .catch((error: Error) => void this.#unmanagedNotKnown.push(`project ${projectId}: ${error.message}`));
      },
    });
    return { byItself, ...judgedObjects(unmanaged, files, this.#now) };
  }

  #unknownObjects(stacks: readonly FleetStack[]): Objects {
    const names = stacks.map(({ name }) => name).join(", ");
    this.#unmanagedNotKnown.push(`all projects: their objects may be declared in ${names}`);
    return NOTHING;
  }

  /**
   * Reads again the states of stacks with a finding: what a colleague deploys meanwhile looks like drift, and what any
   * stack creates like an object that none declares. Returns whether the undeclared objects are known.
   */
  async #confirm(states: readonly FleetState[], checked: readonly Checked[], objects: Objects): Promise<boolean> {
    const drifted = checked.filter(({ report }) => report.drift.length > 0).map(({ of }) => of);
    const inQuestion = objects.unmanaged.length > 0 ? states : drifted;
    this.progress.begin("states read again", inQuestion.length);
    const changed = await inParallel(this.options.parallel, inQuestion, async (of) => {
      const now = await exportedState(of.stack.pulumi, true).catch((error: Error) => error);
      this.progress.step();
      if (now instanceof Error) return { of, error: now };
      return now.text === of.state.text ? [] : { of, error: new UnfinishedError(CHANGED) };
    });
    const unlasting = changed.flat();
    for (const { of, error } of unlasting) if (drifted.includes(of)) this.#note(of.stack, error);
    if (objects.unmanaged.length === 0 || unlasting.length === 0) return true;
    this.#unknownObjects(unlasting.map(({ of }) => of.stack));
    return false;
  }

  #note(stack: FleetStack, error: Error): undefined {
    const reason = error instanceof UnfinishedError ? error.what : error.message;
    this.#notKnown.set(stack, reason.replaceAll("\n", "; "));
  }

  async #timed<Result>(what: keyof FleetReport["seconds"], work: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    return work().finally(() => (this.#milliseconds[what] += performance.now() - began));
  }
}

const inSeconds = (milliseconds: number): number => Math.round(milliseconds) / 1_000;

const CHANGED = "it changed the state while this command read it";

/** The resources of a state as if nothing had drifted: what it declares. */
const declaredIn = ({ state, resources }: FleetState) =>
  refreshedBy(
    resources.map(({ urn, type, id = "", provider, inputs, outputs, delete: isLeft }) => {
      const old = { id, inputs, outputs, delete: isLeft };
      return { op: "same", urn, type, provider, old, new: old };
    }),
    state,
  );
