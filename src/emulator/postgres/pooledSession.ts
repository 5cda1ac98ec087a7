/** A client of a pooled host: its transactions run on sessions of the server that it shares with others. */
import type { Socket } from "node:net";
import { dismiss, LAST_QUERY_MS, whenClosed, probe } from "./clientSession";
import { Pieces, type Piece } from "./pieces";
import { TRACKED, type Pool, type PooledServer } from "./pool";
import { backendKeyData, parameterStatus, readyForQuery, SessionError } from "./protocol";
import { signal } from "./session";
import { Statements } from "./statements";
import { Traffic } from "./traffic";

/** A server with more of them is closed when its client has ended. */
const MAX_STATEMENTS = 1000;
const LEAVE = "X";

function forward(bytes: Buffer, from: Socket, to: Socket): void {
  if (to.write(bytes) || from.isPaused()) return;
  from.pause();
  to.once("drain", () => from.resume());
}

export class PooledSession {
  readonly #traffic = new Traffic();
  readonly #statements = new Statements();
  readonly #fromClient = new Pieces(`PBDC${LEAVE}`, "QFScf");
  /** Not sent to a server yet. */
  readonly #pieces: Piece[] = [];
  readonly #settings: Map<string, string>;
  #server: PooledServer | undefined;
  #isSending = false;
  #isLeaving = false;
  #isEnding = false;
  #isOver = false;
  #ending = new SessionError("08006", "the connection to the Postgres behind the emulator was lost");
  readonly #stop = new AbortController();
  readonly released: Promise<void>;
  readonly closed: Promise<unknown>;

  constructor(
    private readonly client: Socket,
    private readonly pool: Pool,
    /** Of the client, which no process on the server has. */
    readonly processId: number,
    readonly secretKey: number,
    private readonly welcome: ReadonlyMap<string, string>,
    /** The settings that it gave at the start. */
    given: ReadonlyMap<string, string>,
    /** Something was sent, in either direction. */
    private readonly use: () => void,
  ) {
    this.#settings = new Map(TRACKED.map((name) => [name, given.get(name) ?? welcome.get(name) ?? ""]));
    this.released = whenClosed(client);
    this.closed = this.released;
  }

  get isBusy(): boolean {
    return this.#traffic.isBusy;
  }

  join(): void {
    const { client } = this;
    client.once("close", () => this.#clientGone());
    if (client.destroyed) this.#clientGone();
    if (this.#isOver) return;
    const parameters = new Map([...this.welcome, ...this.#settings]);
    client.write(
      Buffer.concat([
        ...[...parameters].map(([name, value]) => parameterStatus(name, value)),
        backendKeyData(this.processId, this.secretKey),
        readyForQuery(),
      ]),
    );
    client.on("data", (chunk: Buffer) => {
      this.#traffic.fromClient(chunk);
      this.use();
      this.#pieces.push(...this.#fromClient.cut(chunk));
      if (!this.#isSending) void this.#send();
    });
    client.on("end", () => {
      this.#endIfIdle();
      probe(client, this.welcome, () => this.#traffic.isBetweenAnswers);
    });
  }

  cancel(): void {
    if (this.#server !== undefined) signal(this.#server.session, "SIGINT");
  }

  terminate(reason: SessionError): void {
    this.#ending = reason;
    this.#isEnding = true;
    if (this.#server !== undefined) signal(this.#server.session, "SIGTERM");
    else this.#dismiss(reason);
  }

  /** Closes what is still open. */
  end(): void {
    this.#server?.session.socket.destroy();
    this.client.destroy();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      for (;;) {
        // Otherwise the answers to an earlier batch send it.
        const [piece] = this.#pieces;
        if (piece === undefined || this.#statements.mustWait(piece.type)) break;
        this.#pieces.shift();
        if (this.#isLeaving) continue;
        this.#isLeaving = piece.type === LEAVE;
        if (this.#isLeaving && this.#server === undefined) {
          this.client.end();
          continue;
        }
        const server = (this.#server ??= await this.#take());
        const { socket } = server.session;
        for (const bytes of this.#statements.toServer(server, piece.type, piece.bytes)) {
          forward(bytes, this.client, socket);
        }
      }
    } catch (error) {
      this.#dismiss(error instanceof SessionError ? error : new SessionError("XX000", String(error)));
    } finally {
      this.#isSending = false;
    }
    this.#releaseIfIdle();
  }

  async #take(): Promise<PooledServer> {
    const { client, pool } = this;
    client.pause();
    const server = await pool.take(this.#stop.signal);
    try {
      await server.adopt(this.#settings);
    } catch (error) {
      pool.abandon(server);
      throw error;
    }
    if (this.#isOver || server.session.socket.closed) {
      pool.giveBack(server);
      throw this.#ending;
    }
    server.receive = (piece) => this.#received(server, piece);
    server.session.socket.once("close", this.#serverGone);
    client.resume();
    return server;
  }

  #received(server: PooledServer, { type, bytes }: Piece): void {
    this.#traffic.fromServer(bytes);
    this.use();
    if (type === "S") for (const name of TRACKED) this.#settings.set(name, server.parameters.get(name) ?? "");
    if (type === undefined || this.#statements.isForClient(server, type, bytes)) {
      forward(bytes, server.session.socket, this.client);
    }
    if (this.#pieces.length > 0 && !this.#isSending) void this.#send();
    else this.#releaseIfIdle();
  }

  #releaseIfIdle(): void {
    const server = this.#server;
    // After the message of a client that leaves, the server ends the session itself.
    if (server === undefined || this.isBusy || this.#isSending || this.#isLeaving || !server.isBetween) return;
    this.#server = undefined;
    server.session.socket.off("close", this.#serverGone).resume();
    if (server.statements.size > MAX_STATEMENTS) this.pool.abandon(server);
    else this.pool.giveBack(server);
    // The server was ended when its last answer was on the way.
    if (this.#isEnding) this.#dismiss(this.#ending);
    else if (this.client.readableEnded) this.client.end();
  }

  #endIfIdle(): void {
    if (this.#server === undefined && !this.#isSending) this.client.end();
  }

  readonly #serverGone = (): void => {
    this.#server = undefined;
    this.#dismiss(this.#traffic.canBeTold ? this.#ending : undefined);
  };

  #dismiss(reason: SessionError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop.abort(reason);
    dismiss(this.client, reason);
  }

  /** Its transaction is undone. */
  #clientGone(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stop.abort(new SessionError("08006", "the client has disconnected"));
    const server = this.#server;
    if (server === undefined) return;
    this.pool.abandon(server);
    const timer = setTimeout(() => signal(server.session, "SIGTERM"), LAST_QUERY_MS).unref();
    server.session.socket.once("close", () => clearTimeout(timer));
  }
}
