import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { storedPassword } from "./scram";
import type { AdminConnection } from "./upstream";
import { PostgresError, Upstream, type Login, type Query, type ServerSession } from "./upstream";

export type { ServerSession } from "./upstream";

/** A database as the service knows it. */
export interface Place {
  readonly projectId: string;
  readonly branchId: string;
  readonly database: string;
}

/** Whose databases: those of a branch, of a project, or all. */
export interface Which {
  readonly projectId?: string;
  readonly branchId?: string;
}

interface Database {
  readonly oid: string;
  readonly name: string;
  readonly owner: string;
  readonly comment: string;
}

const LOWEST_VERSION = 14;
/** What this class has open at most: a connection for short queries, and one that works in some database. */
const OWN_CONNECTIONS = 2;
/** How long a server takes at most to notice that an emulator was killed, and a session to end. */
const PATIENCE_MS = 5_000;
/** Of the advisory lock: the other half of its key is the mark. */
const LOCK = 0x737663;

/** SQLSTATEs (PostgreSQL documentation, appendix A). */
const INSUFFICIENT_PRIVILEGE = "42501";
const INVALID_PASSWORD = "28P01";
const OBJECT_IN_USE = "55006";
const DUPLICATE_DATABASE = "42P04";
const NO_SUCH_DATABASE = "3D000";
const NOT_SUPPORTED = "0A000";

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
/** With E, so that a backslash means the same whatever standard_conforming_strings says. */
const literal = (text: string): string => `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/** A text from JSON may hold half a character, of which no bytes can be made. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A database without a place was made by a client, and belongs to no branch. */
const covers = ({ projectId, branchId }: Which, place: Place | undefined): boolean =>
  place === undefined
    ? projectId === undefined
    : (projectId ?? place.projectId) === place.projectId && (branchId ?? place.branchId) === place.branchId;

const isRefused = (error: unknown, code: string): boolean => error instanceof PostgresError && error.code === code;

const newLogin = (user: string): Login => ({ user, password: randomBytes(24).toString("base64url") });

/**
 * The user's own Postgres, for one instance of the emulator.
 *
 * The instance has a mark, and on the server three roles (`svc_<mark>`, `svc_<mark>_ro` for read replicas, and
 * `svc_<mark>_sync`, which owns the tables that clients must not write) and a database for each place that a client has
 * connected to. A comment on each of them says whose it is. What has neither the comment nor the role as its owner is
 * never touched (docs/design/decisions.md, Emulator).
 */
export class PostgresServer {
  /** Connections that are left for users. Others may use the server too, so it is the most there can be. */
  slots = 0;
  private readonly writer: Login;
  private readonly reader: Login;
  private readonly keeper: Login;
  private readonly comment: string;
  private isSuperuser = false;
  /** Why there are no read-only sessions. */
  private noReader: PostgresError | undefined;
  private isClosed = false;
  private control: Promise<AdminConnection> | undefined;
  private work: Promise<unknown> = Promise.resolve();
  private readonly making = new Map<string, Promise<string>>();
  /** What is still to be dropped. Nobody gets a database before that. */
  private readonly dropping = new Set<Which>();
  /** By oid: databases of clients whose rights were set, and those that are prepared for read-only sessions. */
  private readonly restricted = new Set<string>();
  private readonly readable = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  /** The role that clients work as, and that their databases belong to. */
  get role(): string {
    return this.writer.user;
  }

  private constructor(
    private readonly upstream: Upstream,
    private readonly mark: string,
  ) {
    this.writer = newLogin(`svc_${mark}`);
    this.reader = newLogin(`svc_${mark}_ro`);
    this.keeper = newLogin(`svc_${mark}_sync`);
    this.comment = `pulumi-svc emulator ${mark}: `;
  }

  /**
   * Connects, and makes the roles of the instance.
   * @param options.mark 8 hexadecimal digits
   * @throws a PostgresError in words, where the server is not there, too old or on another machine, or refuses the rights
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

  /** The database of a place. It is made if it does not exist; several calls at once make one. */
  database(place: Place): Promise<string> {
    const key = this.commentOf(place);
    const known = this.making.get(key);
    if (known !== undefined) return known;
    const making = this.findOrMake(place).finally(() => {
      if (this.making.get(key) === making) this.making.delete(key);
    });
    this.making.set(key, making);
    return making;
  }

  /** The database of a place, if it exists. */
  async find(place: Place): Promise<string | undefined> {
    await this.dropPending(place);
    const found = await this.look(place);
    return found !== undefined && found.comment === this.commentOf(place) ? found.name : undefined;
  }

  /** The places that have a database. */
  async places(): Promise<Place[]> {
    const all = await this.ours();
    return all.flatMap(({ comment }) => this.placeOf(comment) ?? []);
  }

  /** Calls the listener after a database was made. */
  onMade(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * A session as the instance's role, in a database that `database` has given. `startup` is what the client sent, such
   * as application_name, client_encoding and search_path.
   */
  async connect(
    database: string,
    { readOnly, startup }: { readOnly: boolean; startup: Readonly<Record<string, string>> },
  ): Promise<ServerSession> {
    if (readOnly) await this.makeReadable(database);
    const login = readOnly ? this.reader : this.writer;
    try {
      return await this.upstream.session(login, database, startup);
    } catch (error) {
      // Any role may change its own password: a client did.
      if (!isRefused(error, INVALID_PASSWORD)) throw error;
      const password = await storedPassword(login.password);
      await this.query(`ALTER ROLE ${quoted(login.user)} PASSWORD ${literal(password)}`);
      return this.upstream.session(login, database, startup);
    }
  }

  /** Cancels what the session runs. */
  async cancel({ processId }: ServerSession): Promise<void> {
    await this.signal("pg_cancel_backend", [processId]);
  }

  /** Ends sessions on the server, and waits for that: closing a socket leaves a query running. */
  async terminate(processIds: readonly number[]): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    let left = await this.signal("pg_terminate_backend", processIds);
    while (left > 0 && Date.now() < deadline) {
      await delay(10);
      left = await this.signal("pg_terminate_backend", processIds);
    }
  }

  /**
   * Drops the databases of a branch, of a project, or all, with their sessions. What cannot be dropped now is dropped
   * before the next database is given out.
   */
  drop(which: Which): Promise<void> {
    this.dropping.add(which);
    this.making.clear();
    return this.dropPending();
  }

  /** Drops all databases and the roles. */
  async remove(): Promise<void> {
    await this.drop({});
    const roles = [this.writer, this.reader, this.keeper].map(({ user }) => quoted(user));
    await this.query(`DROP ROLE IF EXISTS ${roles.join(", ")}`);
  }

  /**
   * Works in a database on tables of clients, or that theirs refer to. One such work at a time. A deferred trigger of
   * theirs runs as whoever has changed the row (before Postgres 18), so that is no superuser.
   */
  within<T>(database: string, work: (query: Query) => Promise<T>): Promise<T> {
    return this.exclusively(() => this.connection(database, work, this.keeper));
  }

  async close(): Promise<void> {
    await this.work;
    this.isClosed = true;
    const connection = await this.control?.catch(() => undefined);
    await connection?.close();
  }

  /** A short query, on the connection that holds the lock of the instance. */
  private async query(...[text, values]: Parameters<Query>): ReturnType<Query> {
    const connection = await this.connected();
    return connection.query(text, values);
  }

  private async connected(): Promise<AdminConnection> {
    if (this.isClosed) throw new PostgresError("the emulator has ended", "57P01");
    const control = (this.control ??= this.upstream.admin().then((connection) => this.locked(connection)));
    const current = await control.catch(() => undefined);
    if (current?.ended === false) return current;
    // The next query tries again: the server may be back.
    if (this.control === control) this.control = undefined;
    return current === undefined ? control : this.connected();
  }

  private exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.work.then(work);
    this.work = result.catch(() => undefined);
    return result;
  }

  /** A connection of its own, for as long as the work takes. */
  private async connection<T>(
    database: string | undefined,
    work: (query: Query) => Promise<T>,
    login?: Login,
  ): Promise<T> {
    const connection = await this.upstream.admin(database, login);
    try {
      return await work(connection.query);
    } finally {
      await connection.close();
    }
  }

  /** Two emulators with one mark would drop each other's databases: a copied data file, or a second start with one. */
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

  /** As Postgres wants it: a signed number of 4 bytes. */
  private get lockKey(): number {
    return Number.parseInt(this.mark, 16) | 0;
  }

  private async start(): Promise<void> {
    const { where } = this.upstream;
    const [facts] = await this.query(
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
    this.isSuperuser = facts?.rolsuper === true;
    if (!this.isSuperuser && !(facts?.rolcreaterole === true && facts.rolcreatedb === true)) {
      throw new PostgresError(
        `the user "${String(facts?.rolname)}" of Postgres at ${where} may not create roles and databases: run ` +
          `ALTER ROLE ${quoted(String(facts?.rolname))} CREATEROLE CREATEDB as a superuser, or give another user`,
        INSUFFICIENT_PRIVILEGE,
      );
    }
    this.slots = Math.max(0, Number(facts?.connections) - Number(facts?.reserved) - OWN_CONNECTIONS);
    await this.makeRoles();
    await this.tryLogin(String(facts?.database));
  }

  private async makeRoles(): Promise<void> {
    const roles = [
      { login: this.writer, attributes: "LOGIN CREATEDB" },
      { login: this.reader, attributes: "LOGIN NOCREATEDB" },
      { login: this.keeper, attributes: "LOGIN NOCREATEDB" },
    ];
    await this.connection(undefined, async (query) => {
      for (const { login, attributes } of roles) {
        const role = quoted(login.user);
        const [existing] = await query(
          "SELECT shobj_description(oid, 'pg_authid') AS comment FROM pg_roles WHERE rolname = $1",
          [login.user],
        );
        if (existing !== undefined && existing.comment !== `${this.comment}role`) {
          throw new PostgresError(
            `Postgres at ${this.upstream.where} has a role ${role} that this emulator did not make: drop or rename it, or ` +
              "start with another data file",
            OBJECT_IN_USE,
          );
        }
        await query("BEGIN");
        if (existing === undefined) {
          await query(`CREATE ROLE ${role}`);
          await query(`COMMENT ON ROLE ${role} IS ${literal(`${this.comment}role`)}`);
        }
        const password = await storedPassword(login.password);
        await query(`ALTER ROLE ${role} WITH ${attributes} PASSWORD ${literal(password)}`).catch((error: unknown) => {
          if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
          throw new PostgresError(
            `Postgres at ${this.upstream.where} has the role ${role} of an earlier start, which another user made: give ` +
              "that user, or start with another data file",
            INSUFFICIENT_PRIVILEGE,
          );
        });
        // Any role may change its own settings.
        await query(`ALTER ROLE ${role} RESET ALL`);
        // Who is no superuser makes a database for a role, and ends its sessions, only as a member of it.
        if (!this.isSuperuser) await query(`GRANT ${role} TO CURRENT_USER`);
        await query("COMMIT");
      }
      // The rights refuse a write; this gives the words that a replica has for it.
      await query(`ALTER ROLE ${quoted(this.reader.user)} SET default_transaction_read_only = on`);
      await query(`GRANT pg_read_all_data TO ${quoted(this.reader.user)}`).catch((error: unknown) => {
        if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
        this.noReader = new PostgresError(
          `a read replica needs a role that reads all tables, and the user of Postgres at ${this.upstream.where} may not ` +
            "grant that: run GRANT pg_read_all_data TO that user WITH ADMIN OPTION as a superuser, and start again",
          NOT_SUPPORTED,
        );
      });
    });
  }

  /** pg_hba.conf may accept the user of the address and nobody else: better told at the start than to the first client. */
  private async tryLogin(database: string): Promise<void> {
    try {
      const { socket } = await this.upstream.session(this.writer, database, {});
      socket.destroy();
    } catch (error) {
      // The server reads pg_hba.conf first: the role got in, and that database is not for it.
      if (!isRefused(error, INSUFFICIENT_PRIVILEGE)) throw error;
    }
  }

  private async findOrMake(place: Place): Promise<string> {
    await this.dropPending(place);
    const found = await this.look(place);
    if (found !== undefined && this.isReady(place, found)) return found.name;
    return this.exclusively(async () => {
      const now = await this.look(place);
      if (now === undefined) return this.make(place);
      // One that an emulator made which was killed before it was done, or whose comment a client has changed.
      if (now.name === this.nameOf(place)) return this.finish(place, now.name);
      await this.restrict(now.name);
      this.restricted.add(now.oid);
      return now.name;
    });
  }

  /** One that a client has made is everybody's at first. */
  private isReady(place: Place, { oid, comment }: Database): boolean {
    return comment === this.commentOf(place) || this.restricted.has(oid);
  }

  /**
   * Who is meant by a place: the database with its comment, under whatever name; else what has the name that this one
   * would get; else one that a client has made by that name. Each belongs to the instance's role.
   */
  private async look(place: Place): Promise<Database | undefined> {
    const own = this.commentOf(place);
    const name = this.nameOf(place);
    // No name has a NUL, and the server refuses a query with one.
    const names = [name, place.database.replaceAll("\0", "")];
    const rows = await this.databases("datname = ANY($1) OR description = $2", [names, own]);
    const ours = rows.filter(({ owner }) => owner === this.writer.user);
    const mine = ours.find(({ comment }) => comment === own);
    if (mine !== undefined) return mine;
    const taken = rows.find((row) => row.name === name);
    if (taken !== undefined) {
      if (taken.owner === this.writer.user) return taken;
      throw new PostgresError(
        `Postgres at ${this.upstream.where} has a database "${name}" that this emulator did not make, or that is not its ` +
          "own any more: drop or rename it",
        DUPLICATE_DATABASE,
      );
    }
    const named = ours.find((row) => row.name === place.database);
    const other = named && this.placeOf(named.comment);
    if (other && (other.projectId !== place.projectId || other.branchId !== place.branchId)) {
      throw new PostgresError(`database "${place.database}" does not exist in this branch`, NO_SUCH_DATABASE);
    }
    return named;
  }

  private async make(place: Place): Promise<string> {
    const name = this.nameOf(place);
    await this.connection(undefined, async (query) => {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        try {
          await query(`CREATE DATABASE ${quoted(name)} OWNER ${quoted(this.writer.user)}`);
          return;
        } catch (error) {
          // Somebody is connected to template1. It is the template so that a user can put extensions into it.
          if (!isRefused(error, OBJECT_IN_USE) || Date.now() >= deadline) throw error;
          await delay(100);
        }
      }
    });
    await this.finish(place, name);
    for (const listener of this.listeners) listener();
    return name;
  }

  /** The comment comes last: a database of our role and name without one was left by an emulator that was killed. */
  private async finish(place: Place, name: string): Promise<string> {
    await this.restrict(name);
    await this.query(`COMMENT ON DATABASE ${quoted(name)} IS ${literal(this.commentOf(place))}`);
    return name;
  }

  /** Only the instance's roles get in, and only the first one makes anything there. */
  private restrict(name: string): Promise<void> {
    const [writer, reader] = [quoted(this.writer.user), quoted(this.reader.user)];
    return this.connection(name, async (query) => {
      await query(`REVOKE ALL ON DATABASE ${quoted(name)} FROM PUBLIC`);
      await query(`GRANT CONNECT ON DATABASE ${quoted(name)} TO ${reader}`);
      await query(`GRANT CONNECT, CREATE ON DATABASE ${quoted(name)} TO ${quoted(this.keeper.user)}`);
      const [schema] = await query(
        "SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = 'public'",
      );
      if (schema === undefined) return;
      // Before version 15, and in clusters that come from there, it belongs to a superuser and all may create in it.
      const isTheirs = schema.owner === "pg_database_owner" || schema.owner === this.writer.user;
      if (this.isSuperuser && !isTheirs) await query(`ALTER SCHEMA public OWNER TO ${writer}`);
      await query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    });
  }

  /** What only read-only sessions need. At the first of them, as it shows in a dump of the database. */
  private async makeReadable(name: string): Promise<void> {
    if (this.noReader !== undefined) throw this.noReader;
    const [row] = await this.query("SELECT oid::text FROM pg_database WHERE datname = $1", [name]);
    const oid = String(row?.oid);
    if (this.readable.has(oid)) return;
    await this.exclusively(() => this.connection(name, (query) => this.denyReader(name, query)));
    this.readable.add(oid);
  }

  private async denyReader(name: string, query: Query): Promise<void> {
    if (this.isSuperuser) {
      // Else anybody makes large objects. They belong to who made them, so nothing else writes to those of others.
      const functions = "lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)";
      await query(`REVOKE EXECUTE ON FUNCTION ${functions} FROM PUBLIC`);
      await query(`GRANT EXECUTE ON FUNCTION ${functions} TO ${quoted(this.writer.user)}`);
    }
    const [rights] = await query(
      `SELECT coalesce(bool_or(has_schema_privilege($1, oid, 'CREATE')), false) AS creates
         FROM pg_namespace WHERE nspname = 'public'`,
      [this.reader.user],
    );
    if (rights?.creates === true) {
      throw new PostgresError(
        `a read replica of "${name}" would not be read-only: its role may create tables in the schema public. Run ` +
          `REVOKE CREATE ON SCHEMA public FROM PUBLIC in that database as the schema's owner (at ${this.upstream.where})`,
        NOT_SUPPORTED,
      );
    }
  }

  /** Signals sessions of the instance's roles. A number may have passed to somebody else's session meanwhile. */
  private async signal(action: "pg_cancel_backend" | "pg_terminate_backend", ids: readonly number[]): Promise<number> {
    if (ids.length === 0) return 0;
    const rows = await this.query(
      `SELECT ${action}(pid) FROM pg_stat_activity WHERE pid = ANY($1) AND usename = ANY($2)`,
      [ids, [this.writer.user, this.reader.user]],
    );
    return rows.length;
  }

  /** Of one place, or all of it. */
  private async dropPending(place?: Place): Promise<void> {
    for (const which of [...this.dropping]) {
      if (place !== undefined && !covers(which, place)) continue;
      await this.exclusively(() => this.dropNow(which));
      this.dropping.delete(which);
    }
  }

  private async dropNow(which: Which): Promise<void> {
    const meant = (await this.ours()).filter(({ comment }) => covers(which, this.placeOf(comment)));
    if (meant.length === 0) return;
    await this.connection(undefined, async (query) => {
      const failures: unknown[] = [];
      for (const { name } of meant) {
        try {
          // A client may have made it one, as some test tools do.
          await query(`ALTER DATABASE ${quoted(name)} IS_TEMPLATE false`);
          await query(`DROP DATABASE ${quoted(name)} WITH (FORCE)`);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }

  /** All that belongs to the instance: by owner, whatever a client has written over the comment. */
  private ours(): Promise<Database[]> {
    return this.databases("rolname = $1", [this.writer.user]);
  }

  private async databases(condition: string, values: readonly unknown[]): Promise<Database[]> {
    const rows = await this.query(
      `SELECT d.oid::text, datname, rolname, coalesce(description, '') AS description
       FROM pg_database d JOIN pg_roles r ON r.oid = datdba
       LEFT JOIN pg_shdescription s ON s.objoid = d.oid AND classoid = 'pg_database'::regclass
       WHERE ${condition} ORDER BY datname`,
      values,
    );
    return rows.map(({ oid, datname, rolname, description }) => ({
      oid: String(oid),
      name: String(datname),
      owner: String(rolname),
      comment: String(description),
    }));
  }

  private nameOf(place: Place): string {
    const hash = createHash("sha256").update(this.commentOf(place)).digest("hex");
    return `${this.writer.user}_${hash.slice(0, 16)}`;
  }

  private commentOf({ projectId, branchId, database }: Place): string {
    return this.comment + [projectId, branchId, database].map(encoded).join("/");
  }

  /** Undefined where a client has written something else. */
  private placeOf(comment: string): Place | undefined {
    if (!comment.startsWith(this.comment)) return undefined;
    const [projectId, branchId, database] = comment.slice(this.comment.length).split("/").map(decoded);
    if (projectId === undefined || branchId === undefined || database === undefined) return undefined;
    return { projectId, branchId, database };
  }
}
