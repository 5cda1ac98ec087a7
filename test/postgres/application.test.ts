import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { integer, pgTable, serial, text as textColumn } from "drizzle-orm/pg-core";
import { Client, Pool } from "pg";
import postgres, { type Sql } from "postgres";
import { startEmulator, type Emulator } from "../../src/emulator";
import { connectionUri } from "../../src/helpers/connectionUri";
import { PRIMARY } from "../support/emulator";
import { uriOf, useServers } from "../support/gate";
import { psqlProgram } from "../support/postgres";

/**
 * What an application does, each row by its own driver: the answers through the gate and its pooler are those of the
 * cluster itself. What differs is in docs/emulator.md.
 */
let shared: Promise<Emulator> | undefined;
afterAll(async () => (await shared)?.close());
const servers = useServers();
const files = mkdtempSync(join(tmpdir(), "svc-application-"));
afterAll(() => rmSync(files, { recursive: true, force: true }));

interface Way {
  readonly uri: string;
  /** For `postgres`, whose connection strings name no socket. */
  readonly sql: (more?: postgres.Options<Record<string, never>>) => Sql;
}

async function ways(): Promise<{ direct: Way; gate: Way; pooled: Way }> {
  const emulator = await (shared ??= startEmulator({ activationMs: 20, postgres: true }));
  const gate = uriOf(emulator);
  const pooled = connectionUri({
    ...{ host: PRIMARY, role: "svcdb_owner", database: "svcdb", password: emulator.apiKey, gate: emulator.gate ?? "" },
    pooled: true,
  });
  const client = new Client({ connectionString: gate });
  await client.connect();
  await client.end();
  const [made = ""] = readdirSync(servers.folder).filter((name) => name.startsWith("pulumi-svc-sockets-"));
  // Beside the sign of its emulator, which is no folder.
  const [one = ""] = readdirSync(join(servers.folder, made)).filter((name) => !name.startsWith("alive-"));
  const host = join(servers.folder, made, one);
  const quiet = { onnotice: () => undefined, max: 4 };
  return {
    direct: {
      uri: `postgresql://svcdb_owner@/svcdb?host=${encodeURIComponent(host)}`,
      sql: (more) => postgres({ host, user: "svcdb_owner", database: "svcdb", ...quiet, ...more }),
    },
    gate: { uri: gate, sql: (more) => postgres(gate, { ...quiet, ...more }) },
    pooled: { uri: pooled, sql: (more) => postgres(pooled, { ...quiet, ...more }) },
  };
}

async function withPg<T>({ uri }: Way, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: uri });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function withSql<T>(way: Way, work: (sql: Sql) => Promise<T>, more = {}): Promise<T> {
  const sql = way.sql(more);
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

const outcome = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await promise;
  } catch (error) {
    const { code, message, detail, hint, position, severity } = error as Record<string, unknown>;
    return { code, message, detail, hint, position, severity };
  }
};

const bin = dirname(psqlProgram() ?? "");
async function program(name: string, args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)(join(bin, name), args, { maxBuffer: 1e8 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

/** Everything in it begins anew. */
const RESET = "drop schema if exists app cascade; drop schema if exists drizzle cascade; create schema app";

const people = pgTable("people", { id: serial().primaryKey(), name: textColumn().notNull(), age: integer() });

function migrations(): string {
  const folder = mkdtempSync(join(files, "migrations-"));
  mkdirSync(join(folder, "meta"));
  const steps = [
    "drop table if exists people;--> statement-breakpoint\ncreate table people (id serial primary key, name text not null);",
    "alter table people add column age integer;--> statement-breakpoint\ncreate index on people (age);",
  ];
  const entries = steps.map((sql, idx) => {
    writeFileSync(join(folder, `000${idx}_step.sql`), sql);
    return { idx, version: "7", when: 1_700_000_000_000 + idx, tag: `000${idx}_step`, breakpoints: true };
  });
  writeFileSync(
    join(folder, "meta", "_journal.json"),
    JSON.stringify({ version: "7", dialect: "postgresql", entries }),
  );
  return folder;
}

const ROWS: Record<
  string,
  { run: (way: Way) => Promise<unknown>; pooled?: "differs" | "depends"; needsPsql?: boolean }
> = {
  "pg: values of many types": {
    run: (way) =>
      withPg(way, async (client) => {
        const { rows, fields } = await client.query(
          "select $1::int4 a, $2::numeric b, $3::jsonb c, $4::timestamptz d, $5::text[] e, $6::bytea f, $7::uuid g, null h",
          [
            1,
            "12.30",
            { one: [1] },
            "2026-01-02T03:04:05Z",
            ["a", 'b"'],
            Buffer.from([0, 255]),
            "c0ffee00-0000-4000-8000-000000000000",
          ],
        );
        return { rows, fields: fields.map(({ name, dataTypeID }) => [name, dataTypeID]) };
      }),
  },
  "pg: a transaction with a failure, a savepoint and a rollback": {
    run: (way) =>
      withPg(way, async (client) => {
        await client.query(`${RESET}; create table app.t (a int primary key)`);
        await client.query("begin isolation level serializable");
        await client.query("savepoint one");
        const failed = await outcome(client.query("insert into app.t values (1), (1)"));
        const aborted = await outcome(client.query("select 1"));
        await client.query("rollback to one");
        await client.query("insert into app.t values (2)");
        await client.query("commit");
        return { failed, aborted, rows: (await client.query("table app.t")).rows };
      }),
  },
  "pg: named statements, several statements at once, notices and errors with a position": {
    run: (way) =>
      withPg(way, async (client) => {
        const notices: unknown[] = [];
        client.on("notice", ({ message }) => notices.push(message));
        const named = [];
        for (const at of [1, 2])
          named.push((await client.query({ name: "n", text: "select $1::int + 1 a", values: [at] })).rows);
        const many = await client.query("select 1 a; select 2 b; do $$ begin raise notice 'seen'; end $$");
        return {
          named,
          many: [many].flat().map(({ rows, command }) => ({ rows, command })),
          notices,
          failed: await outcome(client.query("select nothing from nowhere")),
          divided: await outcome(client.query({ name: "d", text: "select 1 / $1::int", values: [0] })),
        };
      }),
  },
  "pg: a pool of ten with two hundred queries": {
    run: async ({ uri }) => {
      const pool = new Pool({ connectionString: uri, max: 10 });
      const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => pool.query("select $1::int a", [at])));
      await pool.end();
      return answers.map(({ rows }) => rows);
    },
  },
  "pg: a cursor in a transaction": {
    run: (way) =>
      withPg(way, async (client) => {
        await client.query("begin; declare c cursor for select generate_series(1, 5) a");
        const first = (await client.query("fetch 2 from c")).rows;
        const rest = (await client.query("fetch all from c")).rows;
        await client.query("commit");
        return { first, rest };
      }),
  },
  "pg: LISTEN and NOTIFY": {
    pooled: "differs",
    run: (way) =>
      withPg(way, async (client) => {
        const heard = new Promise((resolve) => client.once("notification", ({ payload }) => resolve(payload)));
        await client.query("listen news");
        await client.query("notify news, 'heard'");
        return Promise.race([heard, client.query("select pg_sleep(0.3)").then(() => "nothing")]);
      }),
  },
  "pg: temporary tables, settings and advisory locks of a session": {
    run: (way) =>
      withPg(way, async (client) => {
        await client.query("begin; create temp table kept (a int) on commit drop; set local work_mem = '7MB'");
        await client.query("select pg_advisory_xact_lock(1); insert into kept values (1)");
        const answer = [(await client.query("table kept")).rows, (await client.query("show work_mem")).rows];
        await client.query("commit");
        return answer;
      }),
  },
  "postgres: parallel queries, a transaction that fails, and types": {
    run: (way) =>
      withSql(way, async (sql) => {
        const rows = await Promise.all(
          Array.from({ length: 100 }, (_, at) => sql`select ${at}::int as at, ${[at]}::int[] as list`),
        );
        const failed = await outcome(
          sql.begin(async (inner) => {
            await inner`create table undone (a int)`;
            await inner`select 1 / 0`;
          }),
        );
        const [gone] = await sql`select to_regclass('undone') as name`;
        return { rows: rows.map((one) => [...one]), failed, gone };
      }),
  },
  "postgres: COPY in and out as streams": {
    run: (way) =>
      withSql(way, async (sql) => {
        await sql.unsafe(`${RESET}; create table app.lines (a int, b text)`);
        return sql.begin(async (inner) => {
          const lines = Array.from({ length: 2_000 }, (_, at) => `${at}\tline ${at}\n`);
          await pipeline(Readable.from(lines), (await inner`copy app.lines from stdin`.writable()) as Writable);
          const out = await text(
            await inner`copy (select * from app.lines order by a desc limit 3) to stdout`.readable(),
          );
          return { out, count: [...(await inner`select count(*)::int from app.lines`)] };
        });
      }),
  },
  "postgres: without prepared statements, and a cursor": {
    run: (way) =>
      withSql(
        way,
        async (sql) => {
          const seen: unknown[] = [];
          await sql`select generate_series(1, 7) as a`.cursor(
            3,
            (rows) => void seen.push(rows.map(({ a }) => a as unknown)),
          );
          return { seen, failed: await outcome(sql`select ${1}::int from nowhere`) };
        },
        { prepare: false },
      ),
  },
  "drizzle: migrations, then rows": {
    run: async ({ uri }) => {
      const pool = new Pool({ connectionString: uri, max: 3 });
      try {
        await pool.query(RESET);
        const db = drizzle(pool);
        const folder = migrations();
        await migrate(db, { migrationsFolder: folder });
        await migrate(db, { migrationsFolder: folder });
        await db.transaction(async (tx) => {
          await tx.insert(people).values([{ name: "Ada", age: 36 }, { name: "Bob" }]);
          await tx.update(people).set({ age: 7 }).where(eq(people.name, "Bob"));
        });
        const applied = await pool.query("select count(*)::int from drizzle.__drizzle_migrations");
        return { rows: await db.select().from(people).orderBy(people.id), applied: applied.rows };
      } finally {
        await pool.end();
      }
    },
  },
  "psql: its commands, a script, and COPY": {
    needsPsql: true,
    run: async ({ uri }) => {
      const script = [
        ...["\\set ON_ERROR_STOP 1", `${RESET};`, "create table app.t (a int primary key, b text);"],
        ...[
          "\\copy app.t from stdin csv",
          "1,one",
          "2,two",
          "\\.",
          "\\copy (select * from app.t order by a) to stdout csv",
        ],
        ...["\\d app.t", "\\dn+ app", "\\du svcdb_owner", "\\l svcdb", "select current_user, current_database();"],
      ];
      return program("psql", ["-X", "-q", "-d", uri], `${script.join("\n")}\n`);
    },
  },
  "migrations of roles: owners, default privileges, row-level security": {
    run: (way) =>
      withPg(way, async (client) => {
        await client.query(`${RESET}; drop role if exists authenticated`);
        await client.query(
          `create role authenticated; grant authenticated to svcdb_owner;
           create schema authorization authenticated;
           drop schema authenticated;
           create table app.notes (owner text, body text);
           alter table app.notes owner to svcdb_owner;
           alter default privileges for role svcdb_owner in schema app grant select on tables to authenticated;
           alter table app.notes enable row level security;
           create policy own on app.notes to authenticated using (owner = current_setting('app.who', true));
           grant usage on schema app to authenticated; grant select on app.notes to authenticated;
           insert into app.notes values ('ada', 'hers'), ('bob', 'his');
           comment on database svcdb is 'the application';
           alter database svcdb set statement_timeout = '1min'; alter database svcdb reset statement_timeout`,
        );
        await client.query("begin; set local role authenticated; set local app.who = 'ada'");
        const seen = (await client.query("select body, current_user from app.notes")).rows;
        await client.query("rollback");
        await client.query(`${RESET}; drop owned by authenticated; drop role authenticated`);
        expect(seen).toEqual([{ body: "hers", current_user: "authenticated" }]);
        return seen;
      }),
  },
  "pg_dump and pg_restore": {
    // It sets its search_path first, and its transaction may run on another session.
    pooled: "depends",
    needsPsql: true,
    run: async (way) => {
      await withPg(way, (client) =>
        client.query(
          `${RESET}; create table app.t (a serial primary key, b jsonb default '{}'); create view app.v as select a from app.t;
           insert into app.t (b) select jsonb_build_object('n', n) from generate_series(1, 50) n; select lo_from_bytea(0, '\\x0102');`,
        ),
      );
      const file = join(files, "dump");
      await program("pg_dump", ["-Fc", "-n", "app", "-f", file, "-d", way.uri]);
      await withPg(way, (client) => client.query("drop schema app cascade"));
      await program("pg_restore", ["--exit-on-error", "-d", way.uri, file]);
      const plain = await program("pg_dump", ["-n", "app", "-d", way.uri]);
      return plain.replace(/^\\(un)?restrict .*$/gm, "");
    },
  },
};

test.each(Object.keys(ROWS))(
  "%s",
  async (name) => {
    const row = ROWS[name];
    if (row === undefined) throw new Error(name);
    if (row.needsPsql === true && psqlProgram() === undefined) return;
    const { direct, gate, pooled } = await ways();
    const expected = await row.run(direct);
    expect(expected).toBeDefined();
    expect(await row.run(gate)).toEqual(expected);
    if (row.pooled === "depends") return;
    const through = await row.run(pooled);
    if (row.pooled === "differs") expect(through).not.toEqual(expected);
    else expect(through).toEqual(expected);
  },
  30_000,
);
