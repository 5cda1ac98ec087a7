/** Reads a client's messages before its authentication. */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { ALPN } from "./authority";
import { parseStartup, REQUESTS, SessionError, type Startup } from "./protocol";

/** As in Postgres. */
const LONGEST_STARTUP = 10_000;
/** The first byte of TLS. The length of a startup message begins with zeros. */
const TLS_HANDSHAKE = 0x16;
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

  /** Where answers are written. */
  get socket(): Socket {
    return this.client;
  }

  get isEncrypted(): boolean {
    return this.client instanceof TLSSocket;
  }

  /** The signal is aborted when the socket closes. */
  constructor(
    private client: Socket,
    private readonly signal: AbortSignal,
  ) {
    // Added once: a listener added while bytes are waiting is called immediately and repeatedly, and blocks everything
    // else.
    client.on("readable", this.#look);
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

  /** From now on the client is read and answered through TLS. */
  encrypt(wrap: (socket: Socket) => TLSSocket): void {
    const socket = this.release();
    this.client = wrap(socket);
    this.client.on("error", () => undefined); // The socket closes then.
    // TLS has no half of a connection, and one that ends during the handshake closes nothing by itself.
    for (const event of ["end", "close"]) this.client.once(event, () => socket.destroy());
    this.client.on("readable", this.#look);
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
 * The first message that requests a session or a cancellation, after the TLS that the client may ask for, or begin with.
 * @throws SessionError, Gone
 */
export async function readFirstMessage(input: Input, wrap: (socket: Socket) => TLSSocket): Promise<FirstMessage> {
  let isDirect = false;
  // Like Postgres, allows a client to request each kind of encryption once.
  for (let requests = 0; requests < 3; requests += 1) {
    const head = await input.take(4);
    if (head[0] === TLS_HANDSHAKE && requests === 0) {
      isDirect = true;
      input.socket.unshift(head);
      input.encrypt(wrap);
      continue;
    }
    if (isDirect && input.socket instanceof TLSSocket && input.socket.alpnProtocol !== ALPN) {
      throw new SessionError("08P01", `TLS without a request needs ALPN (${ALPN})`);
    }
    const length = head.readUInt32BE(0);
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
    // Which is no request any more within TLS.
    if (input.isEncrypted || (code !== REQUESTS.ssl && code !== REQUESTS.gssEncryption))
      return { kind: "startup", startup: parseStartup(body) };
    if (code === REQUESTS.gssEncryption) {
      input.socket.write("N");
      continue;
    }
    // Somebody in between may have put it there, so that it is taken for what the client sends through TLS.
    if (input.socket.readableLength > 0) throw new SessionError("08P01", "received data before the TLS handshake");
    input.socket.write("S");
    input.encrypt(wrap);
  }
  throw new Gone();
}

const isAny = (): boolean => true;

/** @throws SessionError, Gone */
export async function readMessage(
  input: Input,
  isExpected: (type: string, length: number) => boolean = isAny,
  expected = "valid message",
): Promise<{ type: string; body: Buffer }> {
  const head = await input.take(5);
  const type = head.toString("latin1", 0, 1);
  const length = head.readUInt32BE(1) - 4;
  if (length < 0 || !isExpected(type, length)) throw new SessionError("08P01", `expected a ${expected}`);
  return { type, body: length === 0 ? Buffer.alloc(0) : await input.take(length) };
}

/**
 * The body of a message of SASL.
 * @throws SessionError, Gone
 */
export async function readPassword(input: Input): Promise<Buffer> {
  const isPassword = (type: string, length: number): boolean => type === "p" && length <= LONGEST_PASSWORD;
  return (await readMessage(input, isPassword, "message of the SASL authentication")).body;
}
