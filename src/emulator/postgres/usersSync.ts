import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { keptSchema, SCHEMA_NAME, TABLE_NAME } from "../model/auth";
import type { StoredUser } from "../model/records";
import type { Store } from "../model/store";
import type { PostgresServer } from "./postgresServer";
import type { ServiceDatabase } from "./serviceDatabases";
import { PostgresError, type Query } from "./upstream";

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

const TABLE = `${SCHEMA_NAME}.${TABLE_NAME}`;
const DUPLICATE_SCHEMA = "42P06";

/** The wanted content of a database: the users, no table, or its current content. */
type WantedTable = { place: ServiceDatabase; users: readonly StoredUser[] | "none" | "as they are" };

/** A Postgres string cannot contain a NUL. */
const storable = (text: string): string => text.replaceAll("\0", "");

/**
 * Maintains the table of users in the database of each integration. API requests neither wait for it nor fail because
 * of it: it follows the model one change at a time, and retries while Postgres is unreachable.
 */
export class UsersSync {
  /** What was written to each database, as text to detect changes. */
  private readonly written = new Map<string, { place: ServiceDatabase; text: string }>();
  private isDue = false;
  private running: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly store: Store,
    private readonly server: PostgresServer,
  ) {
    // A client has dropped a database, and it was created again.
    server.databases.onMade(() => {
      for (const written of this.written.values()) written.text = "";
      this.follow();
    });
  }

  /** Also removes the tables of integrations that were deleted while Postgres was unreachable. */
  async start(): Promise<void> {
    for (const place of await this.server.databases.places())
      this.written.set(JSON.stringify(place), { place, text: "" });
    this.follow();
  }

  /** Finishes the current work and starts nothing more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Call after each change of the model. */
  follow(): void {
    this.isDue = true;
    if (this.stopping.signal.aborted) return;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      // For a change between the last check and here.
      if (this.isDue) this.follow();
    });
  }

  private async run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (this.isDue && !this.stopping.signal.aborted) {
      // Combines all changes of one request.
      await setImmediate();
      this.isDue = false;
      const problem = await this.writeAll();
      if (problem === undefined) {
        retryMs = FIRST_RETRY_MS;
        continue;
      }
      this.isDue = true;
      if (retryMs === FIRST_RETRY_MS) {
        process.emitWarning(`${TABLE} is out of date; the emulator retries until it can write it: ${problem.message}`);
      }
      await delay(retryMs, undefined, { ref: false, signal: this.stopping.signal }).catch(() => undefined);
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
    }
  }

  /** Writes every database that needs it; a problem with one does not delay the others. */
  private async writeAll(): Promise<Error | undefined> {
    let problem: Error | undefined;
    for (const [key, { place, users }] of this.wanted()) {
      const text = JSON.stringify(users);
      if (this.stopping.signal.aborted || this.written.get(key)?.text === text) continue;
      try {
        if (users === "none") await this.remove(place);
        else if (users !== "as they are") await this.write(place, users);
        if (users === "none") this.written.delete(key);
        else this.written.set(key, { place, text });
      } catch (error) {
        problem ??= error instanceof Error ? error : new Error(String(error));
      }
    }
    return problem;
  }

  private wanted(): Map<string, WantedTable> {
    const wanted = new Map<string, WantedTable>();
    for (const [key, { place }] of this.written) {
      const project = this.store.projects.find(({ id }) => id === place.projectId);
      const isKept = project?.kept_schemas.includes(keptSchema(place.branchId, place.database));
      wanted.set(key, { place, users: isKept ? "as they are" : "none" });
    }
    for (const { id: projectId, branches, integrations, users } of this.store.projects) {
      for (const { branch_id: branchId, db_name: database } of integrations) {
        const place: ServiceDatabase = { projectId, branchId, database };
        // An edit by hand may name a branch that does not exist.
        if (branches.some(({ id }) => id === branchId)) wanted.set(JSON.stringify(place), { place, users });
      }
    }
    return wanted;
  }

  private async write(place: ServiceDatabase, users: readonly StoredUser[]): Promise<void> {
    const database = await this.server.databases.get(place);
    await this.server.within(database, async (query) => {
      if (await this.belongsToClients(query)) {
        throw new PostgresError(
          `the database "${database}" has a schema "${SCHEMA_NAME}" that a client created: drop it there`,
          DUPLICATE_SCHEMA,
        );
      }
      await limitWaiting(query);
      await query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA_NAME}`);
      await query(
        `CREATE TABLE IF NOT EXISTS ${TABLE}
         (id text PRIMARY KEY, email text NOT NULL, name text, created_at timestamptz NOT NULL)`,
      );
      // Only the roles of this instance have access to the database. Users' tables may refer to it.
      await query(`GRANT USAGE ON SCHEMA ${SCHEMA_NAME} TO PUBLIC`);
      await query(`GRANT SELECT, REFERENCES ON ${TABLE} TO PUBLIC`);
      const rows = [...new Map(users.map((user) => [storable(user.id), user]))];
      await query(
        `INSERT INTO ${TABLE} AS old SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
         ON CONFLICT (id) DO UPDATE SET email = excluded.email, name = excluded.name, created_at = excluded.created_at
         WHERE (old.email, old.name, old.created_at) IS DISTINCT FROM (excluded.email, excluded.name, excluded.created_at)`,
        [
          rows.map(([id]) => id),
          rows.map(([, { email }]) => storable(email)),
          rows.map(([, { name }]) => (name === undefined ? null : storable(name))),
          rows.map(([, { created_at }]) => created_at),
        ],
      );
      const gone = await query(`SELECT id FROM ${TABLE} WHERE id <> ALL($1)`, [rows.map(([id]) => id)]);
      let problem: unknown;
      // One by one, because a client's table may still refer to one of them.
      for (const { id } of gone) {
        await query(`DELETE FROM ${TABLE} WHERE id = $1`, [id]).catch((error: unknown) => (problem ??= error));
      }
      if (problem !== undefined) throw problem;
    });
  }

  /** With its dependants, such as foreign keys of clients' tables. */
  private async remove(place: ServiceDatabase): Promise<void> {
    const database = await this.server.databases.find(place);
    if (database === undefined) return;
    await this.server.within(database, async (query) => {
      if (await this.belongsToClients(query)) return;
      await limitWaiting(query);
      await query(`DROP SCHEMA IF EXISTS ${SCHEMA_NAME} CASCADE`);
    });
  }

  private async belongsToClients(query: Query): Promise<boolean> {
    const rows = await query("SELECT 1 FROM pg_namespace WHERE nspname = $1 AND pg_get_userbyid(nspowner) = $2", [
      SCHEMA_NAME,
      this.server.role,
    ]);
    return rows.length > 0;
  }
}

/** A transaction that a client leaves open must not delay the databases of others. */
async function limitWaiting(query: Query): Promise<void> {
  await query("SET lock_timeout = '2s'");
}
