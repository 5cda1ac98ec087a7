import { once, EventEmitter } from "node:events";
import { inSeconds, WaitTimeoutError, withDeadline, type Deadline } from "../client";

/**
 * The memory of one run (docs/design/rules.md, 4). What is asked at the moment of acting is synchronous.
 *
 * Resources are told apart by the URN that their state carries, which an alias leaves behind. Objects have names that
 * tell kind, project and id, such as `compute prj-1/ep-1`.
 */

/** An object that a resource declares. `shared`: several may, beside none that declares it alone. */
export interface Claim {
  readonly object: string;
  /** For messages: what both declare, by the names of arguments, since a value may be a secret. */
  readonly what: string;
  readonly shared?: boolean;
}

/** Of an object that is being deleted, or moved away. */
export interface Departure {
  /** Never rejects. */
  readonly over: Promise<void>;
  /** The object whose place it waits for. */
  waitsFor?: string;
}

type Fate = { readonly keptBy?: string; readonly departure?: Departure; readonly isDeleted?: boolean };

export const nameOf = (urn: string): string => urn.split("::").at(-1) ?? urn;

/** Instead of a deletion: the object is another resource's by now. */
export class KeptError extends Error {
  constructor(readonly keeper: string) {
    super(`managed by "${nameOf(keeper)}" of this program`);
  }
}

export class RunMemory {
  readonly #claims = new Map<string, readonly Claim[]>();
  readonly #held = new Map<string, { readonly stateUrn: string; readonly objects: readonly string[] }>();
  readonly #fates = new Map<string, Fate>();
  /** Tells by an object's name that it begins to leave. */
  readonly #departures = new EventEmitter().setMaxListeners(0);

  /** Notes what a resource declares. Answers what another one declares too, and which. */
  declare(urn: string, claims: readonly Claim[]): { what: string; urn: string }[] {
    this.#claims.set(urn, claims);
    const others = [...this.#claims].filter(([other]) => other !== urn);
    return claims.flatMap(({ object, what, shared = false }) => {
      const twin = others.find(([, theirs]) =>
        theirs.some((claim) => claim.object === object && !(shared && claim.shared === true)),
      );
      return twin === undefined ? [] : [{ what, urn: twin[0] }];
    });
  }

  /**
   * Notes the objects that a resource has in its state and goes on managing. `stateUrn`: the URN in its state, with which
   * its deletion comes; several resources may have the same there, once a name is given to another.
   */
  hold(urn: string, objects: readonly string[], stateUrn = urn): void {
    this.#held.set(urn, { stateUrn, objects });
  }

  /** Another resource that has the object in its state, or has made it or taken it over in this run. */
  holder(object: string, urn: string): string | undefined {
    const keeper = this.#fates.get(object)?.keptBy;
    if (keeper !== undefined && keeper !== urn) return keeper;
    for (const [other, { stateUrn, objects }] of this.#held)
      if (other !== urn && stateUrn !== urn && objects.includes(object)) return other;
    return undefined;
  }

  /** The resource of this URN, or with this URN in its state, gives the objects up. */
  giveUp(objects: readonly string[], urn: string): void {
    for (const [one, held] of this.#held) {
      if (one !== urn && held.stateUrn !== urn) continue;
      this.#held.set(one, { ...held, objects: held.objects.filter((object) => !objects.includes(object)) });
    }
  }

  keep(object: string, urn: string): void {
    this.#fates.set(object, { keptBy: urn });
  }

  /**
   * Takes over an object that stands, in the same tick as it was seen to be free for that.
   * @throws when another resource of the program has it.
   */
  take(object: string, urn: string): void {
    const keeper = this.holder(object, urn);
    if (keeper !== undefined)
      throw new Error(`${object} is managed by "${nameOf(keeper)}" of this program already. Declare it once`);
    if (this.departure(object) !== undefined)
      throw new Error(`${object} is being deleted or moved away in this run. Run pulumi up again`);
    this.keep(object, urn);
  }

  /** @throws when another resource of this run has made the object, or taken it over. */
  checkOwn(object: string, urn: string): void {
    const keeper = this.#fates.get(object)?.keptBy;
    if (keeper !== undefined && keeper !== urn)
      throw new Error(
        `${object} was taken over by "${nameOf(keeper)}" of this program in the same run, since it still existed. ` +
          `Take "${nameOf(keeper)}" out of the program, run pulumi up (which leaves the object alone), and put it back`,
      );
  }

  /** It was taken over, and could not be brought into the state. */
  release(object: string): void {
    this.#fates.delete(object);
  }

  /**
   * Who keeps the object from the deletion that comes with this URN. What this run has made or taken over is not deleted,
   * whatever the URN: a replacement bears the one of what it replaces.
   */
  keeper(object: string, urn: string): string | undefined {
    return this.#fates.get(object)?.keptBy ?? this.holder(object, urn);
  }

  /**
   * Call right before a deletion leaves.
   * @throws when all of these objects are kept.
   */
  checkDeletable(objects: readonly string[], urn: string): void {
    const keepers = objects.map((object) => this.keeper(object, urn));
    const [keeper] = keepers;
    if (keeper !== undefined && !keepers.includes(undefined)) throw new KeptError(keeper);
  }

  /** The memory as a call of one resource sees it. `onTaken` hears of what the call takes over. */
  seenBy(urn: string, deadline: Deadline, siblingStartsMs: number, onTaken: (object: string) => void) {
    return {
      take: (object: string) => {
        this.take(object, urn);
        onTaken(object);
      },
      checkOwn: (object: string) => this.checkOwn(object, urn),
      isKept: (object: string) => this.keeper(object, urn) !== undefined,
      wasDeleted: (object: string) => this.wasDeleted(object),
      departure: (object: string) => this.departure(object),
      /** Also when the engine begins with a sibling's change a moment later. */
      leavesSoon: (object: string) => this.leavesWithin(object, siblingStartsMs),
      untilFree: (object: string, still?: string) => this.untilFree(object, deadline, still),
      whileLeaving: <Result>(objects: readonly string[], deletes: boolean, work: () => Promise<Result>) =>
        this.whileLeaving(objects, urn, deletes, work),
    };
  }

  departure(object: string): Departure | undefined {
    return this.#fates.get(object)?.departure;
  }

  /** Whether somebody is deleting the object, or moving it away, or begins with that within this time. */
  async leavesWithin(object: string, ms: number): Promise<boolean> {
    if (this.departure(object) !== undefined) return true;
    const begun = once(this.#departures, object, { signal: AbortSignal.timeout(ms) });
    return (await begun.catch(() => undefined)) !== undefined;
  }

  /**
   * Waits while somebody is deleting the object, or moving it away. Answers whether this run has deleted it.
   * @throws at the deadline, with `still`: what was under way.
   */
  async untilFree(object: string, deadline: Deadline, still = `${object} was still being deleted`): Promise<boolean> {
    const departure = this.departure(object);
    if (departure === undefined) return this.wasDeleted(object);
    const late = ({ totalMs }: Deadline) => new WaitTimeoutError(`${still} after ${inSeconds(totalMs)}`);
    await withDeadline(deadline, departure.over, late);
    return this.untilFree(object, deadline, still);
  }

  wasDeleted(object: string): boolean {
    return this.#fates.get(object)?.isDeleted === true;
  }

  /** While `work` runs, nobody takes these objects over; afterwards, when it deletes them and ended well, they are deleted. */
  async whileLeaving<Result>(
    objects: readonly string[],
    urn: string,
    deletes: boolean,
    work: () => Promise<Result>,
  ): Promise<Result> {
    // Where two delete the same, the first one tells how that ends.
    const isFree = (object: string): boolean =>
      this.departure(object) === undefined && (this.#fates.get(object)?.keptBy ?? urn) === urn;
    const before = objects.filter(isFree).map((object) => [object, this.#fates.get(object) ?? {}] as const);
    // Begins when it is noted below that they leave.
    const working = Promise.resolve().then(work);
    const over = Promise.allSettled([working]).then(([{ status }]) => {
      const isDeleted = deletes && status === "fulfilled";
      for (const [object, fate] of before)
        if (this.departure(object) === departure) this.#fates.set(object, isDeleted ? { isDeleted } : fate);
    });
    const departure: Departure = { over };
    for (const [object] of before) {
      this.#fates.set(object, { departure });
      this.#departures.emit(object);
    }
    return over.then(() => working);
  }
}
