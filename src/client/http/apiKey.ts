/** The key that requests carry. One that comes from a file may be replaced while a long command runs: after a 401 it is read anew. */
export class ApiKey {
  // In no property that is shown: a client that is logged must not show it.
  #value: string;
  readonly #refused = new Set<string>();
  readonly #renew: () => string | undefined;
  /** Which key it is now, without the key itself. */
  version = 0;

  constructor(value: string, renew: () => string | undefined = () => undefined) {
    this.#value = value;
    this.#renew = renew;
  }

  authorization(): string {
    return `Bearer ${this.#value}`;
  }

  /**
   * The service has refused the key of this version: whether there is another one by now. A key that was refused before is none,
   * so that a request is sent once with each key, and comes to an end.
   */
  isRenewed(version: number): boolean {
    // By another request that was refused at the same time.
    if (version !== this.version) return true;
    this.#refused.add(this.#value);
    const found = this.#renew();
    if (found === undefined || this.#refused.has(found)) return false;
    this.#value = found;
    this.version += 1;
    return true;
  }
}
