import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Emulator } from "../../src/emulator";
import { until } from "../support/emulator";
import { replicaOf, startGate, uriOf, useServers } from "../support/gate";
import { postgresBin, psqlProgram } from "../support/postgres";
import { VISITORS } from "../support/visitors";

useServers();
/** Of Debian's packages, as psql is. */
const withPrograms = psqlProgram() === undefined ? test.skip : test;

/** What a migration of an application does. */
const MIGRATION = [
  "create role authenticated",
  "create table notes (id int primary key, owner text, words text)",
  "alter table notes owner to svcdb_owner",
  "create schema app authorization svcdb_owner",
  "alter default privileges for role svcdb_owner grant select on tables to authenticated",
  "create table app.later (id int)",
  "alter database svcdb set work_mem = '7MB'",
  "comment on database svcdb is 'of the application'",
  "grant usage on schema app to authenticated",
  "grant authenticated to svcdb_owner",
  "alter table notes enable row level security",
  "grant select on notes to authenticated",
  "create policy own on notes to authenticated using (owner = current_setting('app.person', true))",
  "insert into notes values (1, 'ada', 'first'), (2, 'lin', 'second')",
];

async function migrated(): Promise<Emulator> {
  const emulator = await startGate();
  const client = await VISITORS.pg(uriOf(emulator));
  for (const sql of MIGRATION) await client.ask(sql);
  return emulator;
}

/** The output of a program of Postgres. */
async function run(program: string, args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)(program, args);
  running.child.stdin?.end(input);
  return (await running).stdout;
}

const dump = (uri: string): Promise<string> => run(join(postgresBin() ?? "", "pg_dump"), ["--dbname", uri]);

/** Without what pg_dump makes up for each run. */
const comparable = (text: string): string => text.replaceAll(/^\\(un)?restrict .*$/gm, "");

test("a migration runs with the names and roles of the service, and row-level security as there", async () => {
  const emulator = await migrated();
  const client = await VISITORS.pg(uriOf(emulator));
  expect(await client.ask("select concat_ws(' ', current_user, current_database(), current_setting('work_mem'))")).toBe(
    "svcdb_owner svcdb 7MB",
  );
  expect(await client.ask("select has_table_privilege('authenticated', 'app.later', 'select')")).toBe("true");
  await client.ask("set role authenticated");
  await client.ask("set app.person = 'lin'");
  expect(await client.ask("select string_agg(words, ',') from notes")).toBe("second");
  await expect(client.ask("insert into notes values (3, 'lin', 'third')")).rejects.toThrow(/^42501: /);
});

withPrograms(
  "pg_dump names its owner, from a compute and from a read replica, and psql restores it elsewhere",
  async () => {
    const emulator = await migrated();
    const client = await VISITORS.pg(uriOf(emulator));
    await client.ask("select lo_from_bytea(4711, 'large')");
    const text = await dump(uriOf(emulator));
    expect(text).toContain("ALTER TABLE public.notes OWNER TO svcdb_owner;");
    expect(text).not.toMatch(/svc_admin|svc_auth/);
    expect(comparable(await dump(await replicaOf(emulator)))).toBe(comparable(text));
    await client.ask("create database copy");
    const copy = uriOf(emulator, undefined, { database: "copy" });
    await run(psqlProgram() ?? "", ["-X", "-q", "-v", "ON_ERROR_STOP=1", copy], text);
    const restored = await VISITORS.pg(copy);
    expect(await restored.ask("select string_agg(words, ',' order by id) from notes")).toBe("first,second");
    expect(await restored.ask("select convert_from(lo_get(4711), 'UTF8')")).toBe("large");
    expect(comparable(await dump(copy))).toBe(comparable(text).replaceAll("DATABASE svcdb", "DATABASE copy"));
  },
);

test("a read replica has what its branch has, and follows it: rows behind policies, large objects, roles", async () => {
  const emulator = await migrated();
  const client = await VISITORS.pg(uriOf(emulator));
  await client.ask("select lo_from_bytea(4711, 'large')");
  const reader = await VISITORS.pg(await replicaOf(emulator));
  expect(await reader.ask("select convert_from(lo_get(4711), 'UTF8')")).toBe("large");
  expect(await reader.ask("select count(*) from notes")).toBe("2");
  await reader.ask("set role authenticated");
  await reader.ask("set app.person = 'ada'");
  expect(await reader.ask("select string_agg(words, ',') from notes")).toBe("first");
  expect(await reader.ask("select concat_ws(' ', pg_is_in_recovery(), current_setting('transaction_read_only'))")).toBe(
    "t on",
  );
  for (const sql of ["create table mine (id int)", "create temporary table mine (id int)", "create role more"])
    await expect(reader.ask(sql)).rejects.toThrow(/^25006: /);
  await expect(reader.ask("select * from pg_authid")).rejects.toThrow(/^42501: /);
  await client.ask("insert into notes values (4, 'ada', 'later')");
  await until(
    () => reader.ask("select string_agg(words, ',' order by id) from notes"),
    (words) => words === "first,later",
  );
});
