/** Determines what a session is doing from the headers of its messages. */

import { HEAD } from "./protocol";

const code = (letter: string): number => letter.charCodeAt(0);

/**
 * Finds the messages in chunks of any size, without copying their bodies. The listener receives the type and the first
 * byte of the body. An invalid length (below its own four bytes) ends the parsing: the receiver of the bytes refuses
 * them.
 */
export class Messages {
  readonly #head = Buffer.alloc(HEAD + 1);
  #seen = 0;
  #left = 0;
  #isBroken = false;

  constructor(private readonly onMessage: (type: number, first: number) => void) {}

  /** Whether another message can be inserted here. */
  get isBetween(): boolean {
    return this.#seen === 0 && this.#left === 0 && !this.#isBroken;
  }

  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#isBroken) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        this.#left -= passed;
        at += passed;
      } else if (this.#seen === 0 && at + HEAD < chunk.length) {
        const length = chunk.readUInt32BE(at + 1);
        this.#found(chunk.readUInt8(at), length, length > 4 ? chunk.readUInt8(at + HEAD) : 0);
        at += HEAD;
      } else {
        at += this.#collect(chunk, at);
      }
    }
  }

  /** A header that is split between chunks. */
  #collect(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#head, this.#seen, at, at + HEAD + 1 - this.#seen);
    this.#seen += copied;
    if (this.#seen < HEAD) return copied;
    const length = this.#head.readUInt32BE(1);
    if (length > 4 && this.#seen === HEAD) return copied;
    // The byte after the header was only peeked at.
    const beyond = this.#seen - HEAD;
    this.#found(this.#head.readUInt8(0), length, length > 4 ? this.#head.readUInt8(HEAD) : 0);
    this.#seen = 0;
    return copied - beyond;
  }

  #found(type: number, length: number, first: number): void {
    if (length < 4) {
      this.#isBroken = true;
      return;
    }
    this.#left = length - 4;
    this.onMessage(type, first);
  }
}

/** Messages that get no answer and need no Sync: Flush, and the data of a COPY, also after its failure. */
const UNANSWERED = new Set([..."Hd"].map(code));

export class Traffic {
  /** Queries (or function calls) and Syncs whose ReadyForQuery has not arrived, and the ends of the data of a COPY. */
  #pending: ("query" | "sync" | "end")[] = [];
  #isBatchOpen = false;
  #isCopyingIn = false;
  #isLeaving = false;
  #transaction = code("I");
  #last = 0;

  readonly #client = new Messages((type) => {
    switch (type) {
      case code("Q"):
      case code("F"):
        this.#pending.push("query");
        break;
      case code("S"):
        // While the server reads a COPY, it ignores a Sync.
        if (this.#isCopyingIn) break;
        this.#pending.push("sync");
        this.#isBatchOpen = false;
        break;
      case code("X"):
        this.#isLeaving = true;
        break;
      case code("c"):
      case code("f"):
        this.#isCopyingIn = false;
        if (this.#pending.length > 0) this.#pending.push("end");
        break;
      default:
        // The server ends the session after a message of an unknown type.
        if (!UNANSWERED.has(type)) this.#isBatchOpen = true;
    }
  });

  readonly #server = new Messages((type, first) => {
    this.#last = type;
    switch (type) {
      case code("Z"):
        this.#transaction = first;
        this.#isCopyingIn = false;
        this.#pending.splice(0, this.#pending.findIndex((one) => one !== "end") + 1);
        while (this.#pending[0] === "end") this.#pending.shift();
        break;
      case code("G"):
        this.#copyBegins();
        break;
      case code("E"):
        this.#isCopyingIn = false;
        break;
    }
  });

  /** The Sync that libpq sends after the COPY of a batch is ignored; the one after its data counts. */
  #copyBegins(): void {
    const end = this.#pending.indexOf("end");
    this.#isCopyingIn = end < 0;
    if (this.#pending[0] === "query") return;
    this.#pending = end < 0 ? [] : this.#pending.slice(end);
    if (!this.#pending.includes("sync")) this.#isBatchOpen = true;
  }

  fromClient(chunk: Buffer): void {
    this.#client.read(chunk);
  }

  fromServer(chunk: Buffer): void {
    this.#server.read(chunk);
  }

  /** A query is running, a batch or a transaction is open, or half of a message was sent. */
  get isBusy(): boolean {
    const isWaited = this.#pending.length > 0 || this.#isBatchOpen || this.#isCopyingIn;
    return isWaited || this.#transaction !== code("I") || !this.#client.isBetween;
  }

  /** Whether a message can be inserted into what the client receives. */
  get isBetweenAnswers(): boolean {
    return this.#server.isBetween;
  }

  /**
   * Whether an error can be sent to the client: not within a message, not after the server's final error, and not if
   * the client itself has ended the session.
   */
  get canBeTold(): boolean {
    return this.isBetweenAnswers && !this.#isLeaving && this.#last !== code("E");
  }
}
