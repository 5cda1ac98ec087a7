/** The key that requests carry. One that comes from a file may be replaced while a long command runs: after a 401 it is read anew. */
export class ApiKey {
  // In no property that is shown: a client that is logged must not show it.
  #value: string;
  readonly #renew: () => string | undefined;

  constructor(value: string, renew: () => string | undefined = () => undefined) {
    this.#value = value;
    this.#renew = renew;
  }

  authorization(): string {
    return `Bearer ${this.#value}`;
  }

  /**
   * Whether there is another key by now for a request that the service has refused: one that it was not sent with, so that it is
   * sent once with each key, and comes to an end. A later request may try an earlier key again: a rotation can be taken back.
   * @param refused what the request was sent with, the last one too, as `authorization` gave it.
   */
  isRenewed(refused: ReadonlySet<string>): boolean {
    // By another request that was refused at the same time.
    if (!refused.has(this.authorization())) return true;
    const found = this.#renew();
    if (found === undefined || refused.has(`Bearer ${found}`)) return false;
    this.#value = found;
    return true;
  }
}
