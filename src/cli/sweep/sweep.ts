import { type ClientOptions, Granted, type Permission, Refused, Unknown } from "../../client";
import { messageOf } from "../../contract/untrusted";
import { requestTrace } from "../../contract/settings";
import { Session } from "../../host/session";
import { isAgreed } from "../ask";
import { inParallel } from "../fleet/inParallel";
import { ProgressLine } from "../fleet/progress";
import type { FleetState } from "../fleet/states";
import { terminalJson, terminalText, wantsColours } from "../output";
import { readSettings } from "../stack/configuration";
import { ENDING } from "../stack/pulumi";
import { BusyError } from "../stack/unfinished";
import { allStates, currentBackend, mustBeUnchanged, NamedInStates } from "./backend";
import { deleted, type Result } from "./deletions";
import { locksOf, mustBeUnlocked } from "./locks";
import { type Criteria, findIn, type FoundObject, type Place, placeOf, placesOf } from "./leftBehind";
import { EXIT, OUTCOMES, render, type SweepReport, toReport } from "./report";

export interface SweepFlags extends Pick<Criteria, "match" | "olderThanMs"> {
  readonly keep?: readonly string[];
  /** Instead of the projects in which the states hold something. */
  readonly project?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

/** For tests, which use short delays. */
interface Timings {
  readonly client?: Partial<ClientOptions>;
  /** How long the states that were read last are believed. */
  readonly freshMs?: number;
  /** How long one deletion may take. */
  readonly deadlineMs?: number;
}

const PARALLEL = 8;

/**
 * Deletes what previews have left behind, and returns the exit code.
 * @throws a message for the user if nothing was deleted, because too little is known.
 */
export async function sweep(flags: SweepFlags, timings: Timings = {}): Promise<number> {
  const progress = new ProgressLine();
  const { code, report } = await new Sweep(flags, progress, timings)
    .run()
    .finally(() => progress.end())
    .catch((error: Error) => {
      if (flags.json === true) process.stdout.write(`${terminalJson({ messages: error.message.split("\n") })}\n`);
      throw error;
    });
  process.stdout.write(render(report, { json: flags.json === true, colours: wantsColours() }));
  return code;
}

interface Ended {
  readonly code: number;
  readonly report: SweepReport;
}

class Sweep {
  readonly #criteria: Criteria;
  readonly #session: Session;

  constructor(
    private readonly flags: SweepFlags,
    private readonly progress: ProgressLine,
    private readonly timings: Timings,
  ) {
    this.#criteria = { ...flags, keep: flags.keep ?? [], now: new Date() };
    this.#session = new Session(() => undefined, { client: { trace: requestTrace(), ...timings.client } });
  }

  async run(): Promise<Ended> {
    const { name: backend, address } = await currentBackend();
    const locks = locksOf(address);
    const nothingDeleted = (error: Error): never => {
      const Same = error instanceof BusyError ? BusyError : Error;
      throw new Same(`nothing was deleted: ${error.message}`);
    };
    const states = await allStates(this.progress).catch(nothingDeleted);
    // After the states: what an update has stored before it has ended is in them.
    await mustBeUnlocked(locks, namesOf(states)).catch(nothingDeleted);
    const named = new NamedInStates(states);
    const places = await this.#places(states);
    const found = await this.#find(places, named);
    this.progress.end();
    const left = found.filter(({ kept }) => kept === undefined);
    const ended = (code: number, messages: readonly string[], results?: ReadonlyMap<FoundObject, Result>): Ended => {
      const projects = places.map(({ projectId }) => projectId);
      const locksNotSeen = locks instanceof Unknown ? locks.error.message : null;
      const facts = { backend, locksNotSeen, stacks: namesOf(states), projects, messages };
      return { code, report: toReport(facts, found, results) };
    };
    if (left.length === 0) return ended(EXIT.done, []);
    if (this.flags.dryRun === true) return ended(EXIT.leftBehind, ["Nothing was deleted: --dry-run"]);
    if (this.flags.yes !== true) {
      if (!process.stdin.isTTY)
        return ended(EXIT.notAsked, ["Nothing was deleted: there is no terminal to ask on. Use --yes to delete these"]);
      process.stderr.write(render(ended(EXIT.done, []).report, { json: false, colours: false }));
      if (!(await isAgreed(`Delete ${left.length === 1 ? "this" : `these ${left.length}`}?`)))
        return ended(EXIT.failed, ["Nothing was deleted: the answer was no"]);
      // Hours may have passed.
      for (const { client } of places) client.forgetReads();
      if (identities(await this.#find(places, named)) !== identities(found))
        throw new BusyError("nothing was deleted: what is left behind is not what was shown any more. Run this again");
    }
    const { results, message, isBusy } = await this.#deleteAll(left, states, locks);
    const isDone = left.every((one) => ["deleted", "gone"].includes(results.get(one)?.outcome ?? ""));
    return ended(
      isDone ? EXIT.done : isBusy ? EXIT.busy : EXIT.failed,
      message === undefined ? [] : [message],
      results,
    );
  }

  async #places(states: readonly FleetState[]): Promise<Place[]> {
    const { project } = this.flags;
    if (project !== undefined) {
      return [placeOf(project, await readSettings(process.cwd(), undefined), this.#session)];
    }
    const places = placesOf(states, this.#session);
    if (places.length > 0) return places;
    throw new Error("no stack of the backend holds a resource of pulumi-svc. Name the project with --project");
  }

  async #find(places: readonly Place[], named: NamedInStates): Promise<FoundObject[]> {
    this.progress.begin("projects read", places.length);
    const onProgress = (note: string): void => this.progress.show(note);
    const found = await inParallel(PARALLEL, places, async (place) => {
      const inProject = await findIn(place, this.#criteria, named, { onProgress }).catch((error: unknown) => {
        throw new Error(`nothing was deleted: project ${place.projectId} could not be read: ${messageOf(error)}`);
      });
      this.progress.step();
      return inProject;
    });
    return found.flat();
  }

  /** One after the other. After a failure nothing more is sent. */
  async #deleteAll(left: readonly FoundObject[], states: readonly FleetState[], locks: ReturnType<typeof locksOf>) {
    // If nobody sees locks, the states alone show what an update does.
    const { freshMs = locks instanceof Unknown ? 0 : 30_000, deadlineMs = 300_000 } = this.timings;
    const results = new Map<FoundObject, Result>();
    let message: string | undefined;
    let isBusy = false;
    let readAt = -Infinity;
    const stop = (signal: string): void => {
      message ??= `Nothing more was deleted after ${signal}`;
      say(`${signal}: the deletion that was sent ends, then the report follows. Wait for that`);
    };
    for (const signal of ENDING) process.on(signal, stop);
    const mayGoByStates = async (isRepeated: boolean): Promise<Permission> => {
      try {
        if (isRepeated || performance.now() - readAt >= freshMs) {
          readAt = performance.now();
          await mustBeUnchanged(states, this.progress);
        }
        await mustBeUnlocked(locks, namesOf(states));
        return Granted.proven();
      } catch (error) {
        isBusy = error instanceof BusyError;
        const reason = messageOf(error).replaceAll("\n", "; ");
        message = `Nothing more was deleted: ${reason}. Run this again`;
        return Refused.proven(new Error(reason));
      }
    };
    // Not that of the states, which are read in between.
    const line = new ProgressLine();
    line.begin("deletions ended", left.length);
    const onProgress = (note: string): void => line.show(note);
    for (const one of left) {
      if (message !== undefined) break;
      const result = await deleted(one, { deadlineMs, mayGoByStates, onProgress });
      line.step();
      line.end();
      results.set(one, result);
      say(`${OUTCOMES[result.outcome]}: ${one.object.kind} ${one.object.id}`);
      if (result.isFailure === true) message ??= "Nothing more was deleted after the failure";
    }
    for (const signal of ENDING) process.off(signal, stop);
    return { results, message, isBusy };
  }
}

const namesOf = (states: readonly FleetState[]): string[] => states.map(({ stack: { name } }) => name);

const say = (text: string): void => void process.stderr.write(`pulumi-svc: ${terminalText(text)}\n`);

/** Whatever would change the answer. */
const identities = (found: readonly FoundObject[]): string =>
  JSON.stringify(
    found.map((one) => [
      ...[one.place.address, one.object.id, one.object.describe, one.kept],
      "branch" in one
        ? [one.object.record.created_at, one.branch?.id, one.branch?.name]
        : one.integration?.auth_provider_project_id,
    ]),
  );
