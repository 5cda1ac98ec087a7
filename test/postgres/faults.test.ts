import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client, Pool } from "pg";
import type { Emulator } from "../../src/emulator";
import { change, sessionsOnServer, startGate, uriOf, useServers } from "../support/gate";
import { api, DEMO, PRIMARY, until } from "../support/emulator";
import { psqlProgram } from "../support/postgres";
import { testOf, VISITORS, type VisitorName } from "../support/visitors";

const servers = useServers();

const nobodyLeft = (): Promise<number> =>
  until(
    () => sessionsOnServer(servers),
    (count) => count === 0,
  );

/** Speaks no protocol by itself. */
async function socketTo({ gate = "" }: Emulator): Promise<Socket> {
  const [host, port] = gate.split(":");
  const socket = createConnection(Number(port), host);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** All that the gate says until it closes. */
async function answerTo(emulator: Emulator, bytes: Buffer): Promise<string> {
  const socket = await socketTo(emulator);
  const answer: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => answer.push(chunk));
  socket.write(bytes);
  await once(socket, "close");
  return Buffer.concat(answer).toString();
}

const works = async (emulator: Emulator): Promise<string> => {
  const client = await VISITORS.pg(uriOf(emulator));
  const answer = await client.ask("select 'served'");
  await client.close();
  return answer;
};

/** A server that is about to end refuses connections. */
const isBack = (emulator: Emulator): Promise<string> =>
  until(
    () => works(emulator).catch(() => "not yet"),
    (answer) => answer === "served",
  );

describe("a client", () => {
  test("that says nothing for 10 s is told so, and closed", async () => {
    const emulator = await startGate();
    const begun = Date.now();
    expect(await answerTo(emulator, Buffer.alloc(0))).toContain("no authentication within 10 s");
    expect(Date.now() - begun).toBeGreaterThan(9_900);
    expect(await works(emulator)).toBe("served");
  });

  test("that announces a startup message of more than 10 kB is refused", async () => {
    const emulator = await startGate();
    expect(await answerTo(emulator, Buffer.from([0, 0, 0x27, 0x11, 0, 3, 0, 0]))).toMatch(/08P01.*at most 10000 bytes/);
    const client = new Client({ connectionString: `${uriOf(emulator)}&application_name=${"a".repeat(10_000)}` });
    await expect(client.connect()).rejects.toMatchObject({ code: "08P01" });
  });

  test("that sends garbage at any point harms nobody", async () => {
    const emulator = await startGate();
    const other = await VISITORS.pg(uriOf(emulator));
    const startup = Buffer.from(`\0\x03\0\0user\0svcdb_owner\0options\0endpoint=${PRIMARY}\0\0`, "latin1");
    const length = Buffer.alloc(4);
    length.writeInt32BE(startup.length + 4);
    for (let round = 0; round < 60; round += 1) {
      const garbage = Buffer.from(Array.from({ length: round * 7 }, () => Math.floor(Math.random() * 256)));
      const socket = await socketTo(emulator);
      socket.resume();
      socket.write(round % 2 === 0 ? garbage : Buffer.concat([length, startup, Buffer.from("p"), garbage]));
      socket.end();
      await once(socket, "close");
    }
    expect(await other.ask("select 1")).toBe("1");
    // After the authentication they are for the server to refuse.
    const client = new Client({ connectionString: uriOf(emulator) });
    const told = new Promise<Error>((resolve) => client.once("error", resolve));
    client.on("error", () => undefined);
    await client.connect();
    client.connection.stream.write(Buffer.from("no message at all"));
    expect(await told).toMatchObject({ code: "08P01" });
    expect(await other.ask("select 1")).toBe("1");
    await other.close();
    await nobodyLeft();
  });

  test("that cancels its query has cancelled its own, and no other one", async () => {
    const emulator = await startGate();
    const [asking, other] = [new Client({ connectionString: uriOf(emulator) }), await VISITORS.pg(uriOf(emulator))];
    await asking.connect();
    const query = asking.query("select pg_sleep(60)");
    query.catch(() => undefined); // looked at below
    const slow = other.ask("select pg_sleep(1), 7");
    // pg keeps what a cancellation names, and does not document it.
    const processId = Number(Reflect.get(asking, "processID"));
    const secretKey = Number(Reflect.get(asking, "secretKey"));
    const cancel = async (key: number): Promise<void> => {
      const request = Buffer.alloc(16);
      for (const [at, value] of [16, 80_877_102, processId, key].entries()) request.writeInt32BE(value, 4 * at);
      expect(await answerTo(emulator, request)).toBe("");
    };
    await cancel(secretKey ^ 1);
    const running = "select 1 from pg_stat_activity where pid = $1 and state = 'active'";
    await until(
      () => servers.query(running, [processId]),
      (rows) => rows.length === 1,
    );
    await cancel(secretKey);
    await expect(query).rejects.toMatchObject({ code: "57014" });
    expect((await asking.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await slow;
    await asking.end();
  });

  test("that goes while its query runs leaves nothing behind after some seconds", async () => {
    const emulator = await startGate();
    const client = new Client({ connectionString: uriOf(emulator) });
    client.on("error", () => undefined);
    await client.connect();
    client.query("select pg_sleep(60)").catch(() => undefined);
    await until(
      () => sessionsOnServer(servers),
      (count) => count === 1,
    );
    client.connection.stream.destroy();
    await nobodyLeft();
  });

  test("that goes while it waits for a compute is forgotten", async () => {
    const emulator = await startGate({ activationMs: 1_000 });
    await api(emulator, "POST", `${DEMO}/endpoints/${PRIMARY}/suspend`);
    const client = new Client({ connectionString: uriOf(emulator) });
    client.on("error", () => undefined);
    const connecting = client.connect().catch((error: Error) => error.message);
    await delay(300);
    client.connection.stream.destroy();
    expect(await connecting).toMatch(/terminated/);
    await delay(2_000);
    expect(await sessionsOnServer(servers)).toBe(0);
  });

  test("that reads nothing holds the server back, and not the memory of the emulator", async () => {
    const emulator = await startGate();
    const client = new Client({ connectionString: uriOf(emulator) });
    client.on("error", () => undefined);
    await client.connect();
    const before = process.memoryUsage().rss;
    client.query("select repeat('x', 1000) from generate_series(1, 400000)").catch(() => undefined);
    client.connection.stream.pause();
    await delay(2_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    const busy = await servers.query("select wait_event from pg_stat_activity where wait_event = 'ClientWrite'");
    expect(busy).toHaveLength(1);
    client.connection.stream.destroy();
    await nobodyLeft();
  });
});

test("500 connections that are opened and dropped leave nothing open on either side", async () => {
  const emulator = await startGate();
  await works(emulator);
  const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
  await nobodyLeft();
  const before = sockets();
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        if (index % 5 < 3) {
          const socket = await socketTo(emulator);
          if (index % 5 === 1) socket.write(Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]));
          if (index % 5 === 2) socket.write(Buffer.from([0, 0]));
          socket.destroy();
          return;
        }
        const client = new Client({ connectionString: uriOf(emulator) });
        client.on("error", () => undefined);
        await client.connect();
        if (index % 5 === 4) client.query("select 1").catch(() => undefined);
        client.connection.stream.destroy();
      }),
    );
  }
  await nobodyLeft();
  await until(
    async () => sockets(),
    (count) => count <= before,
  );
  expect(await works(emulator)).toBe("served");
});

test("what clients send and get passes as it is: COPY, large results, pipelines, notices, notifications", async () => {
  const emulator = await startGate();
  const pool = new Pool({ connectionString: uriOf(emulator), max: 4 });
  pool.on("error", () => undefined);
  await pool.query("create table lines (id int, line text)");
  const rows = await pool.query("select i, repeat(i::text, 50) as line from generate_series(1, 20000) as i");
  expect([rows.rowCount, rows.rows[19_999]]).toEqual([20_000, { i: 20_000, line: "20000".repeat(50) }]);
  const many = Array.from({ length: 200 }, (_, id) =>
    pool.query("insert into lines values ($1, $2)", [id, "é".repeat(id)]),
  );
  await Promise.all(many);
  expect((await pool.query("select sum(length(line))::int as length from lines")).rows).toEqual([{ length: 19_900 }]);
  await pool.query({ name: "prepared", text: "select $1::int + 1 as next", values: [1] });
  expect((await pool.query({ name: "prepared", text: "select $1::int + 1 as next", values: [2] })).rows).toEqual([
    { next: 3 },
  ]);

  const client = await pool.connect();
  const heard: unknown[] = [];
  client.on("notification", ({ channel, payload, processId }) => heard.push([channel, payload, processId]));
  client.on("notice", ({ message }) => heard.push(message));
  await client.query("listen news");
  await client.query("do $$ begin raise notice 'noticed'; end $$");
  const { rows: sender } = await pool.query("select pg_backend_pid() as pid, pg_notify('news', 'x')");
  await until(
    async () => heard,
    ({ length }) => length === 2,
  );
  expect(heard).toEqual(["noticed", ["news", "x", sender[0].pid]]);
  client.release();
  await pool.end();
});

(psqlProgram() ? test : test.skip)("psql copies in and out, and its connection is idle afterwards", async () => {
  const emulator = await startGate({ timeScale: 200 });
  const psql = await VISITORS.psql(uriOf(emulator));
  await psql.ask("create table copied (id int)");
  await psql.ask("copy copied from program 'echo 1'").catch((error: Error) => expect(error.message).toMatch(/42501/));
  const again = await VISITORS.psql(uriOf(emulator));
  await again.ask("copy copied from stdin;\n1\n2\n3\n\\.\nselect 1");
  expect(await again.ask("select sum(id) from copied")).toBe("6");
  await again.ask("copy copied to stdout");
  await change(emulator, { suspend_timeout_seconds: 60 });
  await nobodyLeft();
  expect(await again.end()).toContain("57P01");
});

describe.each(Object.keys(VISITORS) as VisitorName[])("a Postgres that goes, as %s sees it", (name) => {
  const visit = VISITORS[name];
  const run = testOf(name);

  run("is shut down or crashes: words to open connections, and the next connection starts it again", async () => {
    const emulator = await startGate();
    for (const [signal, words] of [
      // A query that is sent in that very moment loses the server's words.
      ["SIGINT", /57P01|08006/],
      ["SIGQUIT", /57P01|57P02|08006|closed the connection|terminated/],
    ] as const) {
      const client = await visit(uriOf(emulator));
      await client.ask("create table if not exists kept (id int); insert into kept values (1)");
      for (const id of servers.processes()) process.kill(id, signal);
      expect(await client.end()).toMatch(words);
      await isBack(emulator);
    }
    expect(await (await visit(uriOf(emulator))).ask("select count(*) from kept")).toBe("2");
  });

  run("loses a session without a word: the words of the gate", async () => {
    const emulator = await startGate();
    const client = await visit(uriOf(emulator));
    process.kill(Number(await client.ask("select pg_backend_pid()")), "SIGKILL");
    await delay(500);
    expect(await client.end()).toMatch(
      /08006: svc emulator: the connection to the Postgres behind the emulator was lost/,
    );
    await isBack(emulator);
  });
});

test("a Postgres that goes does not keep the emulator from ending", async () => {
  const emulator = await startGate();
  await VISITORS.pg(uriOf(emulator));
  for (const id of servers.processes()) process.kill(id, "SIGQUIT");
  await emulator.close();
});

test("a client that goes while its session is opened takes no connection for ever", async () => {
  const emulator = await startGate();
  await change(emulator, { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 });
  await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const client = new Client({ connectionString: uriOf(emulator) });
      client.on("error", () => undefined);
      client.connect().catch(() => undefined);
      await delay(index / 2);
      client.connection.stream.destroy();
    }),
  );
  await nobodyLeft();
  // A session that is still being opened for somebody who has gone takes one for a moment.
  const all = async (): Promise<boolean> => {
    const clients = await Promise.allSettled(Array.from({ length: 112 }, () => VISITORS.pg(uriOf(emulator))));
    await Promise.all(clients.map((client) => client.status === "fulfilled" && client.value.close()));
    return clients.every(({ status }) => status === "fulfilled");
  };
  expect(await until(all, Boolean)).toBe(true);
});

test("a port that is in use is reported with a message", async () => {
  const emulator = await startGate();
  const port = Number(emulator.gate?.split(":")[1]);
  await expect(startGate({ postgresPort: port })).rejects.toThrow(
    `port ${port} for Postgres is in use: choose another with --postgres-port`,
  );
});
