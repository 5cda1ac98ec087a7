import type { Socket } from "node:net";
import fc from "fast-check";
import { Client, DatabaseError, type ClientConfig } from "pg";
import postgres from "postgres";
import { startEmulator, type Emulator } from "../../src/emulator";
import { connectionUri } from "../../src/helpers/connectionUri";
import { maxConnections } from "../../src/helpers/maxConnections";
import { DEMO, api, endpoint, PRIMARY, settled, until } from "../support/emulator";
import { act, change, sessionsOnServer, suspended, uriOf, useServers } from "../support/gate";
import { VISITORS } from "../support/visitors";

let shared: Promise<Emulator> | undefined;
const open: { end(): Promise<void> }[] = [];
// Before the folder goes.
afterAll(async () => (await shared)?.close());
const servers = useServers();
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.end().catch(() => undefined)));
});

const emulated = (): Promise<Emulator> => (shared ??= startEmulator({ activationMs: 20, postgres: true }));

const pooledUri = ({ apiKey, gate = "" }: Emulator, id = PRIMARY): string =>
  connectionUri({ host: id, role: "svcdb_owner", database: "svcdb", password: apiKey, gate, pooled: true });

async function clientOf(uri: string, config: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString: uri, ...config });
  client.on("error", () => undefined);
  await client.connect();
  open.push(client);
  return client;
}

const pooled = async (config: ClientConfig = {}): Promise<Client> => clientOf(pooledUri(await emulated()), config);
const pidOf = async (client: Client): Promise<number> =>
  (await client.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid ?? 0;
const streamOf = (client: Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream;
const valueOf = async (client: Client, sql: string): Promise<unknown> =>
  Object.values<unknown>((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];

/** Clients with a session of the server each, which they give back at the end: the next ones take turns on these. */
async function warm(count: number): Promise<void> {
  const clients = await Promise.all(Array.from({ length: count }, () => pooled()));
  await Promise.all(clients.map((client) => client.query("begin")));
  await Promise.all(clients.map((client) => client.query("commit")));
  await Promise.all(clients.map((client) => client.end()));
}

test("more clients than the compute has connections take turns on a few sessions", async () => {
  const limit = maxConnections(0.25) ?? 0;
  const clients = await Promise.all(Array.from({ length: 2 * limit }, () => pooled()));
  const answers = await Promise.all(clients.map((client, at) => client.query("select $1::int as at", [at])));
  expect(answers.map(({ rows }: { rows: { at: number }[] }) => rows[0]?.at)).toEqual(clients.map((_, at) => at));
  expect(await sessionsOnServer(servers)).toBeLessThanOrEqual(0.9 * limit);
});

test("a transaction keeps its session, and another client gets another one", async () => {
  const [one, two] = [await pooled(), await pooled()];
  await one.query("create table if not exists kept (at int)");
  await one.query("begin");
  const pid = await pidOf(one);
  await one.query("insert into kept values (1)");
  expect(await valueOf(two, "select count(*)::int from kept")).toBe(0);
  expect(await pidOf(two)).not.toBe(pid);
  expect(await pidOf(one)).toBe(pid);
  await one.query("commit");
  expect(await valueOf(two, "select count(*)::int from kept")).toBe(1);
  await one.query("drop table kept");
});

test("as many transactions as sessions of the pool: the next one waits, and the compute itself still accepts", async () => {
  const emulator = await emulated();
  await change(emulator, { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 });
  const size = Math.floor((maxConnections(0.25) ?? 0) * 0.9);
  const clients = await Promise.all(Array.from({ length: size + 1 }, () => pooled()));
  const last = clients.pop();
  await Promise.all(clients.map((client) => client.query("begin")));
  let hasAnswered = false;
  const answer = last?.query("select 1").then(() => (hasAnswered = true));
  expect(await valueOf(await clientOf(uriOf(emulator)), "select 'direct'")).toBe("direct");
  expect(hasAnswered).toBe(false);
  await clients[0]?.query("rollback");
  await answer;
  expect(hasAnswered).toBe(true);
});

test("sessions that no pooled client has make room for the clients of the compute itself", async () => {
  const emulator = await emulated();
  await change(emulator, { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 });
  const limit = maxConnections(0.25) ?? 0;
  await warm(Math.floor(limit * 0.9));
  const direct = await Promise.all(Array.from({ length: limit }, () => clientOf(uriOf(emulator))));
  expect(await valueOf(direct[0] as Client, "select 1")).toBe(1);
  await expect(clientOf(uriOf(emulator))).rejects.toMatchObject({ code: "53300" });
}, 20_000);

describe("prepared statements", () => {
  test("of pg work on whichever session a transaction runs", async () => {
    await warm(3);
    const [one, two] = [await pooled(), await pooled()];
    const pids = new Set<number>();
    for (let at = 0; at < 12; at += 1) {
      for (const client of [one, two]) {
        const { rows } = await client.query<{ pid: number; at: number }>({
          ...{ name: "numbered", text: "select pg_backend_pid() as pid, $1::int as at", values: [at] },
        });
        expect(rows[0]?.at).toBe(at);
        pids.add(rows[0]?.pid ?? 0);
      }
    }
    expect(pids.size).toBeGreaterThan(1);
  });

  test("of postgres work in parallel, and after a failure", async () => {
    const sql = postgres(pooledUri(await emulated()), { max: 8, onnotice: () => undefined });
    open.push(sql);
    for (let round = 0; round < 3; round += 1) {
      const rows = await Promise.all(
        Array.from({ length: 100 }, (_, at) => sql<{ at: number }[]>`select ${at}::int as at`),
      );
      expect(rows.map(([row]) => row?.at)).toEqual(rows.map((_, at) => at));
      await expect(sql`select ${round}::int / 0 as none`).rejects.toMatchObject({ code: "22012" });
      await expect(sql`select * from nowhere where at = ${round}`).rejects.toMatchObject({ code: "42P01" });
    }
  });
});

test("each client keeps the settings that a server reports, and no others", async () => {
  await warm(2);
  const one = await pooled({ application_name: "one" });
  const two = await clientOf(`${pooledUri(await emulated())}%20-c%20TimeZone%3DAsia/Tokyo`, {
    application_name: "two",
  });
  await one.query("set timezone to 'Europe/Berlin'");
  await one.query("set work_mem to '7MB'");
  const settings = "select concat_ws(' ', current_setting('application_name'), current_setting('timezone'))";
  for (let at = 0; at < 6; at += 1) {
    expect(await valueOf(one, settings)).toBe("one Europe/Berlin");
    expect(await valueOf(two, settings)).toBe("two Asia/Tokyo");
  }
  const seen = new Set<unknown>();
  for (let at = 0; at < 6; at += 1) seen.add(await valueOf(two, "show work_mem"));
  expect(seen).toContain("7MB");
  expect(seen.size).toBeGreaterThan(1);
});

test("a notification is lost: the session that listens belongs to nobody", async () => {
  const [one, two] = [await pooled(), await pooled()];
  const heard: unknown[] = [];
  one.on("notification", ({ payload }) => heard.push(payload));
  await one.query("listen news");
  await two.query("notify news, 'lost'");
  await valueOf(two, "select pg_sleep(0.05)");
  expect(heard).toEqual([]);
});

test.each([
  [{ options: "-c search_path=app" }, "unsupported startup parameter in options: search_path"],
  [{ options: "--statement-timeout=5" }, "unsupported startup parameter in options: statement_timeout"],
  [{ statement_timeout: 5 }, "unsupported startup parameter: statement_timeout"],
  [{ lock_timeout: 5 }, "unsupported startup parameter: lock_timeout"],
] as [ClientConfig, string][])("%j is refused as PgBouncer refuses it", async (config, message) => {
  const uri = new URL(pooledUri(await emulated()));
  if (config.options !== undefined) {
    uri.searchParams.set("options", `${uri.searchParams.get("options") ?? ""} ${config.options}`);
  }
  const { options: _, ...others } = config;
  await expect(clientOf(uri.toString(), others)).rejects.toMatchObject({ code: "08P01", message });
});

test("a role and a database that do not exist are refused in the words of Postgres", async () => {
  const emulator = await emulated();
  const uri = pooledUri(emulator);
  await expect(clientOf(uri.replace("svcdb_owner", "nobody"))).rejects.toMatchObject({ code: "28000" });
  await expect(clientOf(uri.replace("/svcdb?", "/nothing?"))).rejects.toMatchObject({ code: "3D000" });
  await expect(clientOf(uri.replace(emulator.apiKey, "wrong"))).rejects.toMatchObject({ code: "28P01" });
});

test("a query is cancelled, and nobody else's", async () => {
  const sql = postgres(pooledUri(await emulated()), { max: 1 });
  open.push(sql);
  const other = await pooled();
  const sleeping = other.query("select pg_sleep(0.5), 'slept' as slept");
  const cancelled = sql`select pg_sleep(20)`;
  const result = expect(cancelled).rejects.toMatchObject({ code: "57014" });
  setTimeout(() => cancelled.cancel(), 100);
  await result;
  expect((await sleeping).rows[0]).toMatchObject({ slept: "slept" });
});

test("what a client leaves in the middle is undone, and reaches no other client", async () => {
  const one = await pooled();
  await one.query("create table if not exists left_over (at int)");
  await one.query("begin");
  await one.query("insert into left_over values (1)");
  const pid = await pidOf(one);
  streamOf(one).destroy();
  const two = await pooled();
  await until(
    () => valueOf(two, `select count(*)::int from pg_stat_activity where pid = ${pid}`),
    (count) => count === 0,
  );
  expect(await valueOf(two, "select count(*)::int from left_over")).toBe(0);
  await two.query("drop table left_over");
});

test("200 MB reach a slow client, whose server is not read faster", async () => {
  const client = await pooled();
  const stream = streamOf(client);
  const before = process.memoryUsage().rss;
  let length = 0;
  stream.on("data", (chunk: Buffer) => {
    length += chunk.length;
    stream.pause();
    setImmediate(() => stream.resume());
  });
  await client
    .query({ text: "copy (select repeat('x', 100000) from generate_series(1, 2000)) to stdout" })
    .catch(() => undefined);
  await until(
    () => Promise.resolve(length),
    (count) => count > 2e8,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(3e8);
});

test("psql copies in and out", async () => {
  const visit = VISITORS.psql;
  const client = await visit(pooledUri(await emulated()));
  expect(await client.ask("create temp table copied (a int); select 1")).toBe("1");
  await client.close();
}, 20_000);

describe("the compute", () => {
  test("ends its clients when it restarts, idle ones as well, and accepts them again", async () => {
    const emulator = await emulated();
    const ends: Promise<unknown>[] = [];
    for (const isBusy of [true, false]) {
      const client = new Client({ connectionString: pooledUri(emulator) });
      ends.push(new Promise((resolve) => client.on("error", resolve)));
      await client.connect();
      if (isBusy) await client.query("begin");
    }
    await act(emulator, "restart");
    for (const end of ends) expect(await end).toMatchObject({ code: "57P01" });
    await settled(emulator, PRIMARY, "active");
    expect(await valueOf(await pooled(), "select 'again'")).toBe("again");
  });

  test("ends its clients with the same words, whatever their sessions do at the moment", async () => {
    const emulator = await emulated();
    const endOf = async (client: Client): Promise<unknown> => {
      const ended = new Promise((resolve) => client.once("error", resolve));
      for (;;) {
        const error: unknown = await client.query("select 1").catch((reason: unknown) => reason);
        if (error instanceof DatabaseError) return error.code;
        if (error instanceof Error) return Reflect.get(Object(await ended), "code");
      }
    };
    for (let round = 0; round < 4; round += 1) {
      const clients = await Promise.all(Array.from({ length: 25 }, () => pooled()));
      const ends = clients.map(endOf);
      await act(emulator, "restart");
      expect(new Set(await Promise.all(ends))).toEqual(new Set(["57P01"]));
    }
  }, 20_000);

  test("is suspended although clients are connected, and started by the next one", async () => {
    const emulator = await emulated();
    await pooled();
    await suspended(emulator);
    expect(await sessionsOnServer(servers)).toBe(0);
    expect(await valueOf(await pooled(), "select 'started'")).toBe("started");
  });

  test("that is a replica is read-only", async () => {
    const emulator = await emulated();
    const { body } = await api(emulator, "POST", `${DEMO}/endpoints`, {
      endpoint: { branch_id: (await endpoint(emulator, PRIMARY)).branch_id, type: "read_only" },
    });
    const { id } = (body as { endpoint: { id: string } }).endpoint;
    const client = await clientOf(pooledUri(emulator, id));
    expect(await valueOf(client, "select pg_is_in_recovery()")).toBe(true);
    await expect(client.query("create table nothing ()")).rejects.toMatchObject({ code: "25006" });
  });

  test("that changes its size has a pool of the new size", async () => {
    const emulator = await emulated();
    await pooled();
    await change(emulator, { autoscaling_limit_min_cu: 0.5, autoscaling_limit_max_cu: 0.5 });
    const clients = await Promise.all(Array.from({ length: 150 }, () => pooled()));
    await Promise.all(clients.map((client) => client.query("begin")));
    expect(await sessionsOnServer(servers)).toBeGreaterThanOrEqual(150);
  });
});

// ---- The same messages, sent to the compute and to its pooler, get the same answers.

type Message = readonly [type: string, body: Buffer];
const zero = (text: string): Buffer => Buffer.from(`${text}\0`);
const int16 = (...values: number[]): Buffer => Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
const parse = (name: string, sql: string): Message => ["P", Buffer.concat([zero(name), zero(sql), int16(0)])];
const bind = (portal: string, name: string): Message => [
  "B",
  Buffer.concat([zero(portal), zero(name), int16(0, 0, 0)]),
];
const about = (type: string, kind: string, name: string): Message => [type, zero(kind + name)];
const execute = (portal: string): Message => ["E", Buffer.concat([zero(portal), Buffer.alloc(4)])];
const query = (sql: string): Message => ["Q", zero(sql)];
const SYNC: Message = ["S", Buffer.alloc(0)];
const FLUSH: Message = ["H", Buffer.alloc(0)];

function encoded([type, body]: Message): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** What the server answers until it is ready as often as it was asked, or closes. */
function exchange(stream: Socket, messages: readonly Message[], cuts: readonly number[]): Promise<string[]> {
  let expected = messages.filter(([type]) => type === "S" || type === "Q").length;
  const answers: string[] = [];
  let kept = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no end after ${answers.join()}`)), 4_000);
    const read = (chunk: Buffer): void => {
      kept = Buffer.concat([kept, chunk]);
      while (kept.length >= 5 && kept.length > kept.readInt32BE(1)) {
        const type = String.fromCharCode(kept.readUInt8(0));
        const body = kept.subarray(5, 1 + kept.readInt32BE(1));
        kept = kept.subarray(5 + body.length);
        const code = /\0C(\w{5})\0/.exec(body.toString("latin1"))?.[1];
        if (!"SNA".includes(type)) answers.push(type === "E" ? `E ${code}` : `${type} ${body.toString("latin1")}`);
        if (type === "Z") expected -= 1;
      }
      if (expected <= 0) finish();
    };
    const finish = (): void => {
      clearTimeout(timer);
      stream.off("data", read);
      resolve(answers);
    };
    stream.on("data", read).once("close", finish);
    const bytes = Buffer.concat(messages.map(encoded));
    let at = 0;
    for (const cut of cuts) {
      stream.write(bytes.subarray(at, at + cut));
      at += cut;
    }
    stream.write(bytes.subarray(at));
  });
}

const NAMES = ["", "one", "two"];
const name = fc.constantFrom(...NAMES);
const SQL = [
  "select 1",
  "select 'two', 2",
  "values (1), (2)",
  "selec",
  "select 1/0",
  "begin",
  "commit",
  "rollback",
  "",
  "set timezone to 'UTC'",
];
const sql = fc.constantFrom(...SQL);
/** A name is closed before it is prepared again, as every driver does. */
const prepare = fc.tuple(name, sql).map(([as, text]) => [about("C", "S", as), parse(as, text)]);
const step = fc.oneof(
  { weight: 3, arbitrary: prepare },
  { weight: 4, arbitrary: fc.tuple(name, name).map(([portal, as]) => [bind(portal, as), execute(portal)]) },
  name.map((as) => [about("D", "S", as)]),
  name.map((portal) => [about("D", "P", portal)]),
  fc.tuple(fc.constantFrom("S", "P"), name).map(([kind, as]) => [about("C", kind, as)]),
  { weight: 3, arbitrary: fc.constant([SYNC]) },
  fc.constant([FLUSH]),
  fc.constantFrom(...SQL, "discard all", "deallocate all", "select 1; select 2/0").map((text) => [SYNC, query(text)]),
);
const dialogue = fc
  .array(step, { minLength: 1, maxLength: 14 })
  .map((steps) => [...steps.flat(), SYNC, query("rollback")]);

/** The answers of the compute itself, and those of its pooler. */
async function bothAnswers(messages: readonly Message[], cuts: readonly number[] = []): Promise<string[][]> {
  const emulator = await emulated();
  const clients = await Promise.all([clientOf(uriOf(emulator)), clientOf(pooledUri(emulator))]);
  const streams = clients.map((client) => streamOf(client).removeAllListeners("data"));
  const answers = await Promise.all(streams.map((stream) => exchange(stream, messages, cuts)));
  for (const stream of streams) stream.destroy();
  return answers;
}

const row = (text: string): Message => ["d", Buffer.from(text)];
const DONE: Message = ["c", Buffer.alloc(0)];
const run = (sql: string): Message[] => [parse("", sql), bind("", ""), execute("")];
const later = [parse("later", "select 6"), bind("", "later"), execute(""), SYNC];
const COPY = "copy copied from stdin";
const inLatin1 = (code: number): Message[] => [
  ["P", Buffer.concat([Buffer.from([code, 0]), zero(`select ${code}`), int16(0)])],
  ["B", Buffer.concat([Buffer.from([0, code, 0]), int16(0, 0, 0)])],
];

test.each<[string, Message[]]>([
  ["a batch behind a COPY in a batch", [...run(COPY), row("1\n"), DONE, SYNC, ...later]],
  ["a batch behind a COPY in a query", [query(COPY), row("1\n"), DONE, ...later]],
  ["a batch behind a COPY that fails", [...run(COPY), row("one\n"), DONE, SYNC, ...later]],
  ["a query in the data of a COPY", [query(COPY), row("1\n"), query("select 1")]],
  ["what is prepared behind DISCARD ALL", [...run("discard all"), SYNC, ...later, ...later.slice(1)]],
  ["what is prepared behind DEALLOCATE ALL", [...run("deallocate all"), ...later, ...later.slice(1)]],
  ["the last query of a client", [query("begin"), query("select 1"), ["X", Buffer.alloc(0)], query("select 2")]],
  ["a message of an unknown type", [["z", Buffer.alloc(0)], SYNC]],
  ["names that are no UTF-8", [query("set client_encoding to 'LATIN1'"), ...[0xe8, 0xe9].flatMap(inLatin1), SYNC]],
])("%s gets the answers of the compute itself", async (_, messages) => {
  await (await clientOf(uriOf(await emulated()))).query("create table if not exists copied (at int)");
  const [direct, through] = await bothAnswers(messages);
  expect(direct?.length).toBeGreaterThan(0);
  expect(through).toEqual(direct);
});

test("a message of which half was sent when its COPY failed keeps its session from others", async () => {
  await warm(2);
  const one = await pooled();
  await one.query("create table if not exists copied (at int)");
  const stream = streamOf(one).removeAllListeners("data");
  const long = encoded(row("1\n".repeat(1000)));
  expect(await exchange(stream, [query(COPY), row("one\n")], [])).toContain("E 22P02");
  stream.write(long.subarray(0, 100));
  for (let at = 0; at < 4; at += 1) expect(await valueOf(await pooled(), "select 'whole'")).toBe("whole");
  stream.write(long.subarray(100));
  expect(await exchange(stream, [query("select 8")], [])).toContain("C SELECT 1\0");
});

test("any messages get the answers of the compute itself", async () => {
  await warm(3);
  await fc.assert(
    fc.asyncProperty(dialogue, fc.array(fc.nat(30), { maxLength: 6 }), async (messages, cuts) => {
      const [direct, through] = await bothAnswers(messages, cuts);
      expect(through).toEqual(direct);
    }),
    { numRuns: Number(process.env["PULUMI_SVC_POOLED_RUNS"] ?? 150) },
  );
}, 60_000);
