import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { Emulator } from "../../src/emulator";
import { change, sessionsOnServer, startGate, stateOf, uriOf, useCluster } from "../support/gate";
import { api, createCompute, DEMO, integrate, PRIMARY, until } from "../support/emulator";
import { VISITORS, type Visit } from "../support/visitors";

const postgres = useCluster({ settings: { log_statement: "all" } });

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
    expect(owner).toBe(`${own}_sync`);
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
    expect([own, `${own}_sync`].map((role) => `${role}, ${own}_sync`)).toContain(await betrayed(client));
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

test.each(["a compute", "a read replica"])("what belongs to others is refused to a client of %s", async (of) => {
  const emulator = await startGate();
  const replica = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
  const id = of === "a compute" ? PRIMARY : String(replica["id"]);
  const client = await VISITORS.pg(uriOf(emulator, id));
  await client.ask("set default_transaction_read_only = off");
  for (const sql of [
    "select pg_read_file('PG_VERSION')",
    "copy (select 1) to program 'id'",
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "select pg_cancel_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "comment on database postgres is 'mine'",
    "alter database postgres owner to current_user",
    "alter database postgres rename to mine",
    "drop database postgres",
    "reassign owned by current_user to postgres",
    "create extension dblink",
    "create extension postgres_fdw",
    "create role mine",
    "set role postgres",
    "set session authorization postgres",
  ]) {
    await expect(client.ask(sql)).rejects.toThrow(/^(42501|0LP01): /);
  }
  const seen = "select string_agg(distinct query, ';') from pg_stat_activity where usename = 'postgres'";
  expect(await client.ask(seen)).toBe("<insufficient privilege>");
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

test("the passwords of the emulator's roles are in no log of the server, nor is the key", async () => {
  const emulator = await startGate();
  const client = await VISITORS.pg(uriOf(emulator));
  // Its password is given back to it at the next connection.
  await client.ask("alter role current_user password 'mine'");
  await VISITORS.pg(uriOf(emulator));
  const passwords = postgres()
    .log()
    .match(/PASSWORD E?'[^']*'/g);
  expect(passwords?.length).toBeGreaterThan(3);
  expect(passwords?.filter((words) => !words.includes("'SCRAM-SHA-256$4096:"))).toEqual([]);
  expect(postgres().log()).not.toContain(emulator.apiKey);
});

test("a session that is opened while its compute moves does not serve the earlier branch for a moment", async () => {
  const emulator = await startGate();
  const { body } = await api(emulator, "GET", `${DEMO}/branches`);
  expect(JSON.stringify(body)).toContain("br-dev");
  // The server waits before it says that it is ready: as one that is busy does.
  const slow = new Client({ connectionString: `${uriOf(emulator)}%20-c%20post_auth_delay%3D2` });
  slow.on("error", () => undefined);
  const connecting = slow.connect().then(
    () => "connected",
    (error: unknown) => error,
  );
  await delay(700);
  await change(emulator, { branch_id: "br-dev" });
  expect(await connecting).toMatchObject({ code: "57P01" });
  await until(
    () => sessionsOnServer(postgres()),
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

test.each([
  ["with a client that is connected", true],
  ["without one", false],
])("a Postgres that hangs does not keep the emulator from ending, %s", async (_, isConnected) => {
  const emulator = await startGate();
  if (isConnected) await VISITORS.pg(uriOf(emulator));
  const [file] = await postgres().query<{ words: string }>("select pg_read_file('postmaster.pid') as words");
  const backends = await postgres().query<{ pid: number }>(
    "select pid from pg_stat_activity where usename is not null and pid <> pg_backend_pid()",
  );
  const processes = [Number.parseInt(file?.words ?? ""), ...backends.map(({ pid }) => pid)];
  const signal = (name: "SIGSTOP" | "SIGCONT"): void => processes.forEach((id) => process.kill(id, name));
  signal("SIGSTOP");
  try {
    expect(await Promise.race([emulator.close(), delay(30_000, "still open", { ref: false })])).toBeUndefined();
  } finally {
    signal("SIGCONT");
  }
});
