/**
 * Who in the program holds an object of the service. A resource that was renamed without an alias is created under its new
 * name, takes over what stands, and is deleted under its old one: what somebody else holds then stays.
 *
 * Resources are told apart by the URN that their state carries, which an alias leaves behind.
 */
export class Holders {
  readonly #holders = new Map<string, Set<string>>();
  readonly #makers = new Map<string, string>();

  hold(objects: readonly string[], urn: string | undefined): void {
    for (const object of objects) {
      const holders = this.#holders.get(object) ?? new Set();
      this.#holders.set(object, holders.add(urn ?? ""));
    }
  }

  release(objects: readonly string[], urn: string | undefined): void {
    for (const object of objects) this.#holders.get(object)?.delete(urn ?? "");
  }

  /** The URN of a resource other than this one that holds the object. */
  other(object: string, urn: string | undefined): string | undefined {
    return [...(this.#holders.get(object) ?? [])].find((holder) => holder !== (urn ?? ""));
  }

  /** Notes that this process has created an object, or taken it over. */
  made(object: string, urn: string | undefined): void {
    this.#makers.set(object, urn ?? "");
  }

  /**
   * Because of whom an object stays that this resource is to be deleted with. What this process has made stays whatever
   * the URN: the engine never deletes what it has created in the same command, so it means what stood there before.
   */
  keeper(object: string, urn: string | undefined): string | undefined {
    return this.#makers.get(object) ?? this.other(object, urn);
  }
}
