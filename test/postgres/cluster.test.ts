import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { Client } from "pg";
import { type Postgres, psqlProgram, startPostgres } from "../support/postgres";

const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("pulumi-svc-postgres-"));

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

let postgres: Postgres | undefined;
afterEach(() => postgres?.stop());

test("a cluster takes its settings, asks for its password, and leaves nothing when it is stopped", async () => {
  const before = folders();
  postgres = await startPostgres({ settings: { max_connections: "17" } });
  expect(await postgres.query("show max_connections")).toEqual([{ max_connections: "17" }]);
  const wrong = new Client({ connectionString: postgres.url.replace(postgres.password, "wrong") });
  await expect(wrong.connect()).rejects.toMatchObject({ code: "28P01" });
  const [made] = folders().filter((name) => !before.includes(name));
  expect(made).toBeDefined();
  await postgres.stop();
  expect(await isListening(postgres.port)).toBe(false);
  expect(existsSync(`${tmpdir()}/${made}`)).toBe(false);
});

test("a server that was shut down starts again on its port with its data, and trusts everybody where it is told so", async () => {
  postgres = await startPostgres({ auth: "trust" });
  await postgres.query("create table kept (id int)");
  await postgres.shutDown("immediate");
  expect(await isListening(postgres.port)).toBe(false);
  await postgres.startAgain();
  const client = new Client({ connectionString: postgres.url.replace(postgres.password, "anything") });
  await client.connect();
  expect((await client.query("select count(*)::int as count from kept")).rows).toEqual([{ count: 0 }]);
  await client.end();
});

(psqlProgram() ? test : test.skip)("psql takes the connection string as it is", async () => {
  postgres = await startPostgres();
  const args = [postgres.url, "--no-psqlrc", "-Atc", "select current_user"];
  expect(execFileSync(psqlProgram() ?? "", args, { encoding: "utf8" })).toBe("postgres\n");
});
