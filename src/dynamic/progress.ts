import type { Log } from "./engineLog";

/**
 * Shorter than the 2 s that the client leaves between its texts (client/progress): with the same pause here, a text that
 * comes a millisecond early by this clock would be dropped, and the client does not repeat it.
 */
const SHORTEST_PAUSE_MS = 1_500;

/** The moving line of one call: a new text at most every 1.5 s, and only when it differs. */
export class Progress {
  #shown: string | undefined;
  #shownAt = 0;

  constructor(
    private readonly log: Log,
    private readonly urn: string | undefined,
    private readonly quiet: boolean,
  ) {}

  show(text: string): void {
    if (text === this.#shown || Date.now() - this.#shownAt < SHORTEST_PAUSE_MS) return;
    this.#send(text);
  }

  /** Clears the line: the engine would leave the last text on the finished resource. */
  end(): void {
    if (this.#shown !== undefined) this.#send("");
  }

  #send(text: string): void {
    if (this.quiet || this.urn === undefined) return;
    this.#shown = text;
    this.#shownAt = Date.now();
    this.log({ severity: "info", message: text, urn: this.urn, ephemeral: true });
  }
}
