/** The sessions of the server that the clients of a pooled host share. */
import { Pieces, type Piece } from "./pieces";
import { queryMessage, errorOf, HEAD, SessionError } from "./protocol";
import { literal, quoted, signal, type ServerSession } from "./session";
import { OPTION_WORDS } from "./target";

/** PgBouncer's query_wait_timeout. */
const LONGEST_WAIT_MS = 120_000;

/** The settings that each client keeps, since a server reports their changes (PgBouncer's, with track_extra_parameters). */
export const TRACKED: readonly string[] = [
  "client_encoding",
  "DateStyle",
  "IntervalStyle",
  "TimeZone",
  "standard_conforming_strings",
  "application_name",
];
/** What is looked at in the answers of a server. */
const LOOKED_AT = "SZE13CG";
/** PgBouncer's ignore_startup_parameters. */
const IGNORED = "extra_float_digits";
const SETTING = /^(?:-c|--)\s*([^=]+)=(.*)$/s;

/**
 * What a client of a pooled host may set when it connects.
 * @throws SessionError, as PgBouncer does
 */
export function trackedSettings({ options = "", ...settings }: Readonly<Record<string, string>>): Map<string, string> {
  const words = options.replace(/(^|\s)-c\s+/g, "$1-c").match(OPTION_WORDS) ?? [];
  const inOptions = words.map((word) => {
    const [, name = word, value = ""] = SETTING.exec(word) ?? [];
    return { name: name.replaceAll("-", "_"), value: value.replace(/\\(.)/gs, "$1"), where: " in options" };
  });
  const given = [...Object.entries(settings).map(([name, value]) => ({ name, value, where: "" })), ...inOptions];
  return new Map(
    given.flatMap(({ name, value, where }) => {
      const tracked = TRACKED.find((one) => one.toLowerCase() === name.toLowerCase());
      if (tracked !== undefined) return [[tracked, value] as const];
      if (name === IGNORED) return [];
      const refusal = `unsupported startup parameter${where}: ${name}`;
      throw new SessionError("08P01", refusal, "Connect to the compute itself, or leave it out.");
    }),
  );
}

/** A session of the server that belongs to one client for the time of a transaction. */
export class PooledServer {
  /** Receives what the server sends. Without a client it is lost, such as a notification. */
  receive: (piece: Piece) => void = () => undefined;
  readonly #pieces = new Pieces(LOOKED_AT);
  /** The names that are prepared there. */
  readonly statements = new Set<string>();
  readonly parameters: Map<string, string>;

  constructor(readonly session: ServerSession) {
    this.parameters = new Map(session.parameters);
    session.socket.on("error", () => undefined); // The socket closes then.
    session.socket.on("data", (chunk: Buffer) => this.#read(chunk)).resume();
  }

  /** Whether the last message has arrived as a whole. */
  get isBetween(): boolean {
    return this.#pieces.isBetween;
  }

  #read(chunk: Buffer): void {
    for (const piece of this.#pieces.cut(chunk)) {
      if (piece.type === "S") {
        const [name = "", value = ""] = piece.bytes.toString("utf8", HEAD).split("\0");
        this.parameters.set(name, value);
      }
      this.receive(piece);
    }
  }

  /**
   * Gives it the settings of a client, which become what the server makes of them.
   * @throws SessionError
   */
  async adopt(settings: Map<string, string>): Promise<void> {
    const differing = [...settings].filter(([name, value]) => this.parameters.get(name) !== value);
    if (differing.length === 0) return;
    const statements = differing.map(([name, value]) => `SET ${quoted(name.toLowerCase())} = ${literal(value)}`);
    const { socket } = this.session;
    socket.write(queryMessage(statements.join("; ")));
    await new Promise<void>((resolve, reject) => {
      let failure: SessionError | undefined;
      const lost = (): void => reject(new SessionError("08006", "the connection to the compute's Postgres was lost"));
      socket.once("close", lost);
      this.receive = ({ type, bytes }) => {
        if (type === "E") failure ??= errorOf(bytes.subarray(HEAD));
        if (type !== "Z") return;
        socket.off("close", lost);
        if (failure === undefined) resolve();
        else reject(failure);
      };
    });
    for (const [name] of differing) settings.set(name, this.parameters.get(name) ?? "");
  }
}

interface Waiting {
  readonly resolve: (server: PooledServer) => void;
  readonly reject: (error: unknown) => void;
}

export class Pool {
  readonly #idle: PooledServer[] = [];
  readonly #servers = new Set<PooledServer>();
  readonly #waiting: Waiting[] = [];
  #isOpening = false;
  #isClosed = false;
  #welcome: ReadonlyMap<string, string> | undefined;

  constructor(
    private readonly limit: number,
    private readonly open: () => Promise<ServerSession>,
  ) {}

  get size(): number {
    return this.#servers.size + Number(this.#isOpening);
  }

  /** The parameters that the server reports at the start of a session. */
  async welcome(stop: AbortSignal): Promise<ReadonlyMap<string, string>> {
    if (this.#welcome === undefined) {
      const server = await this.take(stop);
      this.#welcome ??= new Map(server.session.parameters);
      this.giveBack(server);
    }
    return this.#welcome;
  }

  /**
   * In the order of the calls.
   * @throws SessionError, or the reason of the signal
   */
  async take(stop: AbortSignal): Promise<PooledServer> {
    stop.throwIfAborted();
    const timer = new AbortController();
    try {
      return await new Promise<PooledServer>((resolve, reject) => {
        const waiting = { resolve, reject };
        const leave = (error: unknown): void => {
          if (remove(this.#waiting, waiting)) reject(error);
        };
        const late = (): void => leave(new SessionError("08P01", "query_wait_timeout"));
        const { signal: over } = timer;
        const patience = setTimeout(late, LONGEST_WAIT_MS).unref();
        over.addEventListener("abort", () => clearTimeout(patience));
        stop.addEventListener("abort", () => leave(stop.reason), { signal: over });
        this.#waiting.push(waiting);
        this.#serve();
      });
    } finally {
      timer.abort();
    }
  }

  /** Ends a session that no client has, if there is one. */
  shrink(): boolean {
    const server = this.#idle.shift();
    if (server === undefined) return false;
    this.#servers.delete(server);
    signal(server.session, "SIGTERM");
    return true;
  }

  /** Between transactions. */
  giveBack(server: PooledServer): void {
    server.receive = () => undefined;
    if (!this.#servers.has(server)) return;
    if (this.#isClosed) {
      signal(server.session, "SIGTERM");
      return;
    }
    this.#idle.push(server);
    this.#serve();
  }

  /** It closes when its query has ended, and undoes its transaction. */
  abandon(server: PooledServer): void {
    server.receive = () => undefined;
    server.session.socket.resume().end();
  }

  /** Ends the sessions that no client has. */
  close(): void {
    this.#isClosed = true;
    for (const { session } of this.#idle) signal(session, "SIGTERM");
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#idle.length > 0) {
      // The one that was used least recently, so that tests meet what another session has left there.
      this.#waiting.shift()?.resolve(this.#idle.shift() as PooledServer);
    }
    // One at a time, as PgBouncer: meanwhile those that are there take many turns.
    if (this.#waiting.length > 0 && !this.#isOpening && !this.#isClosed && this.size < this.limit) void this.#add();
  }

  async #add(): Promise<void> {
    // Before it counts itself: it looks at the size.
    const opened = this.open();
    this.#isOpening = true;
    try {
      const server = new PooledServer(await opened);
      this.#isOpening = false;
      this.#servers.add(server);
      server.session.socket.once("close", () => {
        this.#servers.delete(server);
        remove(this.#idle, server);
        this.#serve();
      });
      this.giveBack(server);
    } catch (error) {
      this.#isOpening = false;
      // Otherwise one that is there will be free.
      if (this.size === 0) for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
  }
}

function remove<T>(list: T[], item: T): boolean {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}
