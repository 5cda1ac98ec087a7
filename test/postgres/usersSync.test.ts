import { isDeepStrictEqual } from "node:util";
import { followModel } from "../../src/emulator/postgres/followModel";
import { PostgresServer } from "../../src/emulator/postgres/postgresServer";
import type { EmulatorOptions } from "../../src/emulator/emulatorOptions";
import { startPostgres, type Postgres } from "../support/postgres";
import { ask, valueOf } from "../support/rawSession";
import { servedModel, type ServedModel } from "../support/servedModel";
import { until } from "../support/emulator";

const MARK = "0a1b2c3d";
const PROJECT = "prj-demo";
const PLACE = { projectId: PROJECT, branchId: "br-main", database: "svcdb" };
const INTEGRATION = { project_id: PROJECT, auth_provider: "supported_provider" };
const writing = { readOnly: false, startup: {} };

let postgres: Postgres;
const ends: (() => Promise<void>)[] = [];
const warnings: string[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, "emitWarning").mockImplementation((words) => void warnings.push(String(words)));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  jest.restoreAllMocks();
});

/** An instance whose databases follow a model; `model` continues with the model of another instance. */
async function start(
  options: EmulatorOptions = {},
  model: ServedModel = servedModel(options),
): Promise<ServedModel & { server: PostgresServer; end(remove?: boolean): Promise<void> }> {
  const server = await PostgresServer.open({ url: postgres.url, remote: false, mark: MARK });
  const followers = await followModel(model.service.store, server);
  const end = async (remove = true): Promise<void> => {
    ends.splice(ends.indexOf(end), 1);
    await followers.stop();
    if (remove) await server.remove();
    await server.close();
  };
  ends.push(end);
  return { ...model, server, end };
}

const integrate = (model: ServedModel, branch = "br-main"): Promise<unknown> =>
  model.send("POST", "/projects/auth/create", { ...INTEGRATION, branch_id: branch });

const addUser = async (model: ServedModel, email: string, name?: string): Promise<string> =>
  String((await model.send("POST", "/projects/auth/user", { ...INTEGRATION, email, ...(name && { name }) }))["id"]);

/** The rows of the table of a place; undefined if it does not exist. */
async function table(server: PostgresServer, place = PLACE): Promise<unknown[] | undefined> {
  const name = await server.databases.find(place);
  if (name === undefined) return undefined;
  const rows = postgres.query("SELECT id, email, name FROM svc_auth.users_sync ORDER BY email", [], name);
  return rows.catch((error: { code: string }) => {
    if (error.code === "42P01") return undefined;
    throw error;
  });
}

const emails = async (server: PostgresServer, place = PLACE): Promise<unknown> =>
  (await table(server, place))?.map((row) => Object(row).email);

const shows = (server: PostgresServer, expected: unknown, place = PLACE): Promise<unknown> =>
  until(
    () => emails(server, place),
    (found) => isDeepStrictEqual(found, expected),
  );

const isWarned = (): Promise<unknown> =>
  until(
    () => Promise.resolve(warnings),
    ({ length }) => length > 0,
  );

describe("users_sync", () => {
  test("is made with the integration, and holds the users that the API and edits make, change and delete", async () => {
    const model = await start();
    await integrate(model);
    await shows(model.server, []);
    const ada = await addUser(model, "ada@example.com", "Ada");
    const nameless = await addUser(model, "nobody@example.com");
    await shows(model.server, ["ada@example.com", "nobody@example.com"]);
    expect(await table(model.server)).toEqual([
      { id: ada, email: "ada@example.com", name: "Ada" },
      { id: nameless, email: "nobody@example.com", name: null },
    ]);
    await model.send("POST", "/_emulator/edit", {
      kind: "user",
      project_id: PROJECT,
      id: ada,
      set: { email: "countess@example.com" },
    });
    await shows(model.server, ["countess@example.com", "nobody@example.com"]);
    await model.send("DELETE", `/projects/${PROJECT}/auth/users/${ada}`);
    await shows(model.server, ["nobody@example.com"]);
  });

  test("has the types that an application joins with, and the moment of the API's record", async () => {
    const model = await start();
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(model.server, ["ada@example.com"]);
    const name = await model.server.databases.get(PLACE);
    const columns = await postgres.query(
      "SELECT column_name || ' ' || data_type || ' ' || is_nullable AS said FROM information_schema.columns WHERE table_schema = 'svc_auth' ORDER BY ordinal_position",
      [],
      name,
    );
    expect(columns.map(({ said }) => said)).toEqual([
      "id text NO",
      "email text NO",
      "name text YES",
      "created_at timestamp with time zone NO",
    ]);
    const [row] = await postgres.query("SELECT created_at FROM svc_auth.users_sync", [], name);
    expect(row?.["created_at"]).toEqual(new Date(model.service.store.project(PROJECT).users[0]?.created_at ?? ""));
  });

  test("is read by clients, referred to by their tables, and neither written, locked nor dropped by them", async () => {
    const model = await start();
    await integrate(model);
    const ada = await addUser(model, "ada@example.com");
    const lin = await addUser(model, "lin@example.com");
    await shows(model.server, ["ada@example.com", "lin@example.com"]);
    const name = await model.server.databases.get(PLACE);
    for (const readOnly of [false, true]) {
      const session = await model.server.connect(name, { readOnly, startup: {} });
      expect(await valueOf(session, "SELECT count(*) FROM svc_auth.users_sync")).toBe("2");
      await ask(session, "SET default_transaction_read_only = off");
      // A warning only: no right is granted that the role does not have.
      await ask(session, "GRANT ALL ON svc_auth.users_sync TO CURRENT_USER");
      for (const sql of [
        "INSERT INTO svc_auth.users_sync VALUES ('1', 'x@example.com', NULL, now())",
        "UPDATE svc_auth.users_sync SET name = 'x'",
        "DELETE FROM svc_auth.users_sync",
        "TRUNCATE svc_auth.users_sync",
        "ALTER TABLE svc_auth.users_sync ADD COLUMN more text",
        "DROP TABLE svc_auth.users_sync",
        "DROP SCHEMA svc_auth CASCADE",
        "ALTER SCHEMA svc_auth RENAME TO mine",
        "CREATE TABLE svc_auth.mine (id int)",
        "DO $$ BEGIN LOCK TABLE svc_auth.users_sync IN ACCESS EXCLUSIVE MODE; END $$",
      ]) {
        expect([sql, (await ask(session, sql)).error?.code]).toEqual([sql, "42501"]);
      }
      session.socket.destroy();
    }
    const session = await model.server.connect(name, writing);
    await ask(session, "DROP OWNED BY CURRENT_USER CASCADE");
    await ask(session, "CREATE SCHEMA IF NOT EXISTS public");
    const tables =
      "CREATE TABLE todos (owner text REFERENCES svc_auth.users_sync (id) ON DELETE CASCADE);" +
      "CREATE TABLE bills (owner text REFERENCES svc_auth.users_sync (id))";
    expect((await ask(session, tables)).error).toBeUndefined();
    await ask(session, `INSERT INTO todos VALUES ('${ada}'); INSERT INTO bills VALUES ('${lin}')`);
    // Lin is referred to without a rule: the row waits for the client, and that of the others does not.
    await model.send("DELETE", `/projects/${PROJECT}/auth/users/${lin}`);
    await model.send("DELETE", `/projects/${PROJECT}/auth/users/${ada}`);
    await shows(model.server, ["lin@example.com"]);
    expect(await valueOf(session, "SELECT count(*) FROM todos")).toBe("0");
    await ask(session, "DROP TABLE bills");
    await shows(model.server, []);
    expect(warnings).toEqual([expect.stringContaining("svc_auth.users_sync is out of date")]);
    session.socket.destroy();
  });

  test("goes with the integration, and follows it to another branch", async () => {
    const model = await start({ anyAuthBranch: true });
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(model.server, ["ada@example.com"]);
    await model.send("POST", "/_emulator/edit", {
      kind: "integration",
      project_id: PROJECT,
      set: { branch_id: "br-dev" },
    });
    await shows(model.server, ["ada@example.com"], { ...PLACE, branchId: "br-dev" });
    await shows(model.server, undefined);
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    await shows(model.server, undefined, { ...PLACE, branchId: "br-dev" });
  });

  test("stays where schemas are kept, unless the data is to be deleted", async () => {
    const model = await start({ variants: { keepSchemas: true } });
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(model.server, ["ada@example.com"]);
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    model.reset();
    await integrate(model);
    await shows(model.server, []);
    await addUser(model, "lin@example.com");
    await shows(model.server, ["lin@example.com"]);
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`, { delete_data: true });
    await shows(model.server, undefined);
    const other = await start({}, await model.end().then(() => servedModel({ variants: { keepSchemas: true } })));
    await integrate(other);
    await addUser(other, "kept@example.com");
    await shows(other.server, ["kept@example.com"]);
    await other.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    // A change that is written after the deletion, so that the deletion has been looked at.
    await other.send("POST", "/_emulator/edit", {
      kind: "integration",
      project_id: PROJECT,
      create: { branch_id: "br-dev" },
    });
    await shows(other.server, [], { ...PLACE, branchId: "br-dev" });
    expect(await emails(other.server)).toEqual(["kept@example.com"]);
  });

  test("catches up after Postgres was away, while the API went on, and tells it once", async () => {
    const model = await start();
    await integrate(model);
    await shows(model.server, []);
    await postgres.shutDown();
    try {
      await addUser(model, "ada@example.com");
      await isWarned();
      await addUser(model, "lin@example.com");
    } finally {
      await postgres.startAgain();
    }
    await shows(model.server, ["ada@example.com", "lin@example.com"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`127.0.0.1:${postgres.port}`);
    expect(warnings[0]).not.toContain(postgres.password);
  });

  test("is right after a restart that has missed changes: users, and a deleted integration", async () => {
    const model = servedModel({ anyAuthBranch: true });
    const first = await start({}, model);
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(first.server, ["ada@example.com"]);
    await first.end(false);
    await addUser(model, "lin@example.com");
    const second = await start({}, model);
    await shows(second.server, ["ada@example.com", "lin@example.com"]);
    await second.end(false);
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    const third = await start({}, model);
    await shows(third.server, undefined);
  });

  test("is made again in a database that a client has dropped", async () => {
    const model = await start();
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(model.server, ["ada@example.com"]);
    const session = await model.server.connect(
      await model.server.databases.get({ ...PLACE, branchId: "br-dev" }),
      writing,
    );
    const dropped = await ask(session, `DROP DATABASE "${await model.server.databases.find(PLACE)}"`);
    expect(dropped.error).toBeUndefined();
    await model.server.databases.get(PLACE);
    await shows(model.server, ["ada@example.com"]);
    session.socket.destroy();
  });

  test("leaves a schema of that name that a client has made, and says so", async () => {
    const model = await start();
    const session = await model.server.connect(await model.server.databases.get(PLACE), writing);
    await ask(session, "CREATE SCHEMA svc_auth; CREATE TABLE svc_auth.mine AS SELECT 1 AS id");
    await integrate(model);
    await isWarned();
    expect(warnings[0]).toContain("a client created");
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    expect(await valueOf(session, "SELECT id FROM svc_auth.mine")).toBe("1");
    await integrate(model);
    await ask(session, "DROP SCHEMA svc_auth CASCADE");
    await shows(model.server, []);
    session.socket.destroy();
  });

  test("holds what no table can, without it: a NUL, half a character, one id twice", async () => {
    const model = await start();
    await integrate(model);
    await addUser(model, "ada@example.com", "A\0da \ud800 \u{1f600} '\\");
    await model.send("POST", "/_emulator/edit", {
      kind: "user",
      project_id: PROJECT,
      create: { id: "twice", email: "first@example.com" },
    });
    await model.send("POST", "/_emulator/edit", {
      kind: "user",
      project_id: PROJECT,
      create: { id: "twice", email: "second@example.com" },
    });
    await shows(model.server, ["ada@example.com", "second@example.com"]);
    expect(await table(model.server)).toMatchObject([{ name: "Ada \ufffd \u{1f600} '\\" }, { id: "twice" }]);
    expect(warnings).toEqual([]);
  });

  test("waits for no transaction of a client that has read it", async () => {
    const model = await start();
    await integrate(model);
    await addUser(model, "ada@example.com");
    await shows(model.server, ["ada@example.com"]);
    const session = await model.server.connect(await model.server.databases.get(PLACE), writing);
    await ask(session, "BEGIN; SELECT * FROM svc_auth.users_sync");
    await model.send("DELETE", `/projects/${PROJECT}/auth/integration/supported_provider`);
    // The table cannot be dropped yet, and other databases are created in the meantime.
    await isWarned();
    expect(await model.server.databases.get({ ...PLACE, branchId: "br-dev" })).toBeDefined();
    await ask(session, "COMMIT");
    await shows(model.server, undefined);
    session.socket.destroy();
  });
});

describe("the databases of a branch", () => {
  const databases = async (): Promise<unknown[]> =>
    (await postgres.query("SELECT datname FROM pg_database WHERE datname LIKE 'svc%' OR datname = 'shadow'")).map(
      ({ datname }) => datname,
    );

  test("go with the branch", async () => {
    const model = await start();
    const main = await model.server.databases.get(PLACE);
    await model.server.databases.get({ ...PLACE, branchId: "br-dev" });
    await model.send("POST", "/_emulator/edit", {
      kind: "branch",
      project_id: PROJECT,
      id: "br-dev",
      delete: true,
    });
    await until(databases, ({ length }) => length === 1);
    expect(await databases()).toEqual([main]);
  });

  test("go by a reset before anybody is given the next ones, and so does what clients have made", async () => {
    const model = await start();
    const name = await model.server.databases.get(PLACE);
    const session = await model.server.connect(name, writing);
    await ask(session, "CREATE DATABASE shadow");
    await ask(session, "CREATE TABLE mine AS SELECT 1");
    model.reset();
    const again = await model.server.connect(await model.server.databases.get(PLACE), writing);
    expect((await ask(again, "SELECT * FROM mine")).error?.code).toBe("42P01");
    expect(await databases()).toEqual([name]);
    again.socket.destroy();
  });

  test("go at the next connection, or at the next start, where Postgres was away when the branch went", async () => {
    const model = await start();
    const old = await model.server.connect(await model.server.databases.get(PLACE), writing);
    await ask(old, "CREATE TABLE mine AS SELECT 1");
    await model.server.databases.get({ ...PLACE, branchId: "br-dev" });
    old.socket.on("error", () => undefined);
    await postgres.shutDown();
    model.reset();
    await isWarned();
    await postgres.startAgain();
    const again = await model.server.connect(await model.server.databases.get(PLACE), writing);
    expect((await ask(again, "SELECT * FROM mine")).error?.code).toBe("42P01");
    again.socket.destroy();
    await model.server.databases.get({ ...PLACE, branchId: "br-test" });
    await model.end(false);
    await model.send("POST", "/_emulator/edit", {
      kind: "branch",
      project_id: PROJECT,
      id: "br-test",
      delete: true,
    });
    const next = await start({}, model);
    expect(await databases()).toEqual([await next.server.databases.find(PLACE)]);
  });
});
