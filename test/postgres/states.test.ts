import { api, control, createCompute, DEMO, PRIMARY, settled, until } from "../support/emulator";
import {
  act,
  actionsOf,
  change,
  sessionsOnServer,
  startGate,
  stateOf,
  suspended,
  uriOf,
  useServers,
} from "../support/gate";
import { psqlProgram } from "../support/postgres";
import { expectRefused, testOf, VISITORS, type VisitorName } from "../support/visitors";

const servers = useServers();

const SLOW = "select pg_sleep(60)";
/** The sessions of the compute end: the client is notified, and they are ended on the server. */
const ENDED = /57P01: terminating connection due to administrator command/;
const nobodyLeft = (): Promise<number> =>
  until(
    () => sessionsOnServer(servers),
    (count) => count === 0,
  );

/** Waits until the server runs it: a query that was only sent does not count. */
async function running(query: Promise<string>): Promise<{ query: Promise<string> }> {
  query.catch(() => undefined); // the caller uses it later
  const sql = "select 1 from pg_stat_activity where query like $1 and state = 'active'";
  await until(
    () => servers.query(sql, [`${SLOW}%`]),
    (rows) => rows.length > 0,
  );
  return { query };
}

// The rows of the table "What a client sees" of docs/emulator.md, in its order.
describe.each(Object.keys(VISITORS) as VisitorName[])("what %s feels of a compute", (name) => {
  const visit = VISITORS[name];
  const run = testOf(name);

  const refused = (uri: string, code: string, words: string | RegExp): Promise<void> =>
    expectRefused(name, uri, code, words);

  /** An idle connection and one with a query feel the same change, and nothing of both is left on the server. */
  async function bothEnd(uri: string, happens: () => Promise<unknown>): Promise<void> {
    const [idle, busy] = [await visit(uri), await visit(uri)];
    const { query } = await running(busy.ask(SLOW));
    await happens();
    expect(await idle.end()).toMatch(ENDED);
    await expect(query).rejects.toThrow(ENDED);
    await nobodyLeft();
  }

  run("that is idle: a connection starts it and waits", async () => {
    const emulator = await startGate();
    await suspended(emulator);
    const client = await visit(uriOf(emulator));
    expect(await client.ask("select 40 + 2")).toBe("42");
    expect(await stateOf(emulator)).toBe("active");
    expect(await actionsOf(emulator)).toEqual(["suspend_compute", "start_compute"]);
  });

  run("that is starting: connections wait, and start it no second time", async () => {
    const emulator = await startGate({ activationMs: 300 });
    const { id } = await createCompute(emulator, { branch_id: "br-dev", type: "read_write" });
    expect(await stateOf(emulator, String(id))).toBe("init");
    const clients = await Promise.all([1, 2, 3].map(() => visit(uriOf(emulator, String(id)))));
    expect(await Promise.all(clients.map((client) => client.ask("select 1")))).toEqual(["1", "1", "1"]);
    expect(await actionsOf(emulator, String(id))).toEqual(["start_compute"]);
  });

  run("that fails to start: the words of the operation, and the next connection tries again", async () => {
    const emulator = await startGate();
    await suspended(emulator);
    await control(emulator.url, "POST", "/faults", {
      operation: { action: "start_compute", status: "failed", error: "no capacity in this region" },
    });
    await refused(
      uriOf(emulator),
      "57P03",
      `${PRIMARY} did not start: start_compute ended as failed: no capacity in this`,
    );
    expect(await (await visit(uriOf(emulator))).ask("select 1")).toBe("1");
  });

  run("that is suspended while it is asked: open ones work until the end, a new one waits and starts it", async () => {
    const emulator = await startGate({ activationMs: 900 });
    const open = await visit(uriOf(emulator));
    await act(emulator, "suspend");
    expect(await open.ask("select 1")).toBe("1");
    const late = await visit(uriOf(emulator));
    expect(await late.ask("select 1")).toBe("1");
    expect(await open.end()).toMatch(ENDED);
    expect(await actionsOf(emulator)).toEqual(["suspend_compute", "start_compute"]);
  });

  run("that is suspended: all connections end, and its transactions are rolled back", async () => {
    const emulator = await startGate();
    const writer = await visit(uriOf(emulator));
    await writer.ask("create table kept (id int)");
    await writer.ask("begin; insert into kept values (1)");
    await bothEnd(uriOf(emulator), () => suspended(emulator));
    expect(await writer.end()).toMatch(ENDED);
    expect(await (await visit(uriOf(emulator))).ask("select count(*) from kept")).toBe("0");
  });

  run("that is restarted: all connections end, and new ones are served", async () => {
    const emulator = await startGate();
    await bothEnd(uriOf(emulator), () => act(emulator, "restart"));
    expect(await (await visit(uriOf(emulator))).ask("select 1")).toBe("1");
    expect(await actionsOf(emulator)).toEqual(["suspend_compute", "start_compute"]);
  });

  run("that is resized: all connections end, and new ones are served", async () => {
    const emulator = await startGate();
    await bothEnd(uriOf(emulator), () => change(emulator, { autoscaling_limit_max_cu: 4 }));
    expect(await (await visit(uriOf(emulator))).ask("select 1")).toBe("1");
  });

  run("that gets another name, pooler or suspend timeout: nothing", async () => {
    const emulator = await startGate();
    const client = await visit(uriOf(emulator));
    const session = await client.ask("select pg_backend_pid()");
    await change(emulator, { name: "other", pooler_enabled: true, suspend_timeout_seconds: 600 });
    expect(await client.ask("select pg_backend_pid()")).toBe(session);
  });

  run("that moves to another branch: the other branch's data", async () => {
    const emulator = await startGate();
    const client = await visit(uriOf(emulator));
    await client.ask("create table of_main (id int)");
    await client.close();
    await bothEnd(uriOf(emulator), () => change(emulator, { branch_id: "br-dev" }));
    expect(await (await visit(uriOf(emulator))).ask("select to_regclass('of_main') is null")).toMatch(/^t/);
    await change(emulator, { branch_id: "br-main" });
    expect(await (await visit(uriOf(emulator))).ask("select to_regclass('of_main') is null")).toMatch(/^f/);
  });

  run("that is disabled: all connections end, and new ones are refused until it is enabled", async () => {
    const emulator = await startGate();
    await bothEnd(uriOf(emulator), () => change(emulator, { disabled: true }, "idle"));
    await refused(uriOf(emulator), "08004", `the compute ${PRIMARY} is disabled`);
    await change(emulator, { disabled: false }, "idle");
    expect(await (await visit(uriOf(emulator))).ask("select 1")).toBe("1");
  });

  run("that is deleted: all connections end, and new ones are refused, as those to one that never was", async () => {
    const emulator = await startGate();
    await bothEnd(uriOf(emulator), () => api(emulator, "DELETE", `${DEMO}/endpoints/${PRIMARY}`));
    await refused(uriOf(emulator), "08004", `the compute "${PRIMARY}" was deleted`);
    await refused(uriOf(emulator, "ep-never-was-1"), "08004", 'the compute "ep-never-was-1" does not exist');
  });

  run("that is a read replica: the data of its branch, which it cannot change", async () => {
    const emulator = await startGate();
    const primary = await visit(uriOf(emulator));
    await primary.ask("create table shared (id int); insert into shared values (7)");
    await primary.ask("alter table shared enable row level security");
    const { id } = await createCompute(emulator, { branch_id: "br-main", type: "read_only" });
    const reader = await visit(uriOf(emulator, String(id)));
    expect(await reader.ask("select id from shared where pg_is_in_recovery()")).toBe("7");
    const replica = await visit(uriOf(emulator, String(id)));
    await expect(replica.ask("insert into shared values (8)")).rejects.toThrow(/25006: /);
    const unset = await visit(uriOf(emulator, String(id)));
    await unset.ask("set default_transaction_read_only = off");
    await expect(unset.ask("insert into shared values (8)")).rejects.toThrow(/25006: /);
    expect(await primary.ask("select count(*) from shared")).toBe("1");
  });

  run("without a query: it goes idle by a suspend as any other, and the next connection wakes it", async () => {
    const emulator = await startGate({ timeScale: 200 });
    const client = await visit(uriOf(emulator));
    await change(emulator, { suspend_timeout_seconds: 60 });
    // Not asked before, since psql would be asked by a query.
    await nobodyLeft();
    expect(await client.end()).toMatch(ENDED);
    expect(await actionsOf(emulator)).toEqual(["apply_config", "suspend_compute"]);
    expect(await (await visit(uriOf(emulator))).ask("select 1")).toBe("1");
  });

  run("with a query or an open transaction: it stays active until they end", async () => {
    const emulator = await startGate({ timeScale: 200 });
    const [client, inTransaction] = [await visit(uriOf(emulator)), await visit(uriOf(emulator))];
    await inTransaction.ask("begin");
    await change(emulator, { suspend_timeout_seconds: 60 });
    await client.ask("select pg_sleep(1)");
    await client.close();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await stateOf(emulator)).toBe("active");
    expect(await inTransaction.ask("select 1")).toBe("1");
    await inTransaction.ask("commit");
    await settled(emulator, PRIMARY, "idle");
  });

  run("with as many connections as its size takes: one more is refused, the others stay", async () => {
    const emulator = await startGate();
    await change(emulator, { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 });
    const first = await VISITORS.pg(uriOf(emulator));
    await Promise.all(Array.from({ length: 110 }, () => VISITORS.pg(uriOf(emulator))));
    const last = await visit(uriOf(emulator));
    await refused(uriOf(emulator), "53300", `${PRIMARY} of 0.25 CU accepts 112 connections`);
    expect([await first.ask("select 1"), await last.ask("select 1")]).toEqual(["1", "1"]);
    await first.close();
    await until(
      () => sessionsOnServer(servers),
      (count) => count === 111,
    );
    // The process of the session may not have ended yet.
    const served = async (): Promise<string> => (await visit(uriOf(emulator))).ask("select 1");
    await until(
      () => served().catch(String),
      (answer) => answer === "1",
    );
  });

  run("of an emulator that is reset, or ends: all connections end", async () => {
    const emulator = await startGate();
    await bothEnd(uriOf(emulator), () => control(emulator.url, "POST", "/reset"));
    await bothEnd(uriOf(emulator), () => emulator.close());
    await expect(visit(uriOf(emulator))).rejects.toThrow(/refused/i);
  });

  run("of an emulator whose key is rotated: open connections stay, a new one needs the new key", async () => {
    const emulator = await startGate();
    const client = await visit(uriOf(emulator));
    await control(emulator.url, "POST", "/key", { api_key: "second-key" });
    expect(await client.ask("select 1")).toBe("1");
    await refused(
      uriOf(emulator, PRIMARY, { key: "test-key" }),
      "28P01",
      'password authentication failed for user "svcdb_owner"',
    );
    expect(await (await visit(uriOf(emulator, PRIMARY, { key: "second-key" }))).ask("select 1")).toBe("1");
  });
});

test("a compute that does not get ready: words after a while", async () => {
  const emulator = await startGate({ activationMs: 1 });
  await suspended(emulator);
  await control(emulator.url, "POST", "/faults", { stuck: true });
  const names = (Object.keys(VISITORS) as VisitorName[]).filter((name) => name === "pg" || psqlProgram() !== undefined);
  await Promise.all(
    names.map((name) => expectRefused(name, uriOf(emulator), "57P03", /is still "idle" after 10\.\d+ s/)),
  );
});
