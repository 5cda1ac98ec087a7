import { type ClientOptions, Granted, type Permission, Refused, Unknown } from "../../client";
import { hostAndPort } from "../../contract/hostAndPort";
import { messageOf } from "../../contract/untrusted";
import { requestTrace } from "../../contract/settings";
import { Session } from "../../host/session";
import { isAgreed } from "../ask";
import { EXIT } from "../exitCodes";
import { inParallel } from "../fleet/inParallel";
import { ProgressLine } from "../fleet/progress";
import type { FleetState } from "../fleet/states";
import type { CommandReport } from "../report/commandReport";
import { orAsJson, publish } from "../report/render";
import { say, toText } from "../report/terminal";
import { text, word } from "../report/text";
import { readSettings } from "../stack/configuration";
import { ENDING } from "../stack/pulumi";
import { BusyError } from "../stack/unfinished";
import { allStates, currentBackend, mustBeUnchanged, NamedInStates } from "./backend";
import { deleted, type Result } from "./deletions";
import { locksOf, mustBeUnlocked } from "./locks";
import { type Criteria, findIn, type FoundObject, type Place, placeOf, placesOf, storedAddresses } from "./leftBehind";
import { isService } from "./matching";
import { OUTCOMES, sweepReport, toReport } from "./report";

export interface SweepFlags extends Pick<Criteria, "match" | "olderThanMs"> {
  readonly keep?: readonly string[];
  /** Instead of the projects in which the states hold something. */
  readonly project?: string;
  /** The host of the service, as a confirmation: see `#unconfirmed`. */
  readonly service?: string;
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
  const run = new Sweep(flags, progress, timings).run().finally(() => progress.end());
  return publish(await orAsJson(flags.json === true, run), flags.json === true ? "json" : "text");
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

  async run(): Promise<CommandReport> {
    const { name: backend, address } = await currentBackend();
    const locks = locksOf(address);
    const nothingDeleted = (error: Error): never => {
      const Same = error instanceof BusyError ? BusyError : Error;
      throw new Same(`nothing was deleted: ${error.message}`);
    };
    const states = await allStates(this.progress).catch(nothingDeleted);
    // After the states: what an update has stored before it has ended is in them.
    await mustBeUnlocked(locks).catch(nothingDeleted);
    const named = new NamedInStates(states);
    const places = await this.#places(states);
    const found = await this.#find(places, named);
    this.progress.end();
    const left = found.filter(({ kept }) => kept === undefined);
    const ended = (code: number, messages: readonly string[], results?: ReadonlyMap<FoundObject, Result>) => {
      const locksNotSeen = locks instanceof Unknown ? locks.error.message : null;
      const facts = { backend, locksNotSeen, stacks: namesOf(states), places, messages };
      return sweepReport(toReport(facts, found, results), code);
    };
    if (left.length === 0) return ended(EXIT.done, []);
    if (this.flags.dryRun === true) return ended(EXIT.undeclared, ["Nothing was deleted: --dry-run"]);
    const unconfirmed = this.flags.yes === true ? this.#unconfirmed(left, states) : undefined;
    if (unconfirmed !== undefined) return ended(EXIT.usage, [`Nothing was deleted: ${unconfirmed}`]);
    if (this.flags.yes !== true) {
      if (!process.stdin.isTTY)
        return ended(EXIT.usage, ["Nothing was deleted: there is no terminal to ask on. Use --yes to delete these"]);
      process.stderr.write(toText(ended(EXIT.done, [])));
      const services = [...new Set(left.map(({ place }) => hostAndPort(place.address)))].join(" and ");
      if (!(await isAgreed(`Delete ${left.length === 1 ? "this" : `these ${left.length}`} at ${services}?`)))
        return ended(EXIT.failure, ["Nothing was deleted: the answer was no"]);
      // Hours may have passed.
      for (const { client } of places) client.forgetReads();
      if (identities(await this.#find(places, named)) !== identities(found))
        throw new BusyError("nothing was deleted: what is left behind is not what was shown any more. Run this again");
    }
    const { results, message, isBusy } = await this.#deleteAll(left, states, locks);
    const isDone = left.every((one) => ["deleted", "gone"].includes(results.get(one)?.outcome ?? ""));
    return ended(
      isDone ? EXIT.done : isBusy ? EXIT.busy : EXIT.failure,
      message === undefined ? [] : [message],
      results,
    );
  }

  /**
   * Why nobody has said at which service the objects are: an address that no state stores may be that of another service,
   * where nothing is named by any state. Undefined: a state stores it, all states agree on it, or the user has named it.
   */
  #unconfirmed(left: readonly FoundObject[], states: readonly FleetState[]): string | undefined {
    if (this.flags.service !== undefined) return undefined;
    const stored = storedAddresses(states);
    const isAgreedOn = ({ addressFrom, address }: Place): boolean =>
      addressFrom === "state" || (stored.size === 1 && stored.has(address));
    const place = left.map((one) => one.place).find((one) => !isAgreedOn(one));
    if (place === undefined) return undefined;
    const source =
      place.addressFrom === "environment" ? "SVC_BASE_URL" : "the configuration of the stack in this folder";
    const others =
      stored.size === 0 ? "no state stores an address" : `the states store ${[...stored].map(hostAndPort).join(", ")}`;
    return (
      `whether project ${place.projectId} is at ${hostAndPort(place.address)} is only said by ${source}: ${others}. ` +
      `If that is the service, run this again with --service ${new URL(place.address).host}`
    );
  }

  async #places(states: readonly FleetState[]): Promise<Place[]> {
    const { project, service } = this.flags;
    const places =
      project === undefined
        ? placesOf(states, this.#session)
        : [
            placeOf(
              project,
              { read: await readSettings(process.cwd(), undefined), stored: "configuration" },
              this.#session,
            ),
          ];
    if (places.length === 0)
      throw new Error("no stack of the backend holds a resource of pulumi-svc. Name the project with --project");
    const elsewhere = service === undefined ? undefined : places.find(({ address }) => !isService(address, service));
    if (elsewhere === undefined) return places;
    throw new Error(
      `nothing was deleted: project ${elsewhere.projectId} is at ${hostAndPort(elsewhere.address)}, and --service names another service`,
    );
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
      say(text`${signal}: the deletion that was sent ends, then the report follows. Wait for that`);
    };
    for (const signal of ENDING) process.on(signal, stop);
    const mayGoByStates = async (isRepeated: boolean): Promise<Permission> => {
      try {
        if (isRepeated || performance.now() - readAt >= freshMs) {
          readAt = performance.now();
          await mustBeUnchanged(states, this.progress);
        }
        await mustBeUnlocked(locks);
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
      say(text`${OUTCOMES[result.outcome]}: ${word(one.object.kind)} ${one.object.id}`);
      if (result.isFailure === true) message ??= "Nothing more was deleted after the failure";
    }
    for (const signal of ENDING) process.off(signal, stop);
    return { results, message, isBusy };
  }
}

const namesOf = (states: readonly FleetState[]): string[] => states.map(({ stack: { name } }) => name);

/** Whatever would change the answer. */
const identities = (found: readonly FoundObject[]): string =>
  JSON.stringify(
    found.map((one) => [...[one.place.address, one.object.id, one.object.describe, one.kept], one.leftover.facts]),
  );
