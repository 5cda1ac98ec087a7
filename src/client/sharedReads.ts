/**
 * Lists that several callers need at the same time are asked for once, and kept until the collection changes: a refresh of many
 * resources costs one call for each collection and project.
 */
export class SharedReads {
  readonly #kept = new Map<string, Promise<unknown>>();
  readonly #changing = new Map<string, number>();
  readonly #epochs = new Map<string, number>();

  /** `key` names collection and project, and so stands for one type of answer. */
  get<T>(key: string, fetch: () => Promise<T>, fresh = false): Promise<T> {
    const kept = this.#kept.get(key);
    // One key is only ever asked with one fetch, so what is kept under it has that fetch's type.
    if (kept !== undefined && !fresh) return kept as Promise<T>;
    const flight = fetch();
    this.#kept.set(key, flight);
    const drop = (): void => {
      if (this.#kept.get(key) === flight) this.#kept.delete(key);
    };
    // What was read while a change is under way is shared by those who ask meanwhile, and not kept.
    flight.then(() => this.#changing.has(key) && drop(), drop);
    return flight;
  }

  /** Another one after each change of ours: what was read in one epoch tells nothing of the next. */
  epoch(key: string): number {
    return this.#epochs.get(key) ?? 0;
  }

  /** To be called before a change of these collections is sent; the answer is to be called when the change is over, also a failed one. */
  change(keys: readonly string[]): () => void {
    const count = (key: string, by: number): void => {
      const left = (this.#changing.get(key) ?? 0) + by;
      if (left > 0) this.#changing.set(key, left);
      else this.#changing.delete(key);
      this.#kept.delete(key);
      this.#epochs.set(key, this.epoch(key) + 1);
    };
    keys.forEach((key) => count(key, 1));
    let over = false;
    return () => {
      if (over) return;
      over = true;
      keys.forEach((key) => count(key, -1));
    };
  }
}
