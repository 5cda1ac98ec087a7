import { startPostgres, type Postgres } from "../support/postgres";
import { DEV, MAIN, openedServers } from "../support/postgresServers";
import { ask, valueOf } from "../support/rawSession";

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
const { opened, open } = openedServers(() => postgres.url);

const writing = { readOnly: false, startup: {} };
const reading = { readOnly: true, startup: {} };

const databases = async (): Promise<unknown[]> =>
  (await postgres.query("SELECT datname FROM pg_database WHERE NOT datistemplate ORDER BY 1")).map(
    ({ datname }) => datname,
  );

describe("a database", () => {
  test("is made at the first call, by one of several, and found by the next", async () => {
    const server = await open();
    const [name, again] = await Promise.all([server.databases.get(MAIN), server.databases.get(MAIN)]);
    expect(again).toBe(name);
    expect(name).toMatch(/^svc_0a1b2c3d_[0-9a-f]{16}$/);
    expect(await server.databases.get(DEV)).not.toBe(name);
    expect(await server.databases.get(MAIN)).toBe(name);
    const rows = await postgres.query(
      "SELECT shobj_description(oid, 'pg_database') AS comment, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = $1",
      [name],
    );
    expect(rows).toEqual([{ comment: "pulumi-svc emulator 0a1b2c3d: prj-demo/br-main/svcdb", owner: "svc_0a1b2c3d" }]);
  });

  test("keeps its data over a restart, and each mark has its own", async () => {
    const first = await open();
    const session = await first.connect(await first.databases.get(MAIN), writing);
    await ask(session, "CREATE TABLE kept AS SELECT 7 AS number");
    session.socket.destroy();
    await first.close();
    opened.splice(0);

    const second = await open();
    const other = await open({ mark: "ffffffff" });
    const again = await second.connect(await second.databases.get(MAIN), writing);
    expect(await valueOf(again, "SELECT number FROM kept")).toBe("7");
    const others = await other.connect(await other.databases.get(MAIN), writing);
    expect((await ask(others, "SELECT number FROM kept")).error?.code).toBe("42P01");
    again.socket.destroy();
    others.socket.destroy();
  });

  test("opens for the roles of its instance alone", async () => {
    const server = await open();
    const other = await open({ mark: "ffffffff" });
    const name = await server.databases.get(MAIN);
    await other.databases.get(MAIN);
    for (const options of [writing, reading]) {
      await expect(other.connect(name, options)).rejects.toMatchObject({ code: "42501" });
    }
  });
});

describe("a session", () => {
  test("is a bare socket that pg of today has authenticated, with what the server said at its start", async () => {
    const server = await open();
    const session = await server.connect(await server.databases.get(MAIN), writing);
    expect(session.socket.listenerCount("data")).toBe(0);
    expect(session.parameters.get("server_version")).toMatch(/^\d+/);
    expect(session.parameters.get("client_encoding")).toBeDefined();
    expect(session.secretKey).not.toBe(0);
    expect(await valueOf(session, "SELECT pg_backend_pid()")).toBe(String(session.processId));
    expect(await valueOf(session, "SELECT current_user")).toBe("svc_0a1b2c3d");
    expect(await valueOf(session, "SELECT usesuper FROM pg_user WHERE usename = current_user")).toBe("f");
    session.socket.destroy();
  });

  test("has the start parameters of the client, and RESET returns to them", async () => {
    const server = await open();
    const startup = {
      application_name: "an application",
      client_encoding: "LATIN1",
      search_path: "one, two",
      TimeZone: "Asia/Tokyo",
      options: "-c work_mem=5MB -c statement_timeout=12s",
      user: "postgres",
      database: "postgres",
    };
    const session = await server.connect(await server.databases.get(MAIN), { readOnly: false, startup });
    expect(session.parameters.get("client_encoding")).toBe("LATIN1");
    expect(session.parameters.get("application_name")).toBe("an application");
    await ask(session, "SET application_name = 'other'; SET search_path = public; SET work_mem = '9MB'");
    await ask(session, "RESET ALL");
    for (const [name, value] of [
      ["application_name", "an application"],
      ["client_encoding", "LATIN1"],
      ["search_path", "one, two"],
      ["TimeZone", "Asia/Tokyo"],
      ["work_mem", "5MB"],
      ["statement_timeout", "12s"],
    ]) {
      expect([name, await valueOf(session, `SHOW ${name}`)]).toEqual([name, value]);
    }
    expect(await valueOf(session, "SELECT current_user")).toBe("svc_0a1b2c3d");
    session.socket.destroy();
  });

  test("is refused with the server's code and words for a parameter that does not exist", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    const connecting = server.connect(name, { readOnly: false, startup: { no_such_thing: "1" } });
    await expect(connecting).rejects.toMatchObject({
      code: "42704",
      message: expect.stringContaining("no_such_thing"),
    });
  });

  test("continues after a client has changed the password of its role", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    const session = await server.connect(name, writing);
    await ask(session, "ALTER ROLE CURRENT_USER PASSWORD 'mine'");
    const next = await server.connect(name, writing);
    expect(await valueOf(next, "SELECT 1")).toBe("1");
    session.socket.destroy();
    next.socket.destroy();
  });

  test("ends on the server, also while a query runs", async () => {
    const server = await open();
    const session = await server.connect(await server.databases.get(MAIN), writing);
    const sleeping = ask(session, "SELECT pg_sleep(600)");
    await server.terminate([session.processId]);
    expect((await sleeping).error?.code).toBe("57P01");
    expect(await postgres.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [session.processId])).toEqual([]);
  });

  test("of somebody else is neither ended nor cancelled", async () => {
    const server = await open();
    const [row] = await postgres.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
    const other = await open({ mark: "ffffffff" });
    const theirs = await other.connect(await other.databases.get(MAIN), writing);
    await server.terminate([theirs.processId, Number(row?.["pid"])]);
    await server.cancel(theirs);
    expect(await valueOf(theirs, "SELECT 1")).toBe("1");
    theirs.socket.destroy();
  });

  test("continues after a cancelled query", async () => {
    const server = await open();
    const session = await server.connect(await server.databases.get(MAIN), writing);
    const sleeping = ask(session, "SELECT pg_sleep(600)");
    const running = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active'";
    while ((await postgres.query(running, [session.processId])).length === 0);
    await server.cancel(session);
    expect((await sleeping).error?.code).toBe("57014");
    expect(await valueOf(session, "SELECT 1")).toBe("1");
    session.socket.destroy();
  });
});

describe("a read-only session", () => {
  const WRITES = [
    "INSERT INTO items VALUES (2)",
    "UPDATE items SET id = 3",
    "DELETE FROM items",
    "TRUNCATE items",
    "COPY items FROM STDIN",
    "CREATE TABLE theirs (id int)",
    "CREATE TEMP TABLE theirs (id int)",
    "CREATE SCHEMA theirs",
    "CREATE FUNCTION theirs() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE DATABASE theirs",
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT nextval('counter')",
    "SELECT setval('counter', 7)",
    "SELECT * FROM items FOR UPDATE",
    "REFRESH MATERIALIZED VIEW seen",
    "ALTER TABLE items ADD COLUMN more int",
    "DROP TABLE items",
    "DO $$ BEGIN INSERT INTO items VALUES (2); END $$",
    "SET ROLE svc_0a1b2c3d",
  ];

  test("reads every schema, and refuses each write by rights, not by a setting", async () => {
    const server = await open();
    const name = await server.databases.get(MAIN);
    const writer = await server.connect(name, writing);
    const made = await ask(
      writer,
      `CREATE TABLE items AS SELECT 1 AS id; CREATE SEQUENCE counter; CREATE MATERIALIZED VIEW seen AS SELECT 1;
       CREATE SCHEMA apart; CREATE TABLE apart.items AS SELECT 5 AS id; SELECT lo_create(0)`,
    );
    expect(made.error).toBeUndefined();

    const session = await server.connect(name, reading);
    expect(await valueOf(session, "SELECT id FROM apart.items")).toBe("5");
    expect((await ask(session, "INSERT INTO items VALUES (2)")).error).toMatchObject({
      code: "25006",
      message: "cannot execute INSERT in a read-only transaction",
    });
    await ask(session, "SET default_transaction_read_only = off");
    const refusals = [];
    for (const sql of WRITES) refusals.push([sql, (await ask(session, sql)).error?.code]);
    expect(refusals).toEqual(WRITES.map((sql) => [sql, "42501"]));
    expect(await valueOf(writer, "SELECT count(*) FROM items WHERE id = 1")).toBe("1");
    writer.socket.destroy();
    session.socket.destroy();
  });

  test("is as read-only in a database that a client has made", async () => {
    const server = await open();
    const writer = await server.connect(await server.databases.get(MAIN), writing);
    expect((await ask(writer, "CREATE DATABASE shadow")).error).toBeUndefined();
    expect(await server.databases.get({ ...MAIN, database: "shadow" })).toBe("shadow");
    const session = await server.connect("shadow", reading);
    await ask(session, "SET default_transaction_read_only = off");
    expect((await ask(session, "CREATE TEMP TABLE theirs (id int)")).error?.code).toBe("42501");
    writer.socket.destroy();
    session.socket.destroy();
  });
});

describe("dropping", () => {
  test("takes the databases of a branch, or of a project, with their sessions, and no other", async () => {
    const server = await open();
    const other = await open({ mark: "ffffffff" });
    const bystander = await other.databases.get(MAIN);
    const [main, dev] = [await server.databases.get(MAIN), await server.databases.get(DEV)];
    const elsewhere = await server.databases.get({ ...MAIN, projectId: "prj-other" });
    const session = await server.connect(dev, writing);
    const closed = new Promise((resolve) => session.socket.on("close", resolve).on("error", resolve).resume());
    await server.databases.drop({ projectId: "prj-demo", branchId: "br-dev" });
    await closed;
    expect(await databases()).toEqual(["postgres", main, elsewhere, bystander].sort());
    await server.databases.drop({ projectId: "prj-demo" });
    expect(await databases()).toEqual(["postgres", elsewhere, bystander].sort());
    await server.databases.drop({});
    expect(await databases()).toEqual(["postgres", bystander].sort());
  });

  test("of all takes what clients have made, templates too, and leaves what a colleague has made", async () => {
    const server = await open();
    const session = await server.connect(await server.databases.get(MAIN), writing);
    await ask(session, "CREATE DATABASE shadow");
    await ask(session, "ALTER DATABASE shadow IS_TEMPLATE true");
    await postgres.query("CREATE DATABASE svc_0a1b2c3d_colleague");
    await postgres.query(
      "COMMENT ON DATABASE svc_0a1b2c3d_colleague IS 'pulumi-svc emulator 0a1b2c3d: prj-demo/br-main/svcdb'",
    );
    await server.remove();
    expect(await databases()).toEqual(["postgres", "svc_0a1b2c3d_colleague"]);
    expect(await postgres.query("SELECT 1 FROM pg_roles WHERE rolname LIKE 'svc%'")).toEqual([]);
    await postgres.query("DROP DATABASE svc_0a1b2c3d_colleague");
    opened.splice(0);
    await server.close();
  });
});
