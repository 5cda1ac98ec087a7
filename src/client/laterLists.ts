import { sleep } from "./within";

/** One list of a project from a while later, shared by all who miss something in the one of now. */
export class LaterLists<T> {
  readonly #coming = new Map<string, Promise<T>>();

  get(projectId: string, afterMs: number, list: () => Promise<T>): Promise<T> {
    const known = this.#coming.get(projectId);
    if (known !== undefined) return known;
    const coming = sleep(afterMs)
      .then(list)
      .finally(() => this.#coming.delete(projectId));
    this.#coming.set(projectId, coming);
    return coming;
  }
}
