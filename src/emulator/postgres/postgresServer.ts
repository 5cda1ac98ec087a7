import { setTimeout as delay } from "node:timers/promises";
import { InstanceConnection } from "./instanceConnection";
import { InstanceRoles } from "./instanceRoles";
import { ReadableDatabases } from "./readableDatabases";
import { ServiceDatabases } from "./serviceDatabases";
import { INSUFFICIENT_PRIVILEGE, INVALID_PASSWORD, isRefused, NOT_SUPPORTED, quoted } from "./sql";
import { PostgresError, Upstream, type Query, type ServerSession } from "./upstream";

const LOWEST_VERSION = 14;
/** An instance's own connections: one for short queries, and one that works in a database. */
const OWN_CONNECTIONS = 2;
/** The longest time for a session to end. */
const PATIENCE_MS = 5_000;

/**
 * The user's own Postgres, for one instance of the emulator. The instance's objects there are identified by its mark,
 * in the names of its roles and in a comment on each role and database.
 */
export class PostgresServer {
  /** Connections that are left for users. An upper limit, because others may use the server too. */
  slots = 0;
  readonly databases: ServiceDatabases;
  private readonly connection: InstanceConnection;
  private readonly roles: InstanceRoles;
  private readonly readable: ReadableDatabases;

  private constructor(
    private readonly upstream: Upstream,
    mark: string,
  ) {
    const comment = `pulumi-svc emulator ${mark}: `;
    this.connection = new InstanceConnection(upstream, mark);
    this.roles = new InstanceRoles(this.connection, mark, comment);
    this.databases = new ServiceDatabases(this.connection, this.roles, comment);
    this.readable = new ReadableDatabases(this.connection, this.roles);
  }

  /**
   * Connects, and creates the roles of the instance.
   * @param options.mark 8 hexadecimal digits
   * @throws a PostgresError if the server is unreachable, too old or on another machine, or refuses the permissions
   */
  static async open(options: { url: string; remote: boolean; mark: string }): Promise<PostgresServer> {
    const server = new PostgresServer(await Upstream.at(options.url, options.remote), options.mark);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private async start(): Promise<void> {
    const { where } = this.upstream;
    const [facts] = await this.connection.query(
      `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
              rolsuper, rolcreaterole, rolcreatedb, rolname, current_database() AS database,
              current_setting('max_connections')::int AS connections,
              current_setting('superuser_reserved_connections')::int
                + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved
       FROM pg_roles WHERE rolname = current_user`,
    );
    const version = Math.floor(Number(facts?.version) / 10_000);
    if (version < LOWEST_VERSION) {
      throw new PostgresError(
        `Postgres at ${where} has version ${version}: give one of ${LOWEST_VERSION} or later`,
        NOT_SUPPORTED,
      );
    }
    if (facts?.standby === true) {
      throw new PostgresError(`Postgres at ${where} is a standby, which is read-only: give its primary`, NOT_SUPPORTED);
    }
    const isSuperuser = facts?.rolsuper === true;
    if (!isSuperuser && !(facts?.rolcreaterole === true && facts.rolcreatedb === true)) {
      throw new PostgresError(
        `the user "${String(facts?.rolname)}" of Postgres at ${where} may not create roles and databases: run ` +
          `ALTER ROLE ${quoted(String(facts?.rolname))} CREATEROLE CREATEDB as a superuser, or give another user`,
        INSUFFICIENT_PRIVILEGE,
      );
    }
    this.slots = Math.max(0, Number(facts?.connections) - Number(facts?.reserved) - OWN_CONNECTIONS);
    await this.roles.make(isSuperuser);
    await this.tryLogin(String(facts?.database));
  }

  /** pg_hba.conf may accept only the URL's user: better reported at the start than to the first client. */
  private async tryLogin(database: string): Promise<void> {
    try {
      const { socket } = await this.upstream.session(this.roles.writer, database, {});
      socket.destroy();
    } catch (error) {
      // The server reads pg_hba.conf first: the role was accepted, but may not use that database.
      if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
    }
  }

  /**
   * A session as the instance's role, in one of `databases`. `startup` contains the client's parameters, such as
   * application_name, client_encoding and search_path.
   */
  async connect(
    database: string,
    { readOnly, startup }: { readOnly: boolean; startup: Readonly<Record<string, string>> },
  ): Promise<ServerSession> {
    if (readOnly) await this.readable.make(database);
    const login = readOnly ? this.roles.reader : this.roles.writer;
    try {
      return await this.upstream.session(login, database, startup);
    } catch (error) {
      if (!isRefused(error, INVALID_PASSWORD)) throw error;
      await this.roles.renewPassword(login);
      return this.upstream.session(login, database, startup);
    }
  }

  /** Cancels the session's query. */
  async cancel({ processId }: ServerSession): Promise<void> {
    await this.signal("pg_cancel_backend", [processId]);
  }

  /** Ends sessions on the server and waits for it: closing a socket leaves a query running. */
  async terminate(processIds: readonly number[]): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    let left = await this.signal("pg_terminate_backend", processIds);
    while (left > 0 && Date.now() < deadline) {
      await delay(10);
      left = await this.signal("pg_terminate_backend", processIds);
    }
  }

  /** The role of clients, which owns their databases. */
  get role(): string {
    return this.roles.writer.user;
  }

  /**
   * Works in a database on clients' tables, or on tables that those refer to. Runs one at a time. A client's deferred
   * trigger runs as the user that changed the row (before Postgres 18), so that user is not a superuser.
   */
  within<T>(database: string, work: (query: Query) => Promise<T>): Promise<T> {
    return this.connection.exclusively(() => this.connection.within(database, work, this.roles.keeper));
  }

  /** Drops all databases and the roles. */
  async remove(): Promise<void> {
    await this.databases.drop({});
    await this.roles.drop();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  /** Signals sessions of the instance's roles. A process id may meanwhile belong to another session. */
  private async signal(action: "pg_cancel_backend" | "pg_terminate_backend", ids: readonly number[]): Promise<number> {
    if (ids.length === 0) return 0;
    const rows = await this.connection.query(
      `SELECT ${action}(pid) FROM pg_stat_activity WHERE pid = ANY($1) AND usename = ANY($2)`,
      [ids, [this.roles.writer.user, this.roles.reader.user]],
    );
    return rows.length;
  }
}
