import { setTimeout as delay } from "node:timers/promises";
import { OBJECT_IN_USE } from "./sql";
import { PostgresError, type AdminConnection, type RoleLogin, type Query, type Upstream } from "./upstream";

/** The longest time that a server needs to notice that an emulator was killed. */
const PATIENCE_MS = 5_000;
/** One half of the advisory lock's key; the other half is the mark. */
const LOCK = 0x737663;

/**
 * The connection to the user's Postgres that holds the lock of an emulator instance, and separate connections for
 * longer work.
 */
export class InstanceConnection {
  private isClosed = false;
  private control: Promise<AdminConnection> | undefined;
  private work: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly upstream: Upstream,
    private readonly mark: string,
  ) {}

  /** Host and port of the server. */
  get where(): string {
    return this.upstream.where;
  }

  /** A short query on the connection that holds the lock. */
  async query(...[text, values]: Parameters<Query>): ReturnType<Query> {
    const connection = await this.connected();
    return connection.query(text, values);
  }

  /** On a separate connection, for the duration of the work. */
  async within<T>(database: string | undefined, work: (query: Query) => Promise<T>, login?: RoleLogin): Promise<T> {
    const connection = await this.upstream.admin(database, login);
    try {
      return await work(connection.query);
    } finally {
      await connection.close();
    }
  }

  /** Runs such work in sequence. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.work.then(work);
    this.work = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.work;
    this.isClosed = true;
    const connection = await this.control?.catch(() => undefined);
    await connection?.close();
  }

  private async connected(): Promise<AdminConnection> {
    if (this.isClosed) throw new PostgresError("the emulator has ended", "57P01");
    const control = (this.control ??= this.upstream.admin().then((connection) => this.locked(connection)));
    const current = await control.catch(() => undefined);
    if (current?.ended === false) return current;
    // The next query reconnects: the server may be back.
    if (this.control === control) this.control = undefined;
    return current === undefined ? control : this.connected();
  }

  /**
   * Two emulators with the same mark would drop each other's databases: with a copied data file, or a second start with
   * one.
   */
  private async locked(connection: AdminConnection): Promise<AdminConnection> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const [row] = await connection.query("SELECT pg_try_advisory_lock($1, $2) AS locked", [LOCK, this.lockKey]);
      if (row?.locked === true) return connection;
      if (Date.now() >= deadline) break;
      await delay(100);
    }
    await connection.close();
    throw new PostgresError(
      `another emulator with the mark ${this.mark} uses Postgres at ${this.upstream.where}: stop it, or start this one ` +
        "with a data file of its own",
      OBJECT_IN_USE,
    );
  }

  /** Postgres requires a signed 4-byte number. */
  private get lockKey(): number {
    return Number.parseInt(this.mark, 16) | 0;
  }
}
