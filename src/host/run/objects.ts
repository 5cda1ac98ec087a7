/** What happens to objects in one run: who has created or taken over one, what is being deleted or moved away. */
import { once, EventEmitter } from "node:events";
import { type Deadline, inSeconds, WaitTimeoutError, withDeadline } from "../../client";
import type { Asker, Neighbours } from "./others";

/** A deletion of an object, or a move away, in progress. */
export interface Release {
  /** Settles when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** The object that must leave first. */
  waitsFor?: string;
}

interface ObjectState {
  readonly owner?: string;
  readonly release?: Release;
  readonly isDeleted?: boolean;
}

export class Objects {
  readonly #states = new Map<string, ObjectState>();
  /** Emits the name of an object when its release begins. */
  readonly #releases = new EventEmitter().setMaxListeners(0);

  constructor(private readonly neighbours: Neighbours) {}

  /** The resource that created the object, or took it over, in this run. */
  ownerOf(object: string): string | undefined {
    const elsewhere = this.neighbours.certain(object).map(({ state }) => state.owner);
    return [this.#states.get(object)?.owner, ...elsewhere].find((owner) => owner !== undefined);
  }

  /** Records that the resource created the object, or took it over, in this run. */
  setOwner(object: string, urn: string): void {
    this.#setState(object, { owner: urn });
  }

  /** For an object that was taken over but not stored. */
  forgetOwner(object: string): void {
    this.#setState(object, {});
  }

  /** The returned function puts back what is recorded of the object now. */
  snapshot(object: string): () => void {
    const before = this.#states.get(object) ?? {};
    return () => this.#setState(object, before);
  }

  release(object: string): Release | undefined {
    return this.#states.get(object)?.release;
  }

  /** Whether the object is being deleted or moved away, or that begins within this time. */
  async leavesWithin(object: string, ms: number): Promise<boolean> {
    if (this.release(object) !== undefined) return true;
    const begun = once(this.#releases, object, { signal: AbortSignal.timeout(ms) });
    return (await begun.catch(() => undefined)) !== undefined;
  }

  /**
   * Waits while the object is being deleted or moved away. Returns whether this run has deleted it.
   * @throws at the deadline, with `still`: what was in progress.
   */
  async waitUntilFree(
    object: string,
    deadline: Deadline,
    still = `${object} was still being deleted`,
  ): Promise<boolean> {
    const release = this.release(object);
    if (release === undefined) return this.wasDeleted(object);
    const late = ({ totalMs }: Deadline) => new WaitTimeoutError(`${still} after ${inSeconds(totalMs)}`);
    await withDeadline(deadline, release.ended, late);
    return this.waitUntilFree(object, deadline, still);
  }

  wasDeleted(object: string): boolean {
    const own = this.#states.get(object);
    const elsewhere = this.neighbours.others.of(object);
    const isDeleted =
      own?.isDeleted === true || elsewhere.some(({ doubt, state }) => doubt === undefined && state.isDeleted);
    // What was created again after that is there.
    return isDeleted && [own, ...elsewhere.map(({ state }) => state)].every((one) => one?.owner === undefined);
  }

  /** Whether this process has deleted such an object. */
  hasDeleted(matches: (object: string) => boolean): boolean {
    return [...this.#states].some(([object, { isDeleted = false }]) => isDeleted && matches(object));
  }

  /** Whether this process has created such an object or taken it over. */
  hasOwned(matches: (object: string) => boolean): boolean {
    return [...this.#states].some(([object, { owner }]) => owner !== undefined && matches(object));
  }

  /**
   * While `work` runs, these objects cannot be taken over. If it `deletes` them and succeeds, they are recorded as
   * deleted.
   */
  async whileReleasing<Result>(
    { objects, by, deletes }: { objects: readonly string[]; by: Asker; deletes: boolean },
    work: () => Promise<Result>,
  ): Promise<Result> {
    // If two deletions concern the same object, the first one counts.
    const isFree = (object: string): boolean =>
      this.release(object) === undefined && (this.#states.get(object)?.owner ?? by) === by;
    const before = objects.filter(isFree).map((object) => [object, this.#states.get(object) ?? {}] as const);
    // Starts after the releases are recorded below.
    const working = Promise.resolve().then(work);
    const over = Promise.allSettled([working]).then(([{ status }]) => {
      const isDeleted = deletes && status === "fulfilled";
      for (const [object, earlier] of before)
        if (this.release(object) === release) this.#setState(object, isDeleted ? { isDeleted } : earlier);
    });
    const release: Release = { ended: over };
    for (const [object] of before) {
      this.#setState(object, { release });
      this.#releases.emit(object);
    }
    return over.then(() => working);
  }

  #setState(object: string, state: ObjectState): void {
    this.#states.set(object, state);
    const { owner, release, isDeleted = false } = state;
    this.neighbours.others.tellState(object, { owner, isLeaving: release !== undefined, isDeleted });
  }
}
