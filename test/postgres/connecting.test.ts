import { once } from "node:events";
import { createConnection, type NetConnectOpts } from "node:net";
import { startGate, uriOf, useServers } from "../support/gate";
import { integrate, PRIMARY } from "../support/emulator";
import { expectRefused, testOf, VISITORS, type VisitorName } from "../support/visitors";

const servers = useServers();

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

  run(
    "refused as a role that does not exist, or is the emulator's, and taken as one that SQL or an integration made",
    async () => {
      const emulator = await startGate();
      for (const role of ["web", "svc_admin", "svc_auth"])
        await refused(uriOf(emulator, PRIMARY, { role }), "28000", `role "${role}" does not exist`);
      await (await visit(uriOf(emulator))).ask("create role authenticated login");
      await integrate(emulator, { database_name: "svcdb", role_name: "web" });
      for (const role of ["authenticated", "web"])
        expect(await (await visit(uriOf(emulator, PRIMARY, { role }))).ask("select current_user")).toBe(role);
    },
  );

  run("refused without a compute, and for replication", async () => {
    const emulator = await startGate();
    const uri = uriOf(emulator);
    const [bare] = uri.split("&options=");
    await refused(bare ?? "", "08004", "the connection does not say which compute it is for");
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
    const running = await servers.query("select 1 from pg_stat_activity where application_name = 'shop'");
    expect(running).toHaveLength(1);
  });

  run("served the databases that clients have made, and refused the others", async () => {
    const emulator = await startGate();
    const other = uriOf(emulator, PRIMARY, { database: "shadow" });
    await refused(other, "3D000", 'database "shadow" does not exist');
    await (await visit(uriOf(emulator))).ask("create database shadow");
    expect(await (await visit(other)).ask("select current_database()")).toBe("shadow");
  });
});

test("a newer client is offered the version that a server offers it", async () => {
  const emulator = await startGate();
  const parameters = `user\0postgres\0options\0endpoint=${PRIMARY}\0_pq_.future\0on\0\0`;
  const startup = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 3, 0, 2]), Buffer.from(parameters)]);
  startup.writeInt32BE(startup.length);
  const first = async (address: NetConnectOpts): Promise<Buffer> => {
    const socket = createConnection(address);
    socket.write(startup);
    const [chunk] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return chunk.subarray(0, 1 + chunk.readInt32BE(1));
  };
  const ofGate = await first({ host: "127.0.0.1", port: Number(emulator.gate?.split(":")[1]) });
  await VISITORS.pg(uriOf(emulator));
  const [folder] = await servers.query<{ path: string }>("select current_setting('unix_socket_directories') as path");
  expect(ofGate.toString()).toBe((await first({ path: `${folder?.path}/.s.PGSQL.5432` })).toString());
  expect(ofGate.toString()).toContain("_pq_.future");
});
