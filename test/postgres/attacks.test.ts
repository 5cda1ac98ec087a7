import { once } from "node:events";
import { mkdirSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { Emulator } from "../../src/emulator";
import {
  act,
  change,
  filesOf,
  replicaOf,
  sessionsOnServer,
  startGate,
  stateOf,
  uriOf,
  useServers,
} from "../support/gate";
import { api, createCompute, DEMO, integrate, PRIMARY, settled, until } from "../support/emulator";
import { expectRefused, VISITORS, type Visit } from "../support/visitors";

const servers = useServers();

const USER = { project_id: "prj-demo", auth_provider: "supported_provider" };

const addUser = async (emulator: Emulator, email: string): Promise<string> => {
  const { status, text, body } = await api(emulator, "POST", "/projects/auth/user", { ...USER, email });
  if (status !== 201) throw new Error(text);
  return String(body["id"]);
};

const users = async (visit: Visit, count: string): Promise<string> =>
  until(
    () => visit.ask("select count(*) from svc_auth.users_sync").catch(String),
    (found) => found === count,
  );

function message(type: string, body = ""): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`);
  head.writeInt32BE(Buffer.byteLength(body) + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

/** Parse, Bind and Execute of a statement, without a Sync. */
const batch = (sql: string): Buffer =>
  Buffer.concat([message("P", `\0${sql}\0\0\0`), message("B", "\0".repeat(8)), message("E", "\0".repeat(5))]);

/** A function that makes its caller's rights known to whoever looks, and uses them. */
const betraying = (name: string, returns: string, result: string): string =>
  `create function ${name} returns ${returns} language plpgsql as $$ begin
     insert into public.betrayed values (current_user || ', ' || session_user);
     ${result}
   end $$`;

const ofDatabase = (setting: string): string =>
  `do $$ begin execute format('alter database %I set ${setting}', current_database()); end $$`;

describe("what a client has made in its database does not run with the rights of the emulator's user", () => {
  const betrayed = async (visit: Visit): Promise<string> =>
    visit.ask("select coalesce(string_agg(who, ';'), 'nobody') from public.betrayed");
  const trap = "create table public.betrayed (who text); grant all on public.betrayed to public";

  test("by a search_path of the database", async () => {
    const emulator = await startGate();
    const client = await VISITORS.pg(uriOf(emulator));
    await client.ask(trap);
    await client.ask("create schema trap; grant usage on schema trap to public");
    await client.ask(betraying("trap.pg_get_userbyid(oid)", "name", "return 'postgres';"));
    await client.ask(betraying("trap.unnest(anyarray)", "setof text", "return;"));
    await client.ask(ofDatabase("search_path = trap, pg_catalog"));
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await users(client, "1");
    const replica = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
    const reader = await VISITORS.pg(uriOf(emulator, String(replica["id"])));
    expect(await reader.ask("select 1")).toBe("1");
    expect(await betrayed(client)).toBe("nobody");
  });

  test("by a role or a read-only setting of the database, which do not hold up users_sync either", async () => {
    const emulator = await startGate();
    const client = await VISITORS.pg(uriOf(emulator));
    const own = await client.ask("select current_user");
    for (const setting of ["role", "session_authorization"]) await client.ask(ofDatabase(`${setting} = ${own}`));
    await client.ask(ofDatabase("default_transaction_read_only = on"));
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await users(client, "1");
    const owner = await client.ask("select tableowner from pg_tables where tablename = 'users_sync'");
    expect(owner).toBe("svc_auth");
    await client.ask("set default_transaction_read_only = off");
    await expect(client.ask("delete from svc_auth.users_sync")).rejects.toThrow(/42501/);
  });

  test("by a deferred trigger behind a foreign key to users_sync", async () => {
    const emulator = await startGate();
    await integrate(emulator);
    const ada = await addUser(emulator, "ada@example.com");
    const client = await VISITORS.pg(uriOf(emulator));
    await users(client, "1");
    await client.ask(trap);
    await client.ask(`create table todos (owner text references svc_auth.users_sync on delete cascade)`);
    await client.ask(`insert into todos values ('${ada}')`);
    await client.ask(betraying("trap()", "trigger", "return null;"));
    await client.ask(
      "create constraint trigger trap after delete on todos deferrable initially deferred for each row execute function trap()",
    );
    expect((await api(emulator, "DELETE", `${DEMO}/auth/users/${ada}`)).status).toBe(204);
    await users(client, "0");
    const own = await client.ask("select current_user");
    // In Postgres 18 or later it is the client's own role.
    expect([own, "svc_auth"].map((role) => `${role}, svc_auth`)).toContain(await betrayed(client));
  });
});

test("a trigger that does not end holds up users_sync for a minute at most, and no longer on the server", async () => {
  const emulator = await startGate();
  await integrate(emulator);
  const ada = await addUser(emulator, "ada@example.com");
  const client = await VISITORS.pg(uriOf(emulator));
  await users(client, "1");
  await client.ask("create table todos (owner text references svc_auth.users_sync on delete cascade)");
  await client.ask(`insert into todos values ('${ada}')`);
  await client.ask("create table public.limits (words text); grant all on public.limits to public");
  await client.ask(
    `create function told() returns trigger language plpgsql as $$ begin
       insert into public.limits values (current_setting('statement_timeout')); return null;
     end $$`,
  );
  await client.ask("create trigger told after delete on todos for each row execute function told()");
  await client.ask(ofDatabase("statement_timeout = 0"));
  await api(emulator, "DELETE", `${DEMO}/auth/users/${ada}`);
  await users(client, "0");
  expect(await client.ask("select words from limits")).toBe("1min");
});

test("what a client does to its roles reaches no other branch, and opens no way around the gate", async () => {
  const emulator = await startGate();
  const dev = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  const [client, other] = [await VISITORS.pg(uriOf(emulator)), await VISITORS.pg(uriOf(emulator, String(dev["id"])))];
  await client.ask("alter role svcdb_owner set work_mem = '7MB'");
  await client.ask("alter role svcdb_owner password 'mine' nocreatedb");
  await client.ask("alter database svcdb set work_mem = '8MB'");
  await client.ask("create role web login password 'mine'");
  const show =
    "select concat_ws(' ', current_setting('work_mem'), rolcreatedb) from pg_roles where rolname = current_user";
  expect(await (await VISITORS.pg(uriOf(emulator))).ask(show)).toBe("7MB f");
  expect(await other.ask(show)).toBe("4MB t");
  expect(await (await VISITORS.pg(uriOf(emulator, String(dev["id"])))).ask(show)).toBe("4MB t");
  for (const role of ["svcdb_owner", "web"])
    await expectRefused("pg", uriOf(emulator, PRIMARY, { key: "mine", role }), "28P01", "password authentication");
  await expectRefused("pg", uriOf(emulator, String(dev["id"]), { role: "web" }), "28000", 'role "web" does not exist');
});

test("a transaction that a client leaves open does not stop the databases of others", async () => {
  const emulator = await startGate();
  const dev = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
  const open = await VISITORS.pg(uriOf(emulator));
  await open.ask("begin; create table mine (id int); lock table mine; select * from pg_database");
  await (await VISITORS.pg(uriOf(emulator))).ask("create database other");
  await (await VISITORS.pg(uriOf(emulator, String(dev["id"])))).ask("create database another");
  await integrate(emulator, { database_name: "shop" });
  const shop = await VISITORS.pg(uriOf(emulator, PRIMARY, { database: "shop" }));
  expect(await shop.ask("select count(*) from svc_auth.users_sync")).toBe("0");
  const reader = await VISITORS.pg(await replicaOf(emulator));
  expect(await reader.ask("select count(*) from pg_database where datname = 'other'")).toBe("1");
  await open.ask("commit");
});

test.each(["a compute", "a read replica"])("what belongs to others is refused to a client of %s", async (of) => {
  const emulator = await startGate();
  const replica = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  const id = of === "a compute" ? PRIMARY : String(replica["id"]);
  const client = await VISITORS.pg(uriOf(emulator, id));
  await client.ask("set default_transaction_read_only = off");
  for (const sql of [
    "select pg_read_file('PG_VERSION')",
    "copy (select 1) to program 'id'",
    "grant pg_execute_server_program to current_user",
    "grant pg_read_server_files to current_user",
    "grant svc_admin to current_user",
    "alter role svc_admin password 'mine'",
    "create role mine superuser",
    "comment on database postgres is 'mine'",
    "alter database postgres owner to current_user",
    "alter database postgres rename to mine",
    "drop database postgres",
    "reassign owned by current_user to svc_admin",
    "create extension dblink",
    "create extension postgres_fdw",
    "set role svc_admin",
    "set session authorization svc_admin",
  ]) {
    // A standby refuses some of them for what it is.
    await expect(client.ask(sql)).rejects.toThrow(/^(42501|0LP01|25006): /);
  }
  expect(await client.ask("select has_table_privilege('pg_authid', 'select')")).toMatch(/^f/);
});

test("a compute whose client has mixed errors into batches and COPYs goes idle as any other", async () => {
  const emulator = await startGate({ timeScale: 200 });
  const client = new Client({ connectionString: uriOf(emulator) });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("create table copied (id int)");
  const { stream } = client.connection;
  stream.removeAllListeners("data");
  let said = "";
  stream.on("data", (chunk: Buffer) => (said += chunk.toString("latin1")));
  const readies = (count: number): Promise<number> =>
    until(
      async () => said.split("Z\0\0\0\x05I").length - 1,
      (found) => found === count,
    );
  const sync = message("S");
  stream.write(
    Buffer.concat([batch("select 1"), batch("select 1/0"), batch("select 2"), sync, batch("select 3"), sync]),
  );
  stream.write(Buffer.concat([message("Q", "select 4; select 1/0\0"), batch("select 5"), sync, sync]));
  await readies(5);
  stream.write(message("Q", "copy copied from stdin\0"));
  await until(
    async () => said,
    (words) => words.includes("G\0\0\0\x09"),
  );
  // Postgres skips the rest of a COPY that has failed, and a Sync is answered again.
  stream.write(Buffer.concat(["1\n", "x\n", "2\n"].map((line) => message("d", line)).concat(message("c"), sync)));
  await readies(7);
  stream.write(Buffer.concat([batch("copy copied from stdin"), message("H")]));
  await until(
    async () => said.split("G\0\0\0\x09").length,
    (found) => found === 3,
  );
  stream.write(Buffer.concat([message("d", "y\n"), message("f", "enough\0"), sync]));
  await readies(8);
  await change(emulator, { suspend_timeout_seconds: 60 });
  await until(
    () => stateOf(emulator),
    (state) => state === "idle",
  );
});

test("a session that is opened while its compute moves does not serve the earlier branch for a moment", async () => {
  const emulator = await startGate();
  // The earlier branch is still needed by another compute: its cluster starts, and stays.
  const { id } = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  await act(emulator, "start", String(id));
  await settled(emulator, String(id), "active");
  // Connects while the cluster of the earlier branch starts, and asks at once: the answer comes in the first moment.
  const client = new Client({ connectionString: uriOf(emulator) });
  client.on("error", () => undefined);
  const asked = client
    .connect()
    .then(() => client.query("select 1"))
    .then(
      () => "served",
      (error: unknown) => error,
    );
  await until(
    async () => filesOf(servers.folder, "postgres", "postmaster.pid"),
    ({ length }) => length > 0,
  );
  emulator.edit({ kind: "endpoint", project_id: "prj-demo", id: PRIMARY, set: { branch_id: "br-dev" } });
  expect(await asked).toMatchObject({ code: "57P01" });
  await until(
    () => sessionsOnServer(servers),
    (count) => count === 0,
  );
});

test("a client that says goodbye, and waits for the end, is told nothing more", async () => {
  const emulator = await startGate();
  const client = new Client({ connectionString: uriOf(emulator) });
  await client.connect();
  const { stream } = client.connection;
  stream.removeAllListeners("data");
  const said: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => said.push(chunk));
  client.on("error", () => undefined);
  stream.write(Buffer.from([0x58, 0, 0, 0, 4]));
  await once(stream, "close");
  expect(Buffer.concat(said).toString()).toBe("");
});

const isThere = (id: number): boolean => {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
};

test.each([
  ["with a client that is connected", true],
  ["without one", false],
])("a Postgres that hangs does not keep the emulator from ending, %s", async (_, isConnected) => {
  const emulator = await startGate();
  if (isConnected) await VISITORS.pg(uriOf(emulator));
  const backends = await servers.query<{ pid: number }>(
    "select pid from pg_stat_activity where usename is not null and pid <> pg_backend_pid()",
  );
  const processes = [...servers.processes(), ...backends.map(({ pid }) => pid)];
  const signal = (name: "SIGSTOP" | "SIGCONT"): void =>
    processes.forEach((id) => isThere(id) && process.kill(id, name));
  signal("SIGSTOP");
  try {
    expect(await Promise.race([emulator.close(), delay(30_000, "still open", { ref: false })])).toBeUndefined();
  } finally {
    signal("SIGCONT");
  }
});

describe("what a client does to the database of users_sync", () => {
  const seconds = async (work: Promise<unknown>): Promise<number> => {
    const begin = performance.now();
    await work;
    return (performance.now() - begin) / 1000;
  };

  test("does not hold up the clients after it", async () => {
    const emulator = await startGate();
    jest.spyOn(process, "emitWarning").mockImplementation();
    await integrate(emulator);
    const client = await VISITORS.pg(uriOf(emulator));
    await client.ask("alter role svc_auth connection limit 0");
    await addUser(emulator, "ada@example.com");
    await VISITORS.pg(uriOf(emulator));
    expect(await seconds(VISITORS.pg(uriOf(emulator)))).toBeLessThan(2);
    await client.ask("alter role svc_auth connection limit -1");
    await users(client, "1");
  }, 20_000);

  test("does not leave it out of date: it is a template, has another name, or is gone", async () => {
    const emulator = await startGate();
    await integrate(emulator);
    const other = await VISITORS.pg(uriOf(emulator, PRIMARY, { database: "postgres" }));
    const changes = ["is_template true", "rename to other"].map((what) => `alter database svcdb ${what}`);
    let count = 0;
    for (const sql of [...changes, "drop database svcdb"]) {
      await other.ask(sql);
      await addUser(emulator, `${(count += 1)}@example.com`);
      const client = await VISITORS.pg(uriOf(emulator));
      await users(client, String(count));
      await client.close();
    }
  }, 20_000);
});

test.each([
  ["a path that is too long for a socket", "x".repeat(100)],
  ["a name that Postgres would read as two", "a, b"],
])("the folder for temporary files may have %s", async (_, name) => {
  const folder = join(servers.folder, name);
  mkdirSync(folder);
  jest.spyOn(os, "tmpdir").mockReturnValue(folder);
  const emulator = await startGate();
  expect(await (await VISITORS.pg(uriOf(emulator))).ask("select 1")).toBe("1");
});
