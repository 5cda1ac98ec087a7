/**
 * The key that requests carry. A key from a file may be replaced while a long command runs: after a 401 it is read
 * again.
 */
export class ApiKey {
  // Private: logging a client must not show it.
  #value: string;
  readonly #renew: () => string | undefined;

  constructor(value: string, renew: () => string | undefined = () => undefined) {
    this.#value = value;
    this.#renew = renew;
  }

  authorization(): string {
    return `Bearer ${this.#value}`;
  }

  /** Empty without a key: an emulator on a loopback address needs none. */
  headers(): { readonly Authorization?: string } {
    return this.#value === "" ? {} : { Authorization: this.authorization() };
  }

  /**
   * Whether there is another key for a request that the service has refused: one that the request was not sent with, so
   * that each key is tried once and the request ends. A later request may try an earlier key again: a rotation can be
   * undone.
   * @param refused the keys that the request was sent with, including the last one, as `authorization` returned them.
   */
  isRenewed(refused: ReadonlySet<string>): boolean {
    // Another request that was refused at the same time has renewed it.
    if (!refused.has(this.authorization())) return true;
    const found = this.#renew();
    if (found === undefined || refused.has(`Bearer ${found}`)) return false;
    this.#value = found;
    return true;
  }
}
