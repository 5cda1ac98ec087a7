import { sleep } from "./within";

/** What somebody misses in a list. */
export interface Missing<T> {
  /** The list that lacks it. */
  list: T;
  isLackedBy: (list: T) => boolean;
  /** Of the collection; see SharedReads. */
  epoch: number;
}

/** Two lists of a project, with a while between them and no change of ours. */
interface Pair<T> {
  first: T;
  second: T;
  epoch: number;
}

/** One list of a project from a while later, shared by all who miss something in the one of now. */
export class LaterLists<T> {
  readonly #coming = new Map<string, Promise<T>>();
  readonly #pairs = new Map<string, Pair<T>>();

  async get(projectId: string, afterMs: number, missing: Missing<T>, list: () => Promise<T>): Promise<T> {
    const { list: first, isLackedBy, epoch } = missing;
    const pair = this.#pairs.get(projectId);
    // Somebody has waited before, and both of his lists lack it too.
    if (pair?.epoch === epoch && isLackedBy(pair.first) && isLackedBy(pair.second)) return pair.second;
    const known = this.#coming.get(projectId);
    if (known !== undefined) return known;
    const coming = sleep(afterMs)
      .then(list)
      .finally(() => this.#coming.delete(projectId));
    this.#coming.set(projectId, coming);
    const second = await coming;
    this.#pairs.set(projectId, { first, second, epoch });
    return second;
  }
}
