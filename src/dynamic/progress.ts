import type { Log } from "./engineLog";

const SHORTEST_PAUSE_MS = 2_000;

/** The moving line of one call: a new text at most every 2 s, and only when it differs. */
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
