import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { InstanceConnection } from "./instanceConnection";
import type { InstanceRoles } from "./instanceRoles";
import { DUPLICATE_DATABASE, isRefused, literal, NO_SUCH_DATABASE, OBJECT_IN_USE, quoted } from "./sql";
import { PostgresError } from "./upstream";

/** A database as the service knows it. */
export interface ServiceDatabase {
  readonly projectId: string;
  readonly branchId: string;
  readonly database: string;
}

/** Selects the databases of a branch, of a project, or all. */
export interface DatabaseScope {
  readonly projectId?: string;
  readonly branchId?: string;
}

/** A database on the server. */
interface ServerDatabase {
  readonly oid: string;
  readonly name: string;
  readonly owner: string;
  readonly comment: string;
}

/** How long to wait while somebody is connected to the template. */
const PATIENCE_MS = 5_000;

/** A JSON string may contain half a surrogate pair, which has no UTF-8 encoding. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A database without a place was created by a client and belongs to no branch. */
const covers = ({ projectId, branchId }: DatabaseScope, place: ServiceDatabase | undefined): boolean =>
  place === undefined
    ? projectId === undefined
    : (projectId ?? place.projectId) === place.projectId && (branchId ?? place.branchId) === place.branchId;

/**
 * The databases of one instance on the server: one for each database of the service that a client has connected to. A
 * comment on each identifies it. A database with neither the comment nor the instance's role as its owner is never
 * touched (docs/design/decisions.md, Emulator).
 */
export class ServiceDatabases {
  private readonly making = new Map<string, Promise<string>>();
  /** Databases still to be dropped. None is returned to clients before that. */
  private readonly dropping = new Set<DatabaseScope>();
  /** The oids of clients' databases whose permissions were set. */
  private readonly restricted = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  /** @param comment the prefix of this instance's comments */
  constructor(
    private readonly connection: InstanceConnection,
    private readonly roles: InstanceRoles,
    private readonly comment: string,
  ) {}

  /** The database of a place, created if necessary; concurrent calls create one. */
  get(place: ServiceDatabase): Promise<string> {
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
  async find(place: ServiceDatabase): Promise<string | undefined> {
    await this.dropPending(place);
    const found = await this.look(place);
    return found !== undefined && found.comment === this.commentOf(place) ? found.name : undefined;
  }

  /** The places that have a database. */
  async places(): Promise<ServiceDatabase[]> {
    const all = await this.ours();
    return all.flatMap(({ comment }) => this.placeOf(comment) ?? []);
  }

  /** Calls the listener after a database was made. */
  onMade(listener: () => void): void {
    this.listeners.push(listener);
  }

  /**
   * Drops the databases of a branch, of a project, or all, with their sessions. If that is impossible now, they are
   * dropped before the next database is returned.
   */
  drop(which: DatabaseScope): Promise<void> {
    this.dropping.add(which);
    this.making.clear();
    return this.dropPending();
  }

  private async findOrMake(place: ServiceDatabase): Promise<string> {
    await this.dropPending(place);
    const found = await this.look(place);
    if (found !== undefined && this.isReady(place, found)) return found.name;
    return this.connection.exclusively(async () => {
      const now = await this.look(place);
      if (now === undefined) return this.make(place);
      // Left by an emulator that was killed while creating it, or a client has changed its comment.
      if (now.name === this.nameOf(place)) return this.finish(place, now.name);
      await this.restrict(now.name);
      this.restricted.add(now.oid);
      return now.name;
    });
  }

  /** At first, everybody has access to a database that a client has created. */
  private isReady(place: ServiceDatabase, { oid, comment }: ServerDatabase): boolean {
    return comment === this.commentOf(place) || this.restricted.has(oid);
  }

  /**
   * Finds the database of a place: the one with its comment, whatever its name; otherwise the one with the name that it
   * would get; otherwise a client's database with that name. Each belongs to the instance's role.
   */
  private async look(place: ServiceDatabase): Promise<ServerDatabase | undefined> {
    const own = this.commentOf(place);
    const name = this.nameOf(place);
    // No name contains a NUL, and the server refuses a query with one.
    const names = [name, place.database.replaceAll("\0", "")];
    const rows = await this.databases("datname = ANY($1) OR description = $2", [names, own]);
    const ours = rows.filter(({ owner }) => owner === this.roles.writer.user);
    const mine = ours.find(({ comment }) => comment === own);
    if (mine !== undefined) return mine;
    const taken = rows.find((row) => row.name === name);
    if (taken !== undefined) {
      if (taken.owner === this.roles.writer.user) return taken;
      throw new PostgresError(
        `Postgres at ${this.connection.where} has a database "${name}" that this emulator did not create, or no longer ` +
          "owns: drop or rename it",
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

  private async make(place: ServiceDatabase): Promise<string> {
    const name = this.nameOf(place);
    await this.connection.within(undefined, async (query) => {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        try {
          await query(`CREATE DATABASE ${quoted(name)} OWNER ${quoted(this.roles.writer.user)}`);
          return;
        } catch (error) {
          // Somebody is connected to template1. It is the template so that a user can install extensions there.
          if (!isRefused(error, OBJECT_IN_USE) || Date.now() >= deadline) throw error;
          await delay(100);
        }
      }
    });
    await this.finish(place, name);
    for (const listener of this.listeners) listener();
    return name;
  }

  /** The comment is set last: a database with our role and name but without a comment was left by a killed emulator. */
  private async finish(place: ServiceDatabase, name: string): Promise<string> {
    await this.restrict(name);
    await this.connection.query(`COMMENT ON DATABASE ${quoted(name)} IS ${literal(this.commentOf(place))}`);
    return name;
  }

  /** Only the instance's roles have access, and only the first one may create anything. */
  private restrict(name: string): Promise<void> {
    const [writer, reader] = [quoted(this.roles.writer.user), quoted(this.roles.reader.user)];
    return this.connection.within(name, async (query) => {
      await query(`REVOKE ALL ON DATABASE ${quoted(name)} FROM PUBLIC`);
      await query(`GRANT CONNECT ON DATABASE ${quoted(name)} TO ${reader}`);
      await query(`GRANT CONNECT, CREATE ON DATABASE ${quoted(name)} TO ${quoted(this.roles.keeper.user)}`);
      const [schema] = await query(
        "SELECT pg_get_userbyid(nspowner) AS owner FROM pg_namespace WHERE nspname = 'public'",
      );
      if (schema === undefined) return;
      // Before version 15, and in clusters upgraded from there, it belongs to a superuser and everyone may create
      // objects in it.
      const isTheirs = schema.owner === "pg_database_owner" || schema.owner === this.roles.writer.user;
      if (this.roles.isSuperuser && !isTheirs) await query(`ALTER SCHEMA public OWNER TO ${writer}`);
      await query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    });
  }

  /** For one place, or all. */
  private async dropPending(place?: ServiceDatabase): Promise<void> {
    for (const which of [...this.dropping]) {
      if (place !== undefined && !covers(which, place)) continue;
      await this.connection.exclusively(() => this.dropNow(which));
      this.dropping.delete(which);
    }
  }

  private async dropNow(which: DatabaseScope): Promise<void> {
    const meant = (await this.ours()).filter(({ comment }) => covers(which, this.placeOf(comment)));
    if (meant.length === 0) return;
    await this.connection.within(undefined, async (query) => {
      const failures: unknown[] = [];
      for (const { name } of meant) {
        try {
          // A client may have made it a template, as some test tools do.
          await query(`ALTER DATABASE ${quoted(name)} IS_TEMPLATE false`);
          await query(`DROP DATABASE ${quoted(name)} WITH (FORCE)`);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }

  /** All databases of the instance: by owner, even if a client has overwritten the comment. */
  private ours(): Promise<ServerDatabase[]> {
    return this.databases("rolname = $1", [this.roles.writer.user]);
  }

  private async databases(condition: string, values: readonly unknown[]): Promise<ServerDatabase[]> {
    const rows = await this.connection.query(
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

  private nameOf(place: ServiceDatabase): string {
    const hash = createHash("sha256").update(this.commentOf(place)).digest("hex");
    return `${this.roles.writer.user}_${hash.slice(0, 16)}`;
  }

  private commentOf({ projectId, branchId, database }: ServiceDatabase): string {
    return this.comment + [projectId, branchId, database].map(encoded).join("/");
  }

  /** Undefined if a client has written something else. */
  private placeOf(comment: string): ServiceDatabase | undefined {
    if (!comment.startsWith(this.comment)) return undefined;
    const [projectId, branchId, database] = comment.slice(this.comment.length).split("/").map(decoded);
    if (projectId === undefined || branchId === undefined || database === undefined) return undefined;
    return { projectId, branchId, database };
  }
}
