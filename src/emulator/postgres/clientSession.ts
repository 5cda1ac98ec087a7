/** A client connected to its session on the server. */
import type { Socket } from "node:net";
import { backendKeyData, fatal, parameterStatus, readyForQuery, SessionError } from "./protocol";
import { Traffic } from "./traffic";
import type { ServerSession } from "./upstream";

/** A client closes its connection after the final error; otherwise it is closed after this time. */
const LAST_WORDS_MS = 2_000;
/** What a client sent before it disconnected is still executed, within this time. */
const LAST_QUERY_MS = 5_000;

/** Closes a client's connection, with a final error if one can be sent. */
export function dismiss(client: Socket, reason: SessionError | undefined): void {
  if (client.destroyed) return;
  // Pending input must not turn the end into a reset, which would lose the error.
  client.resume();
  if (reason === undefined) client.end();
  else client.end(fatal(reason));
  const timer = setTimeout(() => client.destroy(), LAST_WORDS_MS).unref();
  client.once("close", () => clearTimeout(timer));
}

const whenClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", resolve);
  });

export class ClientSession {
  readonly #traffic = new Traffic();
  #isOver = false;
  #ending = new SessionError("08006", "the connection to the Postgres behind the emulator was lost");
  /** The session on the server is closed. */
  readonly released: Promise<void>;
  /** Both connections are closed. */
  readonly closed: Promise<unknown>;

  constructor(
    private readonly client: Socket,
    readonly server: ServerSession,
    /** The key with which the client cancels a query. Not the server's, which only the gate knows. */
    readonly secretKey: number,
    private readonly on: {
      /** Something was sent, in either direction. */
      readonly use: () => void;
      /** The client has disconnected, and its query continues. */
      readonly abandoned: () => void;
    },
  ) {
    this.released = whenClosed(server.socket);
    this.closed = Promise.all([this.released, whenClosed(client)]);
  }

  get isBusy(): boolean {
    return this.#traffic.isBusy;
  }

  /** Tells the client that it can begin, and forwards data in both directions. */
  join(): void {
    const { client, server } = this;
    const { socket, processId, parameters } = server;
    socket.on("error", () => undefined); // The socket closes then.
    socket.setNoDelay(true);
    client.once("close", () => this.#clientGone());
    socket.once("close", () => this.#serverGone());
    if (client.destroyed) this.#clientGone();
    if (socket.destroyed) this.#serverGone();
    if (this.#isOver) return;

    client.write(
      Buffer.concat([
        ...[...parameters].map(([name, value]) => parameterStatus(name, value)),
        backendKeyData(processId, this.secretKey),
        readyForQuery(),
      ]),
    );
    client.on("data", (chunk: Buffer) => {
      this.#traffic.fromClient(chunk);
      this.on.use();
    });
    socket.on("data", (chunk: Buffer) => {
      this.#traffic.fromServer(chunk);
      this.on.use();
    });
    client.pipe(socket, { end: false });
    socket.pipe(client, { end: false });
  }

  /** The error for the client if the server's session ends without one. */
  willEnd(reason: SessionError): void {
    this.#ending = reason;
  }

  /** Closes what is still open. */
  end(): void {
    this.server.socket.destroy();
    this.#serverGone();
  }

  #serverGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    dismiss(this.client, this.#traffic.canBeTold ? this.#ending : undefined);
  }

  /** If no query runs, the server notices at once. */
  #clientGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket } = this.server;
    if (socket.destroyed) return;
    socket.resume();
    socket.end();
    const timer = setTimeout(this.on.abandoned, LAST_QUERY_MS).unref();
    socket.once("close", () => clearTimeout(timer));
  }
}
