import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Emulator } from "../../src/emulator";
import { control, createCompute, integrate, start, until } from "../support/emulator";
import { startGate, uriOf, useServers } from "../support/gate";
import { VISITORS } from "../support/visitors";

const servers = useServers();

/** One statement of an application, at the gate. */
async function ask(
  emulator: Emulator,
  sql: string,
  more: { id?: string; database?: string; key?: string } = {},
): Promise<string> {
  const client = await VISITORS.pg(uriOf(emulator, more.id, more));
  try {
    return await client.ask(sql);
  } finally {
    await client.close();
  }
}

/** What the emulators of this process have left. It keeps its template until it ends. */
const left = (): string[] => readdirSync(servers.folder).filter((name) => !name.startsWith("pulumi-svc-template-"));

test("a restart with the data file finds the databases again", async () => {
  const data = join(servers.folder, "restart.json");
  const first = await startGate({ data });
  await ask(first, "create table kept as select 7 as number");
  await ask(first, "create database shadow");
  await first.close();
  const second = await startGate({ data });
  expect(await ask(second, "select number from kept")).toBe("7");
  expect(await ask(second, "select current_database()", { database: "shadow" })).toBe("shadow");
  await second.close();
  expect(left()).toEqual(["restart.json", "restart.json.postgres"]);
});

test("a start that fails leaves nothing, and what an earlier one has kept", async () => {
  const before = left();
  const data = join(servers.folder, "fails.json");
  const first = await startGate({ data });
  await ask(first, "create table kept as select 7 as number");
  const { port } = first;
  const taken = Number(first.gate?.split(":")[1]);
  await expect(startGate({ port })).rejects.toThrow("EADDRINUSE");
  await expect(startGate({ postgresPort: taken })).rejects.toThrow("for Postgres is in use");
  await first.close();
  const other = await start({ port });
  await expect(startGate({ data, port })).rejects.toThrow("EADDRINUSE");
  await other.close();
  const second = await startGate({ data });
  expect(await ask(second, "select number from kept")).toBe("7");
  await second.close();
  expect(left().sort()).toEqual([...before, "fails.json", "fails.json.postgres"].sort());
});

test("without a data file each start has databases of its own, and leaves nothing", async () => {
  const before = left();
  const [first, second] = [await startGate(), await startGate()];
  await ask(first, "create table mine as select 1");
  await expect(ask(second, "select * from mine")).rejects.toThrow("42P01");
  await second.close();
  expect(await ask(first, "select count(*) from mine")).toBe("1");
  await first.close();
  expect(left()).toEqual(before);
});

test("what else is in the folder of the data stays, and what no branch has any more goes", async () => {
  const data = join(servers.folder, "tidy.json");
  mkdirSync(`${data}.postgres/0123456789abcdef`, { recursive: true });
  writeFileSync(`${data}.postgres/notes.txt`, "mine");
  await startGate({ data });
  expect(readFileSync(`${data}.postgres/notes.txt`, "utf8")).toBe("mine");
  expect(existsSync(`${data}.postgres/0123456789abcdef`)).toBe(false);
});

test("a branch whose copy was cut off has its parent's data after the next start", async () => {
  const data = join(servers.folder, "cut.json");
  const first = await startGate({ data });
  await ask(first, "create table inherited as select 7 as id");
  const before = readdirSync(`${data}.postgres`);
  first.edit({ kind: "branch", project_id: "prj-demo", create: { id: "br-cut", name: "cut" } });
  const { id } = await createCompute(first, { branch_id: "br-cut", type: "read_write" });
  await ask(first, "select 1", { id: String(id) });
  await first.close();
  // As a kill leaves it.
  const [cluster = ""] = readdirSync(`${data}.postgres`).filter((name) => !before.includes(name));
  renameSync(join(`${data}.postgres`, cluster), join(`${data}.postgres`, `${cluster}.new-0`));
  writeFileSync(join(`${data}.postgres`, `${cluster}.copying`), "");
  const second = await startGate({ data });
  expect(await ask(second, "select id from inherited", { id: String(id) })).toBe("7");
  await until(
    async () => readdirSync(`${data}.postgres`).filter((name) => name.startsWith(cluster)),
    (names) => names.join() === cluster,
  );
});

test("data of another version of Postgres is refused when the emulator starts", async () => {
  const data = join(servers.folder, "older.json");
  const first = await startGate({ data });
  await ask(first, "select 1");
  await first.close();
  const [cluster = ""] = readdirSync(`${data}.postgres`).filter((name) => /^[\da-f]{16}$/.test(name));
  writeFileSync(join(`${data}.postgres`, cluster, "PG_VERSION"), "9\n");
  await expect(startGate({ data })).rejects.toThrow(/has data of Postgres 9, but .*postgres is version \d+: name the/);
});

test("a process that has the id of an earlier server is not ended", async () => {
  const data = join(servers.folder, "reused.json");
  const first = await startGate({ data });
  await ask(first, "select 1");
  const other = spawn("sleep", ["60"]);
  const [cluster = ""] = readdirSync(`${data}.postgres`).filter((name) => /^[\da-f]{16}$/.test(name));
  await first.close();
  writeFileSync(join(`${data}.postgres`, cluster, "postmaster.pid"), `${other.pid}\n`);
  const second = await startGate({ data });
  await second.close();
  expect(other.signalCode).toBeNull();
  other.kill();
  await once(other, "exit");
});

test("a server has neither the key nor the settings of clients in its environment", async () => {
  process.env["PGPORT"] = "9";
  process.env["SVC_EMULATOR_API_KEY"] = "canary-key";
  try {
    const emulator = await startGate({ apiKey: "canary-key" });
    expect(await ask(emulator, "select 1")).toBe("1");
    if (process.platform !== "linux") return;
    for (const pid of servers.processes()) {
      expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("canary");
    }
  } finally {
    delete process.env["PGPORT"];
    delete process.env["SVC_EMULATOR_API_KEY"];
  }
});

test("many branches that are made at once all have the data of their parent", async () => {
  const emulator = await startGate();
  await ask(emulator, "create table inherited as select 7 as id");
  const ids = Array.from({ length: 8 }, (_, at) => `br-many-${at}`);
  for (const id of ids) emulator.edit({ kind: "branch", project_id: "prj-demo", create: { id, name: id } });
  await ask(emulator, "update inherited set id = 8");
  for (const id of ids) {
    const { id: compute } = await createCompute(emulator, { branch_id: id, type: "read_write" });
    expect(await ask(emulator, "select id from inherited", { id: String(compute) })).toMatch(/^[78]$/);
  }
});

test("a reset gives empty databases, with the users of the new state", async () => {
  const emulator = await startGate();
  await integrate(emulator);
  await ask(emulator, "create table mine as select 1");
  await ask(emulator, "create database shadow");
  const names = (): Promise<string> =>
    ask(
      emulator,
      "select coalesce(string_agg(concat_ws('.', schemaname, tablename), ', ' order by tablename), '') " +
        "from pg_tables where schemaname !~ '^(pg_|inf)'",
    );
  expect(await names()).toBe("public.mine, svc_auth.users_sync");
  await control(emulator.url, "POST", "/reset");
  expect(await names()).toBe("");
  await expect(ask(emulator, "select 1", { database: "shadow" })).rejects.toThrow("3D000");
  await integrate(emulator);
  expect(await names()).toBe("svc_auth.users_sync");
  await until(
    async () =>
      readdirSync(join(servers.folder, String(left().find((name) => name.startsWith("pulumi-svc-postgres-"))))),
    (found) => !found.some((name) => name.includes(".gone-")),
  );
});

test("other machines reach the Postgres only with another key than the one that everybody knows", async () => {
  const before = left();
  await expect(startGate({ host: "0.0.0.0" })).rejects.toThrow(
    "other machines can reach 0.0.0.0, and everybody knows the default key of the Postgres there",
  );
  expect(left()).toEqual(before);
  const emulator = await startGate({ host: "0.0.0.0", apiKey: "own-key" });
  expect(await ask(emulator, "select 1")).toBe("1");
  await expect(ask(emulator, "select 1", { key: "test-key" })).rejects.toThrow("28P01");
});

describe("a new branch", () => {
  const create = async (emulator: Emulator, id: string): Promise<string> => {
    const body = { kind: "branch", project_id: "prj-demo", create: { id, name: id } };
    const { status, text } = await control(emulator.url, "POST", "/edit", body);
    if (status !== 200) throw new Error(text);
    const compute = await createCompute(emulator, { branch_id: id, type: "read_write" });
    return uriOf(emulator, String(compute["id"]));
  };

  test("begins with its parent's data, roles and databases, and shares nothing later", async () => {
    const emulator = await startGate();
    const parent = await VISITORS.pg(uriOf(emulator));
    await parent.ask("create table kept as select 7 as number");
    await parent.ask("create role authenticated");
    await parent.ask("create database shadow");
    const uri = await create(emulator, "br-copy");
    const child = await VISITORS.pg(uri);
    expect(await child.ask("select number from kept")).toBe("7");
    expect(await child.ask("select count(*) from pg_roles where rolname = 'authenticated'")).toBe("1");
    const shadow = await VISITORS.pg(uri.replace("/svcdb?", "/shadow?"));
    expect(await shadow.ask("select current_database()")).toBe("shadow");
    await child.ask("update kept set number = 8; create role of_child");
    await parent.ask("insert into kept values (9)");
    await parent.ask("create database later");
    expect(await child.ask("select string_agg(number::text, ',') from kept")).toBe("8");
    expect(await parent.ask("select string_agg(number::text, ',') from kept")).toBe("7,9");
    expect(await parent.ask("select count(*) from pg_roles where rolname = 'of_child'")).toBe("0");
    await expect(VISITORS.pg(uri.replace("/svcdb?", "/later?"))).rejects.toThrow(/3D000: database "later" does not/);
  });

  test("is consistent, also when its parent is written to meanwhile", async () => {
    const emulator = await startGate();
    const parent = await VISITORS.pg(uriOf(emulator));
    await parent.ask(
      "create table accounts (id int primary key, balance int); create index on accounts (balance);" +
        "insert into accounts select i, 100 from generate_series(0, 999) as i; create table log (id serial)",
    );
    // So that the copy takes a moment.
    await parent.ask("create table ballast as select repeat(md5(i::text), 30) from generate_series(1, 50000) as i");
    let isOver = false;
    const checkpoints = (async () => {
      while (!isOver) await servers.query("checkpoint");
    })();
    const writers = [1, 2, 3].map(async (seed) => {
      const client = await VISITORS.pg(uriOf(emulator));
      for (let round = 0; !isOver; round += 1) {
        const [from, to] = [(round * 7 * seed) % 500, 500 + ((round * 13) % 500)];
        await client.ask(
          `begin; update accounts set balance = balance - 1 where id = ${from};` +
            `update accounts set balance = balance + 1 where id = ${to}; insert into log default values; commit`,
        );
      }
    });
    const count = (): Promise<string> => parent.ask("select count(*) from log");
    try {
      for (const round of [1, 2]) {
        const before = Number(await count());
        const child = await VISITORS.pg(await create(emulator, `br-copy-${round}`));
        const after = Number(await count());
        expect(await child.ask("select concat_ws(' ', sum(balance), count(*)) from accounts")).toBe("100000 1000");
        const copied = Number(await child.ask("select count(*) from log"));
        expect(copied).toBeGreaterThanOrEqual(before);
        expect(copied).toBeLessThanOrEqual(after);
        await child.ask("reindex table accounts; insert into accounts values (5000, 1)");
      }
    } finally {
      isOver = true;
    }
    await Promise.all([...writers, checkpoints]);
  });

  test("begins with the data of a parent that is suspended", async () => {
    const emulator = await startGate();
    await ask(emulator, "create table kept as select 7 as number");
    await control(emulator.url, "POST", "/edit", {
      ...{ kind: "endpoint", project_id: "prj-demo", id: "ep-demo-main-10000001", set: { current_state: "idle" } },
    });
    const child = await VISITORS.pg(await create(emulator, "br-copy"));
    expect(await child.ask("select number from kept")).toBe("7");
  });
});
