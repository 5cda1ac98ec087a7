/** Reads a client's messages before its authentication. */
import type { Socket } from "node:net";
import { parseStartup, REQUESTS, SessionError, type Startup } from "./protocol";

/** As in Postgres. */
const LONGEST_STARTUP = 10_000;
/** Longer than any message of SCRAM. */
const LONGEST_PASSWORD = 2_000;

/** The client disconnected, or sent something that cannot be answered. */
export class Gone extends Error {}

/** Reads a client's bytes by count. Unread bytes stay in the socket, which limits them. */
export class Input {
  #arrived: (() => void) | undefined;
  readonly #look = (): void => {
    this.#arrived?.();
    // Without a pending read, the client's end is noticed only by reading.
    if (this.#arrived === undefined && this.socket.readableLength === 0) this.socket.read();
  };

  /** The signal is aborted when the socket closes. */
  constructor(
    readonly socket: Socket,
    private readonly signal: AbortSignal,
  ) {
    // Added once: a listener added while bytes are waiting is called immediately and repeatedly, and blocks everything
    // else.
    socket.on("readable", this.#look);
    signal.addEventListener("abort", () => this.#arrived?.(), { once: true });
  }

  /** @throws Gone, or the reason of the signal */
  async take(count: number): Promise<Buffer> {
    for (;;) {
      this.signal.throwIfAborted();
      // Null until that many bytes have arrived. At the end of the stream it may be fewer.
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

  /** From now on the socket is in flowing mode. */
  release(): Socket {
    return this.socket.off("readable", this.#look);
  }
}

export type FirstMessage =
  | { readonly kind: "startup"; readonly startup: Startup }
  | { readonly kind: "cancel"; readonly processId: number; readonly secretKey: number };

/**
 * The first message that requests a session or a cancellation. Encryption is declined.
 * @throws SessionError, Gone
 */
export async function readFirstMessage(input: Input): Promise<FirstMessage> {
  // Like Postgres, allows a client to request each kind of encryption once.
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
