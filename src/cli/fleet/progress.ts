import { terminalText } from "../output";

/** One line on standard error for a waiting user. Nothing if that is no terminal. */
export class ProgressLine {
  #begun = 0;
  #done = 0;
  #what = "";

  /** Begins another phase of so many steps. */
  begin(what: string, steps: number): void {
    this.#what = what;
    this.#begun = steps;
    this.#done = 0;
    this.show();
  }

  step(): void {
    this.#done += 1;
    this.show();
  }

  /** `note`: why it waits. */
  show(note = ""): void {
    const counts = `${this.#what}: ${this.#done} of ${this.#begun}`;
    this.#write(terminalText(note === "" ? counts : `${counts}, ${note}`));
  }

  end(): void {
    this.#write("");
  }

  #write(text: string): void {
    const { isTTY, columns } = process.stderr;
    // Some terminals do not tell their width.
    const width = columns > 1 ? columns : 80;
    if (isTTY) process.stderr.write(`\r\u001B[K${text.slice(0, width - 1)}`);
  }
}
