import { once } from "node:events";
import { createConnection } from "node:net";
import { startGate, stateOf, suspended, uriOf, useCluster } from "../support/gate";
import { integrate, PRIMARY } from "../support/emulator";
import { expectRefused, testOf, VISITORS, type VisitorName } from "../support/visitors";

const postgres = useCluster({ auth: "trust" });

describe.each(Object.keys(VISITORS) as VisitorName[])("%s is", (name) => {
  const visit = VISITORS[name];
  const run = testOf(name);

  const refused = (uri: string, code: string, words: string | RegExp): Promise<void> =>
    expectRefused(name, uri, code, words);

  run("refused with a wrong password, also if the server trusts everybody, and told nothing else", async () => {
    const emulator = await startGate();
    const wrong = { key: "wrong-password" };
    await refused(uriOf(emulator, PRIMARY, wrong), "28P01", 'password authentication failed for user "svcdb_owner"');
    await refused(uriOf(emulator, "ep-never-was-1", wrong), "28P01", "password authentication failed");
    await refused(uriOf(emulator, PRIMARY, { ...wrong, role: "nobody" }), "28P01", "password authentication failed");
  });

  run("refused as another role, which starts no compute, and taken as that of the integration", async () => {
    const emulator = await startGate();
    await suspended(emulator);
    await refused(
      uriOf(emulator, PRIMARY, { role: "web" }),
      "28000",
      'role "web" does not exist on the branch br-main',
    );
    expect(await stateOf(emulator)).toBe("idle");
    await integrate(emulator, { database_name: "svcdb", role_name: "web" });
    expect(await (await visit(uriOf(emulator, PRIMARY, { role: "web" }))).ask("select 1")).toBe("1");
  });

  run("refused without a compute, with a pooled one, with TLS and for replication", async () => {
    const emulator = await startGate();
    const uri = uriOf(emulator);
    const [bare] = uri.split("&options=");
    await refused(bare ?? "", "08004", "the connection does not say which compute it is for");
    await refused(`${uri}-pooler`, "08004", `the emulator has no pooler: "${PRIMARY}-pooler" cannot be connected to`);
    await expect(visit(uri.replace("sslmode=disable", "sslmode=require"))).rejects.toThrow(
      /server does not support SSL/,
    );
    if (name === "psql")
      await refused(`${uri}&replication=database`, "0A000", "does not serve replication connections");
  });

  run("served with what else it has asked for", async () => {
    const emulator = await startGate();
    const client = await visit(
      `${uriOf(emulator)}%20-c%20search_path%3Dapp%20-c%20work_mem%3D7MB&application_name=shop`,
    );
    const settings = "concat_ws(' ', current_setting('search_path'), current_setting('work_mem'))";
    expect(await client.ask(`select ${settings}`)).toBe("app 7MB");
    expect(await client.ask("set search_path to other; reset search_path; show search_path")).toMatch(/app$/);
    const running = await postgres().query("select 1 from pg_stat_activity where application_name = 'shop'");
    expect(running).toHaveLength(1);
  });

  run("served another database of the branch by its name", async () => {
    const emulator = await startGate();
    const [one, two] = [uriOf(emulator, PRIMARY, { database: "one" }), uriOf(emulator, PRIMARY, { database: "two" })];
    await (await visit(one)).ask("create table of_one (id int)");
    expect(await (await visit(two)).ask("select to_regclass('of_one') is null")).toMatch(/^t/);
    expect(await (await visit(one)).ask("select to_regclass('of_one') is null")).toMatch(/^f/);
  });
});

test("a newer client is offered the version that a server offers it", async () => {
  const emulator = await startGate();
  const parameters = `user\0postgres\0options\0endpoint=${PRIMARY}\0_pq_.future\0on\0\0`;
  const startup = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 3, 0, 2]), Buffer.from(parameters)]);
  startup.writeInt32BE(startup.length);
  const first = async (port: number): Promise<Buffer> => {
    const socket = createConnection(port, "127.0.0.1");
    socket.write(startup);
    const [chunk] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return chunk.subarray(0, 1 + chunk.readInt32BE(1));
  };
  const ofGate = await first(Number(emulator.gate?.split(":")[1]));
  expect(ofGate.toString()).toBe((await first(postgres().port)).toString());
  expect(ofGate.toString()).toContain("_pq_.future");
});
