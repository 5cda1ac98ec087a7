/** A line that a protocol shows to the user. */
export interface LogLine {
  readonly severity: "info" | "warning";
  readonly message: string;
  readonly urn: string | undefined;
  /** Progress: replaced by the next line, not kept. */
  readonly ephemeral: boolean;
}

export type Log = (line: LogLine) => void;

const SHORTEST_PAUSE_MS = 2_000;

/** The progress line of one call: a new text at most every 2 s, and only if it differs. */
export class Progress {
  #shown: string | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;
  #next: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly log: Log,
    private readonly urn: string | undefined,
    private readonly quiet: boolean,
  ) {}

  show(text: string): void {
    this.#next = text;
    const waitMs = this.#shownAt + SHORTEST_PAUSE_MS - performance.now();
    if (waitMs <= 0) return this.#send();
    this.#timer ??= setTimeout(() => this.#send(), waitMs).unref();
  }

  /** Clears the line: otherwise the engine leaves the last text on the finished resource. */
  end(): void {
    clearTimeout(this.#timer);
    this.#next = "";
    if (this.#shown !== undefined) this.#send();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#next;
    if (this.quiet || this.urn === undefined || text === undefined || text === this.#shown) return;
    this.#shown = text;
    this.#shownAt = performance.now();
    this.log({ severity: "info", message: text, urn: this.urn, ephemeral: true });
  }
}
