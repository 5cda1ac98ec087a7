import { isDeepStrictEqual } from "node:util";
import type { Emulator, EmulatorOptions } from "../../src/emulator";
import { api, control, DEMO, INTEGRATION, integrate, PRIMARY, until, type Json } from "../support/emulator";
import { act, replicaOf, startGate, suspended, uriOf, useServers } from "../support/gate";
import { VISITORS, type Visit } from "../support/visitors";

const servers = useServers();

const PROJECT = "prj-demo";
/** A compute of br-dev. */
const DEV = "ep-demo-dev-10000001";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, "emitWarning").mockImplementation((words) => void warnings.push(String(words)));
});

/** A request of the API, or of the control routes; fails if it is refused. */
async function send(emulator: Emulator, method: string, path: string, body?: Json): Promise<Json> {
  const { status, text, ...answer } = await (path.startsWith("/projects")
    ? api(emulator, method, path, body)
    : control(emulator.url, method, path, body));
  if (status >= 400) throw new Error(`${method} ${path}: ${status} ${text}`);
  return answer.body;
}

const edit = (emulator: Emulator, what: Json): Promise<Json> =>
  send(emulator, "POST", "/edit", { project_id: PROJECT, ...what });

/** With a second compute for br-dev, and a client of br-main's. */
async function start(options: EmulatorOptions = {}): Promise<{ emulator: Emulator; client: Visit }> {
  const emulator = await startGate(options);
  return { emulator, client: await VISITORS.pg(uriOf(emulator)) };
}

const clientOf = async (emulator: Emulator, branch: string): Promise<Visit> => {
  await edit(emulator, { kind: "endpoint", create: { id: DEV, branch_id: branch, type: "read_write" } });
  return VISITORS.pg(uriOf(emulator, DEV));
};

const addUser = async (emulator: Emulator, email: string, name?: string): Promise<string> => {
  const { project_id, auth_provider } = INTEGRATION;
  const body = { project_id, auth_provider, email, ...(name && { name }) };
  return String((await send(emulator, "POST", "/projects/auth/user", body))["id"]);
};

const removeUser = (emulator: Emulator, id: string): Promise<Json> =>
  send(emulator, "DELETE", `${DEMO}/auth/users/${id}`);

const removeIntegration = (emulator: Emulator, body?: Json): Promise<Json> =>
  send(emulator, "DELETE", `${DEMO}/auth/integration/supported_provider`, body);

/** The rows of the table; undefined if it does not exist. */
async function table(client: Visit): Promise<Json[] | undefined> {
  const rows =
    "select coalesce(json_agg(json_build_object('id', id, 'email', email, 'name', name) order by email), '[]')";
  const text = await client.ask(`${rows}::text from svc_auth.users_sync`).catch((error: Error) => {
    if (error.message.startsWith("42P01")) return undefined;
    throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

const emails = async (client: Visit): Promise<unknown> => (await table(client))?.map(({ email }) => email);

const shows = (client: Visit, expected: unknown): Promise<unknown> =>
  until(
    () => emails(client),
    (found) => isDeepStrictEqual(found, expected),
  );

const isWarned = (): Promise<unknown> =>
  until(
    () => Promise.resolve(warnings),
    ({ length }) => length > 0,
  );

describe("users_sync", () => {
  test("is there, and readable, with the first connection after the integration, a start and a restart", async () => {
    const emulator = await startGate();
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    expect(await emails(await VISITORS.pg(uriOf(emulator)))).toEqual(["ada@example.com"]);
    expect(await emails(await VISITORS.pg(await replicaOf(emulator)))).toEqual(["ada@example.com"]);
    await removeIntegration(emulator);
    await integrate(emulator, { database_name: "shop", role_name: "web" });
    const shop = uriOf(emulator, undefined, { database: "shop", role: "web" });
    expect(await emails(await VISITORS.pg(shop))).toEqual([]);
    await suspended(emulator);
    await addUser(emulator, "lin@example.com");
    await act(emulator, "start");
    expect(await emails(await VISITORS.pg(shop))).toEqual(["lin@example.com"]);
  });

  describe("is what the API has answered, at once", () => {
    /** The clients of an application that was there before the integration. */
    const CLIENTS: Record<string, (emulator: Emulator) => Promise<string>> = {
      "the compute": (emulator) => Promise.resolve(uriOf(emulator)),
      "the pooled host": (emulator) => Promise.resolve(uriOf(emulator, `${PRIMARY}-pooler`)),
      "a read replica": (emulator) => replicaOf(emulator),
    };

    test.each(Object.entries(CLIENTS))("for an open connection and a new one to %s", async (_what, uriOfClient) => {
      const emulator = await startGate();
      const uri = await uriOfClient(emulator);
      const open = await VISITORS.pg(uri);
      await open.ask("select 1");
      for (let turn = 0; turn < 3; turn += 1) {
        await integrate(emulator);
        const first = emails(open);
        expect([await emails(await VISITORS.pg(uri)), await first]).toEqual([[], []]);
        const ada = await addUser(emulator, "ada@example.com");
        expect(await emails(open)).toEqual(["ada@example.com"]);
        await edit(emulator, { kind: "user", id: ada, set: { email: "countess@example.com" } });
        expect(await emails(open)).toEqual(["countess@example.com"]);
        await removeUser(emulator, ada);
        expect(await emails(open)).toEqual([]);
        await removeIntegration(emulator);
        expect(await table(open)).toBeUndefined();
      }
    });

    test("so that the first migration can refer to it", async () => {
      const { emulator, client } = await start();
      await integrate(emulator);
      await client.ask("create table todos (owner text references svc_auth.users_sync (id))");
      const pooled = await VISITORS.pg(uriOf(emulator, `${PRIMARY}-pooler`));
      // By code nothing waits, but a new connection does.
      emulator.edit({ kind: "user", project_id: PROJECT, create: { id: "ada", email: "ada@example.com" } });
      const again = await VISITORS.pg(uriOf(emulator, `${PRIMARY}-pooler`));
      await again.ask("insert into todos values ('ada')");
      expect(await pooled.ask("select owner from todos")).toBe("ada");
    });

    test("but not for longer than 5 seconds, where a client keeps it from being written", async () => {
      const { emulator, client } = await start();
      await integrate(emulator);
      await client.ask("begin; select * from svc_auth.users_sync");
      const began = Date.now();
      await removeIntegration(emulator);
      expect(Date.now() - began).toBeLessThan(6_000);
      expect((await send(emulator, "GET", "/state")).projects).toMatchObject([{ integrations: [] }]);
      await client.ask("commit");
      await shows(client, undefined);
    });
  });

  test("is made with the integration, and holds the users that the API and edits make, change and delete", async () => {
    const { emulator, client } = await start();
    await integrate(emulator);
    await shows(client, []);
    const ada = await addUser(emulator, "ada@example.com", "Ada");
    const nameless = await addUser(emulator, "nobody@example.com");
    await shows(client, ["ada@example.com", "nobody@example.com"]);
    expect(await table(client)).toEqual([
      { id: ada, email: "ada@example.com", name: "Ada" },
      { id: nameless, email: "nobody@example.com", name: null },
    ]);
    await edit(emulator, { kind: "user", id: ada, set: { email: "countess@example.com" } });
    await shows(client, ["countess@example.com", "nobody@example.com"]);
    await removeUser(emulator, ada);
    await shows(client, ["nobody@example.com"]);
  });

  test("has the types that an application joins with, and the moment of the API's record", async () => {
    const { emulator, client } = await start();
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await shows(client, ["ada@example.com"]);
    const columns =
      "select string_agg(concat_ws(' ', column_name, data_type, is_nullable), ', ' order by ordinal_position) " +
      "from information_schema.columns where table_schema = 'svc_auth'";
    expect(await client.ask(columns)).toBe(
      "id text NO, email text NO, name text YES, created_at timestamp with time zone NO",
    );
    const { users } = Object((await send(emulator, "GET", "/state")).projects)[0];
    expect(await client.ask(`select created_at = '${users[0].created_at}' from svc_auth.users_sync`)).toBe("true");
  });

  test("is read by clients, referred to by their tables, and neither written, locked nor dropped by them", async () => {
    const { emulator, client } = await start();
    await integrate(emulator);
    const ada = await addUser(emulator, "ada@example.com");
    const lin = await addUser(emulator, "lin@example.com");
    await shows(client, ["ada@example.com", "lin@example.com"]);
    // A warning only: no right is granted that the role does not have.
    await client.ask("grant all on svc_auth.users_sync to current_user");
    for (const sql of [
      "insert into svc_auth.users_sync values ('1', 'x@example.com', null, now())",
      "update svc_auth.users_sync set name = 'x'",
      "delete from svc_auth.users_sync",
      "truncate svc_auth.users_sync",
      "alter table svc_auth.users_sync add column more text",
      "drop table svc_auth.users_sync",
      "drop schema svc_auth cascade",
      "alter schema svc_auth rename to mine",
      "create table svc_auth.mine (id int)",
      "do $$ begin lock table svc_auth.users_sync in access exclusive mode; end $$",
    ]) {
      expect([sql, await client.ask(sql).catch((error: Error) => error.message)]).toEqual([
        sql,
        expect.stringMatching(/^42501: /),
      ]);
    }
    await client.ask("drop owned by current_user cascade");
    await client.ask(
      "create table todos (owner text references svc_auth.users_sync (id) on delete cascade);" +
        "create table bills (owner text references svc_auth.users_sync (id));" +
        `insert into todos values ('${ada}'); insert into bills values ('${lin}')`,
    );
    // Lin is referred to without a rule: the row waits for the client, and that of the others does not.
    await removeUser(emulator, lin);
    await removeUser(emulator, ada);
    await shows(client, ["lin@example.com"]);
    expect(await client.ask("select count(*) from todos")).toBe("0");
    await isWarned();
    await client.ask("drop table bills");
    await shows(client, []);
    expect(warnings).toEqual([expect.stringContaining("svc_auth.users_sync is out of date")]);
  });

  test("goes with the integration, and follows it to another branch", async () => {
    const { emulator, client } = await start({ anyAuthBranch: true });
    const dev = await clientOf(emulator, "br-dev");
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await shows(client, ["ada@example.com"]);
    await edit(emulator, { kind: "integration", set: { branch_id: "br-dev" } });
    await shows(dev, ["ada@example.com"]);
    await shows(client, undefined);
    await removeIntegration(emulator);
    await shows(dev, undefined);
  });

  test("stays where schemas are kept, unless the data is to be deleted", async () => {
    const { emulator, client } = await start({ variants: { keepSchemas: true } });
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await shows(client, ["ada@example.com"]);
    await removeIntegration(emulator);
    // A later connection waits until the deletion has been looked at.
    expect(await emails(await VISITORS.pg(uriOf(emulator)))).toEqual(["ada@example.com"]);
    await send(emulator, "POST", "/reset");
    const again = await VISITORS.pg(uriOf(emulator));
    await integrate(emulator);
    await shows(again, []);
    await removeIntegration(emulator, { delete_data: true });
    await shows(again, undefined);
  });

  test("catches up after Postgres was away, while the API went on", async () => {
    const { emulator } = await start();
    await integrate(emulator);
    for (const id of servers.processes()) process.kill(id, "SIGQUIT");
    await addUser(emulator, "ada@example.com");
    await until(
      // A server that is about to end refuses connections.
      () => VISITORS.pg(uriOf(emulator)).then(emails, () => undefined),
      (found) => isDeepStrictEqual(found, ["ada@example.com"]),
    );
    expect(warnings).toEqual([]);
  });

  test("is made again in a database that a client has dropped", async () => {
    const { emulator, client } = await start();
    await integrate(emulator, { database_name: "shop" });
    await addUser(emulator, "ada@example.com");
    const shop = (): Promise<Visit> => VISITORS.pg(uriOf(emulator, undefined, { database: "shop" }));
    await shows(await shop(), ["ada@example.com"]);
    await client.ask("drop database shop with (force)");
    await addUser(emulator, "lin@example.com");
    await shows(await shop(), ["ada@example.com", "lin@example.com"]);
  });

  test("leaves a schema of that name that a client has made, and says so", async () => {
    const { emulator, client } = await start();
    await client.ask("create schema svc_auth; create table svc_auth.mine as select 1 as id");
    await integrate(emulator);
    await isWarned();
    expect(warnings[0]).toContain("a client created");
    await removeIntegration(emulator);
    expect(await client.ask("select id from svc_auth.mine")).toBe("1");
    await integrate(emulator);
    await client.ask("drop schema svc_auth cascade");
    await shows(client, []);
  });

  test("holds what no table can, without it: a NUL, half a character, one id twice", async () => {
    const { emulator, client } = await start();
    await integrate(emulator);
    await addUser(emulator, "ada@example.com", "A\0da \ud800 \u{1f600} '\\");
    await edit(emulator, { kind: "user", create: { id: "twice", email: "first@example.com" } });
    await edit(emulator, { kind: "user", create: { id: "twice", email: "second@example.com" } });
    await shows(client, ["ada@example.com", "second@example.com"]);
    expect(await table(client)).toMatchObject([{ name: "Ada \ufffd \u{1f600} '\\" }, { id: "twice" }]);
    expect(warnings).toEqual([]);
  });

  test("waits for no transaction of a client that has read it", async () => {
    const { emulator, client } = await start();
    await integrate(emulator);
    await addUser(emulator, "ada@example.com");
    await shows(client, ["ada@example.com"]);
    const reader = await VISITORS.pg(uriOf(emulator));
    await reader.ask("begin; select * from svc_auth.users_sync");
    await removeIntegration(emulator);
    // The table cannot be dropped yet, and other databases are created in the meantime.
    await client.ask("create database other");
    await isWarned();
    await reader.ask("commit");
    await shows(client, undefined);
  });

  test("is kept up to date whatever a client does to the roles", async () => {
    const { emulator, client } = await start();
    // From version 16 on, and where something depends on it, they are refused.
    const tries = async (sql: string): Promise<unknown> =>
      client.ask(sql).catch((error: Error) => expect(error.message).toMatch(/^(42501|2BP01): /));
    await tries("drop role svc_auth");
    await integrate(emulator);
    await shows(client, []);
    for (const [at, sql] of [
      "alter role svc_auth nologin connection limit 0 valid until '2000-01-01'",
      "alter role svc_auth set default_transaction_read_only = on",
      "alter role svc_auth in database svcdb set search_path = trap",
      "alter role svcdb_owner set default_transaction_read_only = on",
      "alter database svcdb set role = svcdb_owner",
      "revoke all on database svcdb from svc_auth",
      "drop role svc_auth",
    ].entries()) {
      await tries(sql);
      await addUser(emulator, `user${at}@example.com`);
      await until(
        () => emails(client),
        (found) => String(found).split(",").length === at + 1 && found !== undefined && String(found) !== "",
      );
    }
    expect(warnings).toEqual([]);
  });
});
