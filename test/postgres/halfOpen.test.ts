import type { Socket } from "node:net";
import { Client } from "pg";
import { records, control, until } from "../support/emulator";
import { sessionsOnServer, startGate, suspended, uriOf, useServers } from "../support/gate";
import type { Emulator } from "../../src/emulator";

const servers = useServers();
jest.setTimeout(60_000);

/** A client, and its socket, which pg does not give to others. */
function clientOf(emulator: Emulator) {
  const client = new Client({ connectionString: uriOf(emulator) });
  const ended = new Promise((resolve) => client.once("end", resolve));
  client.on("error", () => undefined);
  const { stream } = Reflect.get(client, "connection") as unknown as { stream: Socket };
  return { client, stream, ended };
}

const nobody = (emulator: Emulator) =>
  until(
    async () => records((await control(emulator.url, "GET", "/connections")).body, "open"),
    (open) => open.length === 0,
  );

test.each([
  ["soon", 0.3],
  ["late", 6],
])(
  "a client that has ended its side gets the answers to what it has sent, %s, and then the end",
  async (_, seconds) => {
    const emulator = await startGate();
    const { client, stream, ended } = clientOf(emulator);
    await client.connect();
    await client.query("create table kept (n int)");
    const words: string[] = [];
    client.on("notice", ({ message = "" }) => words.push(message));
    const answer = client.query(`insert into kept select 42 from pg_sleep(${seconds}); select n from kept`);
    stream.end();
    expect(await answer).toMatchObject([{ rowCount: 1 }, { rows: [{ n: 42 }] }]);
    await ended;
    expect(words).toEqual([]);
    await nobody(emulator);
    expect(await sessionsOnServer(servers)).toBe(0);
  },
);

test("the query of a client that is gone ends, and an open transaction of one that has ended is rolled back", async () => {
  const emulator = await startGate();
  const gone = clientOf(emulator);
  await gone.client.connect();
  void gone.client.query("select pg_sleep(60)").catch(() => undefined);
  const left = clientOf(emulator);
  await left.client.connect();
  await left.client.query("begin; create table half (n int)");
  const begun = Date.now();
  left.stream.end();
  await left.ended;
  gone.stream.destroy();
  await nobody(emulator);
  await until(
    () => sessionsOnServer(servers),
    (count) => count === 0,
  );
  expect(Date.now() - begun).toBeLessThan(12_000);
  const { client } = clientOf(emulator);
  await client.connect();
  expect(await client.query("select to_regclass('half') as found")).toMatchObject({ rows: [{ found: null }] });
  await client.end();
});

test("a client that leaves while its compute starts is noticed at once", async () => {
  const emulator = await startGate({ activationMs: 6_000 });
  await suspended(emulator);
  const { client, stream } = clientOf(emulator);
  void client.connect().catch(() => undefined);
  const open = async () => records((await control(emulator.url, "GET", "/connections")).body, "open");
  await until(open, ([first]) => first?.state === "waiting");
  const begun = Date.now();
  stream.end();
  await nobody(emulator);
  expect(Date.now() - begun).toBeLessThan(2_000);
});
