/** A client connected to its session on the server. */
import type { Socket } from "node:net";
import { backendKeyData, fatal, parameterStatus, readyForQuery, SessionError } from "./protocol";
import { Traffic } from "./traffic";
import { signal, type ServerSession } from "./session";

/** A client closes its connection after the final error; otherwise it is closed after this time. */
const LAST_WORDS_MS = 2_000;
/**
 * What a client sent before it disconnected is still executed, within this time. If it has only ended its side, it gets
 * the answer, however long that takes.
 */
export const LAST_QUERY_MS = 5_000;

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

/**
 * Whether a client that has ended its side is still there: something harmless is sent to it. If it is gone, the second
 * time fails, and its connection closes.
 */
export function probe(client: Socket, parameters: ReadonlyMap<string, string>, canSend: () => boolean): void {
  const message = parameterStatus("server_version", parameters.get("server_version") ?? "");
  const timer = setInterval(() => {
    if (client.writable && canSend()) client.write(message);
  }, LAST_QUERY_MS / 2).unref();
  client.once("close", () => clearInterval(timer));
}

export const whenClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", resolve);
  });

export class ClientSession {
  readonly #traffic = new Traffic();
  #isOver = false;
  /** By performance.now(): when the client has ended its side. */
  #endedAt: number | undefined;
  #ending: SessionError | undefined = new SessionError(
    "08006",
    "the connection to the Postgres behind the emulator was lost",
  );
  /** The session on the server is closed. */
  readonly released: Promise<void>;
  /** Both connections are closed. */
  readonly closed: Promise<unknown>;

  constructor(
    private readonly client: Socket,
    private readonly server: ServerSession,
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

  get processId(): number {
    return this.server.processId;
  }

  get isBusy(): boolean {
    return this.#traffic.isBusy;
  }

  cancel(): void {
    signal(this.server, "SIGINT");
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
    if (client.readableEnded) this.#clientEnded();
    else client.once("end", () => this.#clientEnded());
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

  /** Ends the session on the server, whose error reaches the client. If it has none, the reason is the error. */
  terminate(reason: SessionError): void {
    this.#ending = reason;
    signal(this.server, "SIGTERM");
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

  /** If no query runs, the server ends the session, and both connections close. */
  #clientEnded(): void {
    if (this.#isOver) return;
    this.#endedAt = performance.now();
    this.#ending = undefined;
    const { client, server } = this;
    server.socket.end();
    probe(client, server.parameters, () => this.#traffic.isBetweenAnswers);
  }

  /** If no query runs, the server notices at once. */
  #clientGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket } = this.server;
    if (socket.destroyed) return;
    socket.resume();
    socket.end();
    const sinceMs = this.#endedAt === undefined ? 0 : performance.now() - this.#endedAt;
    const timer = setTimeout(this.on.abandoned, Math.max(0, LAST_QUERY_MS - sinceMs)).unref();
    socket.once("close", () => clearTimeout(timer));
  }
}
