import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import type { Emulator, EmulatorOptions } from "../../src/emulator";
import { control, integrate, PRIMARY, start, until } from "../support/emulator";
import { startPostgres, type Postgres } from "../support/postgres";

let postgres: Postgres;
let folder: string;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-postgres-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const emulate = (options: EmulatorOptions = {}): Promise<Emulator> => start({ postgres: postgres.url, ...options });

/** One statement of an application, at the gate. */
async function run(gate: string | undefined, sql: string, database = "svcdb"): Promise<unknown[]> {
  const [host, port] = String(gate).split(":");
  const client = new Client({
    ...{ host: String(host), port: Number(port), database, user: "svcdb_owner", password: "test-key" },
    options: `endpoint=${PRIMARY}`,
  });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const left = async (): Promise<unknown[]> =>
  (
    await postgres.query(
      "SELECT datname AS name FROM pg_database WHERE datname LIKE 'svc%' OR datname = 'shadow' UNION ALL SELECT rolname FROM pg_roles WHERE rolname LIKE 'svc%'",
    )
  ).map(({ name }) => name);

test("a restart with the data file finds the databases again, and --postgres-drop leaves nothing", async () => {
  const data = join(folder, "state.json");
  const first = await emulate({ data });
  await run(first.gate, "CREATE TABLE kept AS SELECT 7 AS number");
  await first.close();
  const second = await emulate({ data, postgresDrop: true });
  expect(await run(second.gate, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
  await run(second.gate, "CREATE DATABASE shadow");
  expect(await run(second.gate, "SELECT current_database() AS name", "shadow")).toEqual([{ name: "shadow" }]);
  await second.close();
  expect(await left()).toEqual([]);
});

test("a start that fails drops nothing of an earlier one, also with --postgres-drop", async () => {
  const data = join(folder, "state.json");
  const first = await emulate({ data });
  await run(first.gate, "CREATE TABLE kept AS SELECT 7 AS number");
  const { port } = first;
  await first.close();
  const other = await start({ port });
  await expect(emulate({ data, port, postgresDrop: true })).rejects.toThrow("EADDRINUSE");
  await other.close();
  const second = await emulate({ data, postgresDrop: true });
  expect(await run(second.gate, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
  await second.close();
});

test("a start that fails without a data file leaves no roles, since no later start would find them", async () => {
  const other = await start({});
  await expect(emulate({ port: other.port })).rejects.toThrow("EADDRINUSE");
  await expect(emulate({ postgresPort: postgres.port })).rejects.toThrow("for Postgres is in use");
  await other.close();
  expect(await left()).toEqual([]);
});

test("without a data file each start has databases of its own", async () => {
  const [first, second] = [await emulate({ postgresDrop: true }), await emulate({ postgresDrop: true })];
  await run(first.gate, "CREATE TABLE mine AS SELECT 1");
  await expect(run(second.gate, "SELECT * FROM mine")).rejects.toMatchObject({ code: "42P01" });
  await second.close();
  expect(await run(first.gate, "SELECT count(*)::int AS count FROM mine")).toEqual([{ count: 1 }]);
  await first.close();
  expect(await left()).toEqual([]);
});

test("a second start with the same data file is refused with a message, and the first continues", async () => {
  const data = join(folder, "state.json");
  const first = await emulate({ data, postgresDrop: true });
  await expect(emulate({ data })).rejects.toThrow(/^another emulator with the mark [0-9a-f]{8} uses Postgres at/);
  expect(await run(first.gate, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await first.close();
});

test("a reset gives empty databases, with the users of the new state", async () => {
  const emulator = await emulate({ postgresDrop: true });
  await integrate(emulator);
  await run(emulator.gate, "CREATE TABLE mine AS SELECT 1");
  const names = (): Promise<unknown[]> =>
    run(emulator.gate, "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname !~ '^(pg_|inf)'");
  await until(names, (found) => found.length === 2);
  await control(emulator.url, "POST", "/reset");
  expect(await names()).toEqual([]);
  await integrate(emulator);
  expect(await until(names, (found) => found.length === 1)).toEqual([{ name: "svc_auth.users_sync" }]);
  await emulator.close();
});

test("an emulator that was killed is started again with its data file, and has its databases", async () => {
  const data = join(folder, "state.json");
  const kill = async (child: ChildProcess): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  /** The command, as a process of its own. */
  const begin = async (): Promise<{ child: ChildProcess; gate: string }> => {
    const args = ["dist/cli/main.js", "emulator", "--port", "0", "--data", data];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, SVC_EMULATOR_POSTGRES: postgres.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    for await (const line of createInterface({ input: child.stdout })) {
      const gate = /@(127\.0\.0\.1:\d+)\//.exec(line)?.[1];
      if (gate !== undefined) {
        child.stdout.resume();
        return { child, gate };
      }
    }
    throw new Error("the emulator ended before it printed where its gate is");
  };
  const first = await begin();
  await run(first.gate, "CREATE TABLE kept AS SELECT 7 AS number");
  await kill(first.child);
  const second = await begin();
  expect(await run(second.gate, "SELECT number FROM kept")).toEqual([{ number: 7 }]);
  await kill(second.child);
  const last = await emulate({ data, postgresDrop: true });
  await last.close();
  expect(await left()).toEqual([]);
});

test("an emulator whose Postgres is away at its end still saves its state, and says what is left", async () => {
  const data = join(folder, "state.json");
  const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => undefined);
  const emulator = await emulate({ data, postgresDrop: true });
  await postgres.shutDown();
  try {
    await integrate(emulator);
    await emulator.close();
    await emulator.close();
  } finally {
    await postgres.startAgain();
  }
  const words = warnings.mock.calls
    .map(([warning]) => String(warning))
    .filter((text) => text.includes("were not dropped"));
  warnings.mockRestore();
  expect(words).toEqual([
    expect.stringMatching(/^databases of the emulator were not dropped: Postgres at 127.0.0.1:\d+ does/),
  ]);
  expect(readFileSync(data, "utf8")).toContain("auth_provider_project_id");
  await (await emulate({ data, postgresDrop: true })).close();
  expect(await left()).toEqual([]);
});
