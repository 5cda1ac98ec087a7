/** What a client says before it is authenticated. */
import type { Socket } from "node:net";
import { parseStartup, REQUESTS, SessionError, type Startup } from "./protocol";

/** As Postgres has it. */
const LONGEST_STARTUP = 10_000;
/** Longer than any message of SCRAM. */
const LONGEST_PASSWORD = 2_000;

/** The client went away, or said something that nothing can be answered to. */
export class Gone extends Error {}

/** What a client sends, read by the number of bytes. What is not taken stays in the socket, which bounds it. */
export class Input {
  #arrived: (() => void) | undefined;
  readonly #look = (): void => {
    this.#arrived?.();
    // The end of a client that is not asked for anything is noticed only by reading it.
    if (this.#arrived === undefined && this.socket.readableLength === 0) this.socket.read();
  };

  /** The signal is aborted when the socket closes. */
  constructor(
    readonly socket: Socket,
    private readonly signal: AbortSignal,
  ) {
    // Once and for all: a listener that is added while some bytes wait is called at once, and again, and nothing else runs.
    socket.on("readable", this.#look);
    signal.addEventListener("abort", () => this.#arrived?.(), { once: true });
  }

  /** @throws Gone, or the reason of the signal */
  async take(count: number): Promise<Buffer> {
    for (;;) {
      this.signal.throwIfAborted();
      // Null until as many are there. At the end of the stream it may be fewer.
      const bytes: unknown = this.socket.read(count);
      if (Buffer.isBuffer(bytes)) {
        if (bytes.length === count) return bytes;
        throw new Gone();
      }
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
      this.#arrived = undefined;
    }
  }

  /** From now on the socket flows. */
  release(): Socket {
    return this.socket.off("readable", this.#look);
  }
}

export type FirstMessage =
  | { readonly kind: "startup"; readonly startup: Startup }
  | { readonly kind: "cancel"; readonly processId: number; readonly secretKey: number };

/**
 * The first message that asks for a session or for a cancellation. Encryption is declined.
 * @throws SessionError, Gone
 */
export async function readFirstMessage(input: Input): Promise<FirstMessage> {
  // Postgres, too, lets a client ask for each kind of encryption once.
  for (let requests = 0; requests < 3; requests += 1) {
    const length = (await input.take(4)).readUInt32BE(0);
    if (length < 8 || length > LONGEST_STARTUP) {
      throw new SessionError(
        "08P01",
        `invalid length of startup message: at most ${LONGEST_STARTUP} bytes are accepted`,
      );
    }
    const body = await input.take(length - 4);
    const code = body.readUInt32BE(0);
    if (code === REQUESTS.cancel) {
      if (body.length !== 12) throw new Gone();
      return { kind: "cancel", processId: body.readInt32BE(4), secretKey: body.readInt32BE(8) };
    }
    if (code !== REQUESTS.ssl && code !== REQUESTS.gssEncryption)
      return { kind: "startup", startup: parseStartup(body) };
    input.socket.write("N");
  }
  throw new Gone();
}

/**
 * The body of a message of SASL.
 * @throws SessionError, Gone
 */
export async function readPassword(input: Input): Promise<Buffer> {
  const head = await input.take(5);
  const length = head.readUInt32BE(1) - 4;
  if (head[0] !== "p".charCodeAt(0) || length < 0 || length > LONGEST_PASSWORD) {
    throw new SessionError("08P01", "expected a message of the SASL authentication");
  }
  return length === 0 ? Buffer.alloc(0) : input.take(length);
}
