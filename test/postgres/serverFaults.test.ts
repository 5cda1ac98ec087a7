import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { PostgresServer } from "../../src/emulator/postgres/postgresServer";
import type { ServerSession } from "../../src/emulator/postgres/upstream";
import { oldPostgres } from "../support/oldPostgres";
import { postgresBin, startPostgres, type Postgres } from "../support/postgres";
import { DEV, MAIN, MARK, openedServers, type OpenOptions } from "../support/postgresServers";
import { ask, valueOf } from "../support/rawSession";

const ROLE = `svc_${MARK}`;
const writing = { readOnly: false, startup: {} };
const reading = { readOnly: true, startup: {} };

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres({ settings: { max_connections: "20" } });
});
afterAll(() => postgres.stop());
const { opened, open } = openedServers(() => postgres.url);

/** The words of a start that fails. */
async function refusal(options: OpenOptions): Promise<string> {
  const error: unknown = await open(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof Error)) throw new Error("it was opened");
  expect(`${error.message} ${JSON.stringify(error)}`).not.toContain("secret");
  return error.message;
}

const as = (user: string, password: string): string => postgres.url.replace(/\/\/[^@]*@/, `//${user}:${password}@`);

describe("a start is refused with a message", () => {
  test("where the address cannot be read", async () => {
    for (const url of [
      "secret",
      "",
      "mysql://user:secret@127.0.0.1/app",
      "postgres://user:secret@127.0.0.1:notaport/app",
      "postgres://user:secret@[::1/app",
      "postgres://user:secret@127.0.0.1/app?sslrootcert=/no/such/file",
    ]) {
      expect([url, await refusal({ url })]).toEqual([
        url,
        expect.stringMatching(/cannot be read: give postgres:..user:password@host:port.database/),
      ]);
    }
  });

  test("where nobody answers, or nobody has that name", async () => {
    expect(await refusal({ url: "postgres://user:secret@127.0.0.1:1/app" })).toBe(
      "Postgres at 127.0.0.1:1 does not answer (ECONNREFUSED): check that it runs, and that host, port and sslmode are right",
    );
    expect(await refusal({ url: "postgres://user:secret@localhost:1/app" })).toContain("localhost:1 does not answer");
    expect(await refusal({ url: "postgres:///app?host=/no/such/folder&password=secret" })).toContain("(ENOENT)");
    expect(await refusal({ url: "postgres://user:secret@name.invalid/app" })).toContain("correct the host");
    expect(await refusal({ url: `${postgres.url}?sslmode=require` })).toContain("sslmode");
  });

  test("where it is on another machine, before anything connects, unless that is meant", async () => {
    expect(await refusal({ url: "postgres://user:secret@192.0.2.1/app" })).toBe(
      "Postgres at 192.0.2.1:5432 is not on this machine, and the emulator creates and drops databases there: " +
        "give --postgres-remote to allow that",
    );
  });

  test("where the password or the database is wrong", async () => {
    expect(await refusal({ url: as("postgres", "secret") })).toContain("correct the user and the password");
    expect(await refusal({ url: postgres.url.replace(/postgres$/, "nosuch") })).toContain(
      'database "nosuch" does not exist (3D000): name a database that exists',
    );
  });

  test("where the server is too old", async () => {
    const old = await oldPostgres(130_012);
    expect(await refusal({ url: old.url })).toMatch(/has version 13: give one of 14 or later$/);
    old.stop();
  });

  test("where the user may make neither roles nor databases", async () => {
    await postgres.query("CREATE ROLE weak LOGIN PASSWORD 'secret' CREATEDB");
    expect(await refusal({ url: as("weak", "secret") })).toMatch(
      /^the user "weak" of Postgres at 127.0.0.1:\d+ may not create roles and databases: run ALTER ROLE "weak" CREATEROLE CREATEDB/,
    );
    await postgres.query("DROP ROLE weak");
  });

  test("where a colleague has a role of that name", async () => {
    await postgres.query(`CREATE ROLE ${ROLE}`);
    expect(await refusal({})).toContain(`has a role "${ROLE}" that this emulator did not create`);
    expect(await postgres.query("SELECT rolcanlogin FROM pg_roles WHERE rolname = $1", [ROLE])).toEqual([
      { rolcanlogin: false },
    ]);
    await postgres.query(`DROP ROLE ${ROLE}`);
  });

  test("where another emulator has that mark, and not once it is gone", async () => {
    const first = await open();
    const name = await first.databases.get(MAIN);
    expect(await refusal({})).toMatch(/^another emulator with the mark 0a1b2c3d uses Postgres at .*: stop it/);
    const session = await first.connect(name, writing);
    expect(await valueOf(session, "SELECT 1")).toBe("1");
    session.socket.destroy();
    await first.close();
    opened.splice(0);
    expect(await (await open()).databases.get(MAIN)).toBe(name);
  });

  test("where pg_hba.conf accepts nobody but the user of the address", async () => {
    const [hba] = await postgres.query(
      "SELECT current_setting('hba_file') AS file, pg_read_file(current_setting('hba_file')) AS text",
    );
    const write = async (text: string): Promise<void> => {
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      const values = lines.map((line) => `('${line}')`).join(", ");
      await postgres.query(`COPY (VALUES ${values}) TO '${String(hba?.["file"])}'`);
      await postgres.query("SELECT pg_reload_conf(), pg_sleep(0.2)");
    };
    await write("host all postgres 127.0.0.1/32 scram-sha-256");
    expect(await refusal({})).toContain("let pg_hba.conf accept this user by password");
    await write(String(hba?.["text"]));
    await open();
  });
});

test("a user without superuser rights is enough, up to what only superusers can grant", async () => {
  await postgres.query("CREATE ROLE maker LOGIN PASSWORD 'secret' CREATEDB CREATEROLE");
  const server = await open({ url: as("maker", "secret") });
  const name = await server.databases.get(MAIN);
  const session = await server.connect(name, writing);
  expect((await ask(session, "CREATE TABLE items AS SELECT 1 AS id; CREATE EXTENSION pgcrypto")).error).toBeUndefined();
  const [row] = await postgres.query("SELECT current_setting('server_version_num')::int / 10000 AS version");
  const version = Number(row?.["version"]);
  const reader = server.connect(name, reading);
  // Version 14 lets everybody create in the schema public, which is a superuser's. From 16 on only who has the role
  // pg_read_all_data to give can grant it.
  if (version !== 15) {
    const advice = version === 14 ? "REVOKE CREATE ON SCHEMA public" : "WITH ADMIN OPTION";
    await expect(reader).rejects.toMatchObject({ code: "0A000", message: expect.stringContaining(advice) });
  } else {
    expect(await valueOf(await reader, "SELECT id FROM items")).toBe("1");
    await ask(await reader, "SET default_transaction_read_only = off");
    for (const sql of [
      "INSERT INTO items VALUES (2)",
      "CREATE TEMP TABLE theirs (id int)",
      "CREATE TABLE theirs (id int)",
    ]) {
      expect([sql, (await ask(await reader, sql)).error?.code]).toEqual([sql, "42501"]);
    }
    (await reader).socket.destroy();
  }
  await server.terminate([session.processId]);
  await server.remove();
  await server.close();
  opened.splice(0);
  expect(await postgres.query("SELECT 1 FROM pg_roles WHERE rolname LIKE 'svc%'")).toEqual([]);
  await postgres.query("DROP ROLE maker");
});

test("md5 is authenticated, too", async () => {
  const md5 = await startPostgres({ auth: "md5", settings: { password_encryption: "md5" } });
  try {
    const server = await PostgresServer.open({ url: md5.url, remote: false, mark: MARK });
    const session = await server.connect(await server.databases.get(MAIN), writing);
    expect(await valueOf(session, "SELECT 1")).toBe("1");
    // Those of the emulator's own roles are stored as for SCRAM, which a server that asks for md5 takes as well.
    expect(await md5.query("SELECT left(rolpassword, 3) AS kind FROM pg_authid WHERE rolname = 'postgres'")).toEqual([
      { kind: "md5" },
    ]);
    session.socket.destroy();
    await server.close();
  } finally {
    await md5.stop();
  }
});

describe("what others have done on the server", () => {
  test("a colleague's database of our name is refused, and never touched", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    await server.databases.drop({});
    await postgres.query(`CREATE DATABASE "${name}"`);
    for (const comment of ["NULL", "'pulumi-svc emulator 0a1b2c3d: prj-demo/br-main/svcdb'"]) {
      await postgres.query(`COMMENT ON DATABASE "${name}" IS ${comment}`);
      await expect(server.databases.get(MAIN)).rejects.toMatchObject({
        code: "42P04",
        message: expect.stringContaining("that this emulator did not create"),
      });
      await server.databases.drop({});
    }
    expect(await postgres.query("SELECT datacl FROM pg_database WHERE datname = $1", [name])).toEqual([
      { datacl: null },
    ]);
    await postgres.query(`DROP DATABASE "${name}"`);
  });

  test("a database that was renamed is found by its comment, and dropped", async () => {
    const server = await open();
    const session = await server.connect(await server.databases.get(MAIN), writing);
    await ask(session, "CREATE TABLE kept AS SELECT 1 AS id");
    await server.terminate([session.processId]);
    await postgres.query(`ALTER DATABASE "${await server.databases.get(MAIN)}" RENAME TO "other ""name"" \u{1f600}"`);
    const name = await server.databases.get(MAIN);
    expect(name).toBe('other "name" \u{1f600}');
    const again = await server.connect(name, reading);
    expect(await valueOf(again, "SELECT id FROM kept")).toBe("1");
    await server.databases.drop({ projectId: "prj-demo", branchId: "br-main" });
    expect(await postgres.query("SELECT 1 FROM pg_database WHERE datname = $1", [name])).toEqual([]);
    again.socket.destroy();
  });

  test("a database that was given to somebody else is theirs", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    await postgres.query(`ALTER DATABASE "${name}" OWNER TO postgres`);
    await server.databases.drop({});
    await expect(server.databases.get(MAIN)).rejects.toMatchObject({
      message: expect.stringContaining("or no longer owns"),
    });
    await postgres.query(`ALTER DATABASE "${name}" OWNER TO ${ROLE}`);
    expect(await server.databases.get(MAIN)).toBe(name);
  });

  test("one that an emulator left which was killed in the middle, or whose comment a client changed, is completed", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    const session = await server.connect(await server.databases.get(DEV), writing);
    for (const comment of [
      "NULL",
      "'mine'",
      "'pulumi-svc emulator 0a1b2c3d: %zz/%'",
      "'pulumi-svc emulator 0a1b2c3d: a'",
    ]) {
      expect((await ask(session, `COMMENT ON DATABASE "${name}" IS ${comment}`)).error).toBeUndefined();
      expect(await server.databases.get(MAIN)).toBe(name);
      expect(await server.databases.places()).toContainEqual(MAIN);
    }
    session.socket.destroy();
  });

  test("a branch is not reached by the name of another branch's database, and its own is", async () => {
    const server = await open();
    const [main, dev] = [await server.databases.get(MAIN), await server.databases.get(DEV)];
    expect(await server.databases.get({ ...MAIN, database: main })).toBe(main);
    await expect(server.databases.get({ ...MAIN, database: dev })).rejects.toMatchObject({ code: "3D000" });
    const other = await open({ mark: "ffffffff" });
    expect(await other.databases.get({ ...MAIN, database: main })).not.toBe(main);
    expect(await server.databases.get({ ...MAIN, database: "postgres" })).not.toBe("postgres");
  });

  test("rights that an admin takes away are reported", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    await postgres.query(`ALTER ROLE ${ROLE} NOLOGIN`);
    await expect(server.connect(name, writing)).rejects.toMatchObject({ code: "28000" });
    await postgres.query(`ALTER ROLE ${ROLE} LOGIN`);
    await postgres.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    await expect(server.connect(name, writing)).rejects.toMatchObject({ code: "55000" });
  });
});

test("names of any kind give databases of their own", async () => {
  const server = await open();
  const long = "x".repeat(62);
  const names = [
    'a"b',
    "a'b",
    "a\\b",
    "A",
    "a",
    "ä\u{1f600}",
    `${long}1`,
    `${long}12`,
    `${long}13`,
    "a/b",
    "%2F",
    "\0",
    "\ud800",
    " ",
  ];
  const made = new Map<string, string>();
  for (const database of names) made.set(await server.databases.get({ ...MAIN, database }), database);
  expect([...made.values()]).toEqual(names);
  made.set(await server.databases.get({ ...MAIN, branchId: "br-main/a", database: "b" }), "");
  expect(made.size).toBe(names.length + 1);
  await server.databases.drop({ projectId: "prj-demo", branchId: "br-main" });
  expect(await server.databases.places()).toEqual([{ ...MAIN, branchId: "br-main/a", database: "b" }]);
});

test("a server that is restarted, in order or by a crash, is used again", async () => {
  const server = await open();
  const session = await server.connect(await server.databases.get(MAIN), writing);
  session.socket.on("error", () => undefined);
  for (const how of ["fast", "immediate"] as const) {
    await postgres.shutDown(how);
    await expect(server.databases.get(DEV)).rejects.toMatchObject({
      code: expect.stringMatching(/^(08006|57P0[123])$/),
    });
    await postgres.startAgain();
    const again = await server.connect(await server.databases.get(MAIN), writing);
    expect(await valueOf(again, "SELECT 1")).toBe("1");
    again.socket.destroy();
  }
  expect(await refusal({})).toContain("another emulator");
});

test("where all slots are taken, a client is told so, and sessions still end on the server", async () => {
  const server = await open();
  const name = await server.databases.get(MAIN);
  expect(server.slots).toBe(20 - 3 - 2);
  const sessions: ServerSession[] = [];
  let refused: unknown;
  while (refused === undefined) {
    await server.connect(name, writing).then(
      (session) => sessions.push(session),
      (error: unknown) => (refused = error),
    );
  }
  expect(refused).toMatchObject({ code: "53300" });
  expect(sessions.length).toBeGreaterThanOrEqual(server.slots);
  await server.terminate(sessions.map(({ processId }) => processId));
  const again = await server.connect(name, writing);
  expect(await valueOf(again, "SELECT 1")).toBe("1");
  for (const { socket } of [...sessions, again]) socket.destroy();
});

const dumpall = join(postgresBin() ?? "", "pg_dumpall");
const hasDumpall = (() => {
  try {
    accessSync(dumpall, constants.X_OK);
    return true;
  } catch {
    return false;
  }
})();

(hasDumpall ? test : test.skip)("nothing else on the server has changed in the end", async () => {
  await postgres.query("CREATE DATABASE bystander");
  await postgres.query("CREATE TABLE kept AS SELECT 1 AS id", [], "bystander");
  await postgres.query("CREATE DATABASE svc_bystander");
  await postgres.query("COMMENT ON DATABASE svc_bystander IS 'pulumi-svc emulator 11111111: prj-demo/br-main/svcdb'");
  // A key of its own for each dump, which newer versions put around it.
  const dump = (): string =>
    execFileSync(dumpall, ["-d", postgres.url], {
      encoding: "utf8",
      env: { ...process.env, PGPASSWORD: postgres.password },
    }).replaceAll(/^\\(un)?restrict .*$/gm, "");
  const before = dump();
  const server = await open();
  const session = await server.connect(await server.databases.get(MAIN), writing);
  await ask(session, "CREATE TABLE items AS SELECT 1 AS id");
  await ask(session, "CREATE DATABASE shadow");
  const reader = await server.connect(await server.databases.get(MAIN), reading);
  expect(await valueOf(reader, "SELECT id FROM items")).toBe("1");
  expect(dump()).not.toBe(before);
  await server.remove();
  expect(dump()).toBe(before);
  for (const { socket } of [session, reader]) socket.destroy();
  await postgres.query("DROP DATABASE bystander");
  await postgres.query("DROP DATABASE svc_bystander");
});
