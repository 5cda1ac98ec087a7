/** Cuts the stream of a connection into whole messages of the types that matter, and pieces of all others. */

import { HEAD } from "./protocol";

/** The longest message that Postgres accepts. */
const LONGEST = 2 ** 30;

export interface Piece {
  /** Undefined for bytes that pass as they are. */
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

export class Pieces {
  /** Of a message that is not complete. */
  #kept: Buffer[] = [];
  #keptLength = 0;
  #needed = HEAD;
  /** Of a message that passes. */
  #left = 0;

  constructor(
    /** The types of which whole messages are cut. */
    private readonly whole: string,
    /** The types of which only the beginning is marked. */
    private readonly marked = "",
  ) {}

  get isBetween(): boolean {
    return this.#keptLength === 0 && this.#left === 0;
  }

  cut(chunk: Buffer): Piece[] {
    this.#kept.push(chunk);
    this.#keptLength += chunk.length;
    // A long message is copied once, and not with each of its chunks.
    if (this.#left === 0 && this.#keptLength < this.#needed) return [];
    const bytes = this.#kept.length === 1 ? chunk : Buffer.concat(this.#kept);
    const pieces: Piece[] = [];
    let at = 0;
    let passed = 0;
    let type: string | undefined;
    const pass = (): void => {
      if (at > passed) pieces.push({ type, bytes: bytes.subarray(passed, at) });
      passed = at;
      type = undefined;
    };
    this.#needed = HEAD;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const count = Math.min(this.#left, bytes.length - at);
        this.#left -= count;
        at += count;
        continue;
      }
      if (bytes.length - at < HEAD) break;
      const letter = String.fromCharCode(bytes.readUInt8(at));
      // An invalid length passes: the receiver refuses it.
      const length = Math.max(HEAD, 1 + bytes.readUInt32BE(at + 1));
      if (this.whole.includes(letter) && length <= LONGEST) {
        if (bytes.length - at < length) {
          this.#needed = length;
          break;
        }
        pass();
        type = letter;
        at += length;
        pass();
        continue;
      }
      if (this.marked.includes(letter)) {
        pass();
        type = letter;
      }
      this.#left = length;
    }
    pass();
    this.#kept = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#keptLength = bytes.length - at;
    return pieces;
  }
}
