import { lookup } from "node:dns/promises";
import type { Socket } from "node:net";
import type * as pg from "pg";
import { isThisMachine } from "../http/access";
import { optionalPackage } from "../optionalPackage";

type Driver = typeof pg;
type DriverClient = InstanceType<Driver["Client"]>;

/**
 * An error of the server, or of the emulator in front of it. `code` is an SQLSTATE, so both can be sent to a client.
 */
export class PostgresError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = "PostgresError";
  }
}

export interface RoleLogin {
  readonly user: string;
  readonly password: string;
}

/** A raw session on the server after its start. The socket is paused: attach listeners, then call `resume()`. */
export interface ServerSession {
  readonly socket: Socket;
  readonly processId: number;
  readonly secretKey: number;
  /** The parameters that the server reported at the start (`server_version`, `client_encoding`…). */
  readonly parameters: ReadonlyMap<string, string>;
}

export type Row = Readonly<Record<string, unknown>>;
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any query of the emulator takes, even on a slow disk. */
const QUERY_TIMEOUT_MS = 60_000;
const GOODBYE_MS = 2_000;

/**
 * A database belongs to clients, and its settings apply to every session in it. With a client's search_path, a query of
 * the emulator would call the client's functions with the permissions of the URL's user.
 */
const OWN_SETTINGS =
  "SET search_path = pg_catalog; SET ROLE NONE; SET default_transaction_read_only = off; " +
  // A query that times out here ends on the server as well: it may wait for a client's trigger that never ends.
  `SET statement_timeout = ${QUERY_TIMEOUT_MS}`;

const UNREACHABLE = "08006";

/** Advice for the errors that a user can fix. The messages of the others are sufficient. */
const ADVICE: Readonly<Record<string, string>> = {
  "28P01": "correct the user and the password in its address",
  "28000": "let pg_hba.conf accept this user by password from this machine",
  "3D000": "name a database that exists",
  "53300": "close other connections, or raise max_connections",
  "57P03": "try again in a moment",
  ENOTFOUND: "correct the host in its address",
  EAI_AGAIN: "correct the host in its address",
  EMFILE: "let the emulator open more files (ulimit -n): each connection takes two",
};

/** A text field of an error of the server, Node or pg: some have no code, and some no message. */
const textOf = (error: unknown, field: "code" | "message"): string => {
  const text: unknown = Reflect.get(Object(error), field);
  return typeof text === "string" ? text : "";
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Whether the error is from the server, and not from the network or pg. */
const isFromServer = (error: unknown): boolean =>
  SQLSTATE.test(textOf(error, "code")) && Reflect.has(Object(error), "severity");

/** A startup message of protocol 3.0 (PostgreSQL documentation, Message Formats). */
function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(parameters).flat();
  const body = Buffer.from([...texts, "", ""].join("\0"));
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, body]);
}

/** The user's server: how to connect to it, and how to report its failures. */
export class Upstream {
  private constructor(
    private readonly driver: Driver,
    private readonly url: string,
    /** Host and port: the only part of the URL that a message may show. */
    readonly where: string,
  ) {}

  /** @throws if the URL is invalid or leads to another machine. Does not connect yet. */
  static async at(url: string, remote: boolean): Promise<Upstream> {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- only where it is needed, and also under jest
    const driver = optionalPackage("pg", "the emulator's --postgres", () => require("pg") as Driver);
    let client: DriverClient;
    try {
      if (!/^(postgres(ql)?|socket):/.test(url)) throw new Error("another protocol");
      client = new driver.Client(url);
      if (!Number.isInteger(client.port)) throw new Error("no port");
    } catch {
      // The error's message may quote the URL, which contains a password.
      throw new PostgresError(
        "the address of Postgres cannot be read: give postgres://user:password@host:port/database, with special " +
          "characters of the password as %XX",
        UNREACHABLE,
      );
    }
    const { host, port } = client;
    const upstream = new Upstream(driver, url, host.startsWith("/") ? `${host}/.s.PGSQL.${port}` : `${host}:${port}`);
    if (!remote) await upstream.refuseOtherMachine(host);
    return upstream;
  }

  /** The emulator creates and drops databases, so a server on another machine must be allowed explicitly. */
  private async refuseOtherMachine(host: string): Promise<void> {
    if (host.startsWith("/")) return;
    const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
      throw this.inWords(error);
    });
    if (addresses.every(({ address }) => isThisMachine(address))) return;
    throw new PostgresError(
      `Postgres at ${this.where} is not on this machine, and the emulator creates and drops databases there: ` +
        "give --postgres-remote to allow that",
      UNREACHABLE,
    );
  }

  /** An error with the address, the server's message and advice. It contains neither a password nor the URL. */
  inWords(error: unknown): PostgresError {
    if (error instanceof PostgresError) return error;
    const code = textOf(error, "code");
    if (isFromServer(error)) {
      const said = `Postgres at ${this.where}: ${textOf(error, "message")} (${code})`;
      return new PostgresError(ADVICE[code] === undefined ? said : `${said}: ${ADVICE[code]}`, code);
    }
    const reason = code === "" ? textOf(error, "message") : code;
    const advice = ADVICE[code] ?? "check that it runs, and that host, port and sslmode are right";
    return new PostgresError(`Postgres at ${this.where} does not answer (${reason}): ${advice}`, UNREACHABLE);
  }

  /** A connection for the emulator itself, with the URL's user and database unless others are given. */
  async admin(database?: string, login?: RoleLogin): Promise<AdminConnection> {
    const client = new this.driver.Client({
      connectionString: this.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      application_name: "pulumi-svc emulator",
    });
    // The startup message uses these parameters. The URL overrides all options of the client.
    Object.assign(Object(Reflect.get(client, "connectionParameters")), {
      ...(database !== undefined && { database }),
      ...(login !== undefined && { user: login.user }),
    });
    if (login !== undefined) Object.assign(client, login);
    const connection = new AdminConnection(this, client);
    try {
      await client.connect();
      await client.query(OWN_SETTINGS);
      return connection;
    } catch (error) {
      client.connection.stream.destroy();
      throw this.inWords(error);
    }
  }

  /**
   * Lets pg authenticate, which supports SCRAM, md5 and TLS, and then takes over its socket: a client's session passes
   * through as bytes, which pg does not parse. This uses undocumented parts of pg (`connection` with its `stream`,
   * `startup` and events), so a test checks them for the installed version.
   *
   * The startup message is our own: pg's has a fixed client_encoding and few parameters, and a client's `RESET` would
   * not return to a value that was `SET` after the start.
   */
  session(login: RoleLogin, database: string, startup: Readonly<Record<string, string>>): Promise<ServerSession> {
    const client = new this.driver.Client({
      connectionString: this.url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    client.user = login.user;
    client.password = login.password;
    const { connection } = client;
    const message = startupMessage({ ...startup, user: login.user, database });
    // Its stream changes after a TLS handshake, so it is read when the message is sent.
    Reflect.set(connection, "startup", () => connection.stream.write(message));
    const parameters = new Map<string, string>();
    connection.on("parameterStatus", ({ parameterName, parameterValue }: Record<string, unknown>) =>
      parameters.set(String(parameterName), String(parameterValue)),
    );
    let keys = { processId: 0, secretKey: 0 };
    connection.on("backendKeyData", ({ processID, secretKey }: Record<string, unknown>) => {
      keys = { processId: Number(processID), secretKey: Number(secretKey) };
    });
    // From now on its new owner uses the socket's own events. pg throws if nobody listens.
    client.on("error", () => undefined);
    return new Promise((resolve, reject) => {
      // A callback, because it is called before pg reads past the server's first ReadyForQuery.
      client.connect((error: Error | null) => {
        // pg creates a socket and may wrap it for TLS; it is typed as a duplex because a browser has neither.
        const socket = connection.stream as Socket;
        if (error !== null) {
          socket.destroy();
          reject(this.inWords(error));
          return;
        }
        // Removes the parser's listener. The listeners for "end" and "close" stay, because Node's own are among them.
        socket.removeAllListeners("data");
        socket.pause();
        resolve({ socket, ...keys, parameters });
      });
    });
  }
}

/** A connection as the user of the server's URL. Its queries run in sequence. */
export class AdminConnection {
  private last: Promise<unknown> = Promise.resolve();
  /** Set when the connection has ended or is unusable. */
  ended = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly client: DriverClient,
  ) {
    const end = (): void => void (this.ended = true);
    client.on("end", end);
    client.on("error", end);
  }

  readonly query: Query = (text, values) => {
    const result = this.last.then(async () => {
      try {
        const { rows } = await this.client.query<Record<string, unknown>>(text, values && [...values]);
        return rows;
      } catch (error) {
        // A query that timed out still occupies the connection.
        if (!isFromServer(error)) this.destroy();
        throw this.upstream.inWords(error);
      }
    });
    this.last = result.catch(() => undefined);
    return result;
  };

  /** Does not wait for a running query. */
  destroy(): void {
    this.ended = true;
    this.client.connection.stream.destroy();
  }

  async close(): Promise<void> {
    if (this.ended) return;
    // A hanging server does not respond to the end of the session.
    const timer = setTimeout(() => this.destroy(), GOODBYE_MS);
    await this.client.end().catch(() => undefined);
    clearTimeout(timer);
  }
}
