import { setTimeout as delay } from "node:timers/promises";
import { keptSchema, SCHEMA_NAME, TABLE_NAME } from "../model/auth";
import type { StoredBranch, StoredIntegration, StoredProject, StoredUser } from "../model/records";
import { KEEPER, type Cluster } from "./cluster";
import { SessionError } from "./protocol";
import { literal, quoted, type Query } from "./session";

const RETRY_MS = 1_000;

const TABLE = `${SCHEMA_NAME}.${TABLE_NAME}`;
const DUPLICATE_SCHEMA = "42P06";

/** Before version 16, a client with CREATEROLE can change and drop the keeper. */
const REPAIR = `
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${KEEPER}') THEN CREATE ROLE ${KEEPER}; END IF;
  END $$;
  ALTER ROLE ${KEEPER} LOGIN CONNECTION LIMIT -1`;

/** A Postgres string cannot contain a NUL, nor half a surrogate pair. */
const storable = (text: string): string =>
  /[\0\ud800-\udfff]/.test(text) ? Buffer.from(text.replaceAll("\0", "")).toString() : text;

/** Maintains the table of users in the databases of a branch's integrations, while its cluster runs. */
export class UsersSync {
  /** For which integrations it was written, as text. Undefined: everything has to be written. */
  #written: string | undefined;
  /** The users that were written, by storable id. Copies, since edits change records. */
  #users = new Map<string, StoredUser>();
  #failures = 0;
  #running: Promise<void> | undefined;
  /** After the last writing. */
  #position: string | undefined;

  constructor(
    private readonly project: StoredProject,
    private readonly branch: StoredBranch,
    private readonly cluster: Cluster,
  ) {}

  /** Call after each change of the model while the cluster runs. */
  follow(): void {
    // A run looks again before it ends.
    if (this.#running !== undefined || !this.cluster.isRunning) return;
    const todo = this.#todo();
    if (todo !== undefined) this.#running = this.#run(todo);
  }

  /** For a client that is about to read the table, there or on a standby. */
  async upToDate(standby?: Cluster): Promise<void> {
    this.follow();
    // A client may be about to mend what it has done to the table.
    if (this.#failures <= 1) await this.#running;
    if (standby?.isRunning && this.#position !== undefined) await standby.hasReached(this.#position);
  }

  #integrations(): StoredIntegration[] {
    return this.project.integrations.filter(({ branch_id }) => branch_id === this.branch.id);
  }

  /** Undefined: everything is written. */
  #todo(): Todo | undefined {
    const integrations = this.#integrations();
    const target = JSON.stringify([integrations, this.project.kept_schemas]);
    const isAll = target !== this.#written;
    // Of several users with the same id, the last one counts.
    const users = new Map<string, StoredUser>();
    if (integrations.length > 0) for (const user of this.project.users) users.set(storable(user.id), user);
    const changed: StoredUser[] = [];
    for (const [id, user] of users) if (isAll || !isSame(this.#users.get(id), user)) changed.push({ ...user, id });
    const gone: string[] = [];
    for (const id of this.#users.keys()) if (!users.has(id)) gone.push(id);
    return isAll || changed.length + gone.length > 0 ? { target, isAll, changed, gone } : undefined;
  }

  #done({ target, changed, gone, isAll }: Todo): void {
    if (isAll) this.#users.clear();
    for (const user of changed) this.#users.set(user.id, user);
    for (const id of gone) this.#users.delete(id);
    this.#written = target;
  }

  /** A change during the work is written as well. */
  async #run(first: Todo): Promise<void> {
    for (let todo: Todo | undefined = first; todo !== undefined && this.cluster.isRunning; todo = this.#todo()) {
      try {
        await (todo.isAll ? this.#writeAll(todo) : this.#write(todo));
        this.#position = await this.cluster.position();
        this.#done(todo);
        this.#failures = 0;
      } catch (error) {
        // A client may have dropped the database.
        this.#written = undefined;
        // The table stays as it is until the next start of the cluster.
        if (!this.cluster.isRunning) break;
        const words = error instanceof Error ? error.message : String(error);
        this.#failures += 1;
        // The first one may be due to a server that is stopped and started again.
        if (this.#failures === 2) process.emitWarning(`${TABLE} is out of date; the emulator tries again: ${words}`);
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
    // In the same turn as the last look: no change is missed.
    this.#running = undefined;
  }

  /** What has changed, in the databases that have the table. */
  async #write({ changed, gone }: Todo): Promise<void> {
    await eachOf(new Set(this.#integrations().map(({ db_name }) => storable(db_name))), (database) =>
      this.cluster.keep(database, async (query) => {
        await requireOurs(query, database);
        await limitWaiting(query);
        if (changed.length > 0) await query(upsert(changed));
        await drop(query, gone);
      }),
    );
  }

  /** Every database that needs it; a problem with one does not delay the others. */
  async #writeAll({ changed: users }: Todo): Promise<void> {
    const integrations = this.#integrations();
    const databases = await this.cluster.administer(async (query) => {
      await query(REPAIR);
      for (const integration of integrations) await ensureDatabase(query, integration);
      return query(
        `SELECT datname FROM pg_database
         WHERE datallowconn AND has_database_privilege('${KEEPER}', oid, 'CREATE')`,
      );
    });
    await eachOf(databases.flat(), async (database = "") => {
      const isWanted = integrations.some(({ db_name }) => storable(db_name) === database);
      const isKept = this.project.kept_schemas.includes(keptSchema(this.branch.id, database));
      if (!isWanted && isKept) return;
      const work = (query: Query): Promise<void> => (isWanted ? fill(query, database, users) : remove(query));
      await this.cluster.keep(database, work);
    });
  }
}

interface Todo {
  readonly target: string;
  /** With storable ids. If everything is written: all. */
  readonly changed: readonly StoredUser[];
  /** Their ids. */
  readonly gone: readonly string[];
  readonly isAll: boolean;
}

const isSame = (before: StoredUser | undefined, now: StoredUser): boolean =>
  before !== undefined &&
  before.email === now.email &&
  before.name === now.name &&
  before.created_at === now.created_at;

/** One after another. A problem with one does not delay the others. */
async function eachOf<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const problems: unknown[] = [];
  for (const item of items) await work(item).catch((error: unknown) => problems.push(error));
  if (problems.length > 0) throw problems[0];
}

/** The role and the database of an integration may not exist yet. */
async function ensureDatabase(query: Query, integration: StoredIntegration): Promise<void> {
  const [role, database] = [storable(integration.role_name), storable(integration.db_name)];
  const [found] = await query(
    `SELECT (SELECT 1 FROM pg_roles WHERE rolname = ${literal(role)}),
            (SELECT 1 FROM pg_database WHERE datname = ${literal(database)})`,
  );
  if (found?.[0] === undefined) await query(`CREATE ROLE ${quoted(role)} LOGIN CREATEDB CREATEROLE`);
  if (found?.[1] === undefined)
    await query(`CREATE DATABASE ${quoted(database)} OWNER ${quoted(role)} TEMPLATE template0`);
  await query(`GRANT CONNECT, CREATE ON DATABASE ${quoted(database)} TO ${KEEPER}`);
}

/** Their rows as a relation. */
function relationOf(users: readonly StoredUser[]): string {
  const rows = users.map(({ id, email, name, created_at }) => ({
    ...{ id, email: storable(email), name: name === undefined ? null : storable(name), created_at },
  }));
  return (
    `json_to_recordset(${literal(JSON.stringify(rows))})` +
    " AS new (id text, email text, name text, created_at timestamptz)"
  );
}

const upsert = (users: readonly StoredUser[]): string =>
  `INSERT INTO ${TABLE} AS old SELECT * FROM ${relationOf(users)}
   ON CONFLICT (id) DO UPDATE SET email = excluded.email, name = excluded.name, created_at = excluded.created_at
   WHERE (old.email, old.name, old.created_at) IS DISTINCT FROM (excluded.email, excluded.name, excluded.created_at)`;

/** One by one, because a client's table may still refer to one of them. */
const drop = (query: Query, ids: readonly string[]): Promise<void> =>
  eachOf(ids, (id) => query(`DELETE FROM ${TABLE} WHERE id = ${literal(id)}`));

async function fill(query: Query, database: string, users: readonly StoredUser[]): Promise<void> {
  await requireOurs(query, database);
  await limitWaiting(query);
  await query(
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA_NAME};
     CREATE TABLE IF NOT EXISTS ${TABLE}
       (id text PRIMARY KEY, email text NOT NULL, name text, created_at timestamptz NOT NULL);
     GRANT USAGE ON SCHEMA ${SCHEMA_NAME} TO PUBLIC;
     GRANT SELECT, REFERENCES ON ${TABLE} TO PUBLIC;
     ${upsert(users)}`,
  );
  const gone = await query(`SELECT id FROM ${TABLE} WHERE id NOT IN (SELECT id FROM ${relationOf(users)})`);
  await drop(
    query,
    gone.map(([id = ""]) => id),
  );
}

/** @throws SessionError */
async function requireOurs(query: Query, database: string): Promise<void> {
  if (await belongsToClients(query)) {
    throw new SessionError(
      DUPLICATE_SCHEMA,
      `the database "${database}" has a schema "${SCHEMA_NAME}" that a client created: drop it there`,
    );
  }
}

/** With its dependants, such as foreign keys of clients' tables. */
async function remove(query: Query): Promise<void> {
  if (await belongsToClients(query)) return;
  await limitWaiting(query);
  await query(`DROP SCHEMA IF EXISTS ${SCHEMA_NAME} CASCADE`);
}

async function belongsToClients(query: Query): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM pg_namespace WHERE nspname = '${SCHEMA_NAME}' AND pg_get_userbyid(nspowner) <> '${KEEPER}'`,
  );
  return rows.length > 0;
}

/** A transaction that a client leaves open must not delay the databases of others. */
async function limitWaiting(query: Query): Promise<void> {
  await query("SET lock_timeout = '2s'");
}
