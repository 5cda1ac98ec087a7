import { execFile, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname, join, resolve } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { Client, type ClientConfig } from "pg";
import type { Emulator } from "../../src/emulator";
import { control, PRIMARY, until } from "../support/emulator";
import { startGate, uriOf, useServers } from "../support/gate";
import { psqlProgram } from "../support/postgres";
import { testOf } from "../support/visitors";

const servers = useServers();
const MAIN = resolve(__dirname, "../../dist/cli/main.js");
const HOST = `${PRIMARY}.aws-us-east-1.svc.localhost`;
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

const portOf = ({ gate }: Emulator): number => Number(gate?.split(":").at(-1));

const startupOf = (parameters: Record<string, string>): Buffer => {
  const words = Object.entries(parameters).flat().join("\0");
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 3, 0, 0]), Buffer.from(`${words}\0\0`)]);
  message.writeInt32BE(message.length);
  return message;
};

/** What psql prints for a statement or command, or how it failed. */
const psql = (emulator: Emulator, settings: Record<string, string>, command = "\\conninfo"): Promise<string> => {
  const all = { hostaddr: "127.0.0.1", port: String(portOf(emulator)), user: "svcdb_owner", dbname: "svcdb" };
  const words = Object.entries({ ...all, password: emulator.apiKey, ...settings }).map(
    ([name, value]) => `${name}='${value}'`,
  );
  return new Promise((done) =>
    execFile(psqlProgram() ?? "psql", [words.join(" "), "-X", "-A", "-t", "-w", "-c", command], (error, out, said) =>
      done(error === null ? out : said),
    ),
  );
};

const clients: Client[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(clients.splice(0).map((client) => client.end()));
});

/** A connected client of node-postgres. Its errors begin with the SQLSTATE. */
async function visit(emulator: Emulator, config: ClientConfig): Promise<Client> {
  const login = { user: "svcdb_owner", database: "svcdb", password: emulator.apiKey };
  const client = new Client({ host: "127.0.0.1", port: portOf(emulator), ...login, ...config });
  client.on("error", () => undefined);
  await client.connect().catch((error: Error) => {
    throw new Error(`${String(Reflect.get(error, "code"))}: ${error.message}`);
  });
  clients.push(client);
  return client;
}

const caOf = ({ gateCa }: Emulator): string => readFileSync(gateCa ?? "", "utf8");
const sslOf = (emulator: Emulator, servername: string): ClientConfig => ({
  ssl: { ca: caOf(emulator), servername },
});

async function plain(emulator: Emulator, sent: Buffer): Promise<Socket> {
  const socket = createConnection(portOf(emulator), "127.0.0.1").on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(sent);
  return socket;
}

/** TLS after a request for it, as every client does. */
async function encrypted(emulator: Emulator): Promise<TLSSocket> {
  const socket = await plain(emulator, SSL_REQUEST);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(String(answer)).toBe("S");
  return handshake({ socket, ca: caOf(emulator), servername: HOST });
}

async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
  const secure = connect(options);
  sockets.push(secure);
  await once(secure, "secureConnect");
  return secure;
}

/** All that a connection gives until it ends. */
async function rest(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += String(chunk)));
  if (!socket.closed) await once(socket, "close");
  return text;
}

const rotate = async (emulator: Emulator, key: string): Promise<void> => {
  expect((await control(emulator.url, "POST", "/key", { api_key: key })).status).toBe(204);
};

describe("psql", () => {
  const run = testOf("psql");

  run("encrypts, with the compute in its options, and proves that nobody is between", async () => {
    const emulator = await startGate();
    const options = `endpoint=${PRIMARY}`;
    expect(await psql(emulator, { sslmode: "require", options })).toContain("SSL connection (protocol: TLSv1.3");
    expect(await psql(emulator, { sslmode: "prefer", options })).toContain("SSL connection");
    expect(await psql(emulator, { sslmode: "disable", options })).not.toContain("SSL connection");
    const bound = { sslmode: "require", channel_binding: "require", options };
    expect(await psql(emulator, bound, "select 'bound'")).toBe("bound\n");
    expect(await psql(emulator, { ...bound, channel_binding: "disable" }, "select 'free'")).toBe("free\n");
    const wrong = { ...bound, password: "wrong" };
    expect(await psql(emulator, wrong)).toContain("password authentication failed");
  });

  run("verifies the gate under each of its names, by which it also names the compute", async () => {
    const emulator = await startGate();
    const verified = { sslmode: "verify-full", sslrootcert: emulator.gateCa ?? "" };
    for (const host of [HOST, `${PRIMARY}.svc.localhost`, HOST.toUpperCase().replace("EP-", "ep-")])
      expect(await psql(emulator, { ...verified, host }, "select 'served'")).toBe("served\n");
    const options = `endpoint=${PRIMARY}`;
    for (const host of ["localhost", "127.0.0.1"])
      expect(await psql(emulator, { ...verified, host, options }, "select 'served'")).toBe("served\n");
    expect(await psql(emulator, { ...verified, host: "db.example.com", options })).toContain(
      "does not match host name",
    );
  });

  run("refuses the certificate of another authority, also of another emulator", async () => {
    const [emulator, other] = [await startGate(), await startGate()];
    const sslrootcert = other.gateCa ?? "";
    expect(await psql(emulator, { sslmode: "verify-full", host: HOST, sslrootcert })).toContain(
      "certificate verify failed",
    );
  });

  run("names the compute before the password where it has no other way", async () => {
    const emulator = await startGate();
    const password = `endpoint=${PRIMARY};${emulator.apiKey}`;
    for (const sslmode of ["disable", "require"])
      expect(await psql(emulator, { sslmode, sslsni: "0", password }, "select 'served'")).toBe("served\n");
    expect(await psql(emulator, { sslmode: "require", host: "localhost" })).toMatch(
      /does not say which compute it is for[\s\S]*options=endpoint%3Dep-/,
    );
  });
});

describe("node-postgres", () => {
  test("verifies the gate and names the compute by the name of the server", async () => {
    const emulator = await startGate();
    const client = await visit(emulator, { ...sslOf(emulator, HOST), enableChannelBinding: true });
    expect((await client.query("select current_database() as name")).rows).toEqual([{ name: "svcdb" }]);
    await expect(visit(emulator, { ssl: { servername: HOST } })).rejects.toThrow("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  });

  test("finds a compute by the host of its record, also after an edit", async () => {
    const emulator = await startGate();
    emulator.edit({ kind: "endpoint", project_id: "prj-demo", id: PRIMARY, set: { host: "db.example.com" } });
    await visit(emulator, sslOf(emulator, "db.example.com"));
  });

  test("finds the pooler of a compute, which refuses what a session would keep", async () => {
    const emulator = await startGate();
    const ssl = sslOf(emulator, HOST.replace(".", "-pooler."));
    await visit(emulator, ssl);
    const kept = visit(emulator, { ...ssl, options: "-c search_path=app" });
    await expect(kept).rejects.toThrow("08P01: unsupported startup parameter in options: search_path");
  });

  test("is refused for a compute that does not exist, and for two at once", async () => {
    const emulator = await startGate();
    const unknown = sslOf(emulator, "ep-nobody-1.svc.localhost");
    await expect(visit(emulator, unknown)).rejects.toThrow(
      '08004: svc emulator: the compute "ep-nobody-1" does not exist',
    );
    await expect(visit(emulator, { ...unknown, password: "wrong" })).rejects.toThrow("28P01: ");
    const two = visit(emulator, { ...sslOf(emulator, HOST), options: "endpoint=ep-other-1" });
    await expect(two).rejects.toThrow(
      `08004: svc emulator: the connection names several computes: ${PRIMARY}, ep-other-1`,
    );
  });

  test("needs the key of the moment, however the compute is named", async () => {
    const emulator = await startGate();
    const before = emulator.apiKey;
    const ways = (key: string): ClientConfig[] => [
      { password: key, ...sslOf(emulator, HOST) },
      { password: `endpoint=${PRIMARY};${key}` },
      { password: `endpoint=${PRIMARY};${key}`, ...sslOf(emulator, "localhost") },
    ];
    for (const way of ways(before)) await visit(emulator, way);
    await rotate(emulator, "second;key");
    for (const way of ways(before)) await expect(visit(emulator, way)).rejects.toThrow("28P01: ");
    for (const way of ways("second;key")) await visit(emulator, way);
    await expect(visit(emulator, {})).rejects.toThrow(
      "08004: svc emulator: the connection does not say which compute it is for",
    );
  });

  test("reads a connection string with sslmode=verify-full", async () => {
    const emulator = await startGate();
    const root = `&sslrootcert=${encodeURIComponent(emulator.gateCa ?? "")}`;
    const connectionString = uriOf(emulator).replace("sslmode=disable", "sslmode=verify-full") + root;
    const client = await visit(emulator, { connectionString });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("gets a large result, and its end when the emulator ends", async () => {
    const emulator = await startGate();
    const client = await visit(emulator, sslOf(emulator, HOST));
    const { rows } = await client.query<{ text: string }>("select repeat('x', 30000000) as text");
    expect(rows[0]?.text).toHaveLength(30_000_000);
    const end = once(client, "error");
    await emulator.close();
    expect(await end).toMatchObject([{ code: "57P01" }]);
  });
});

test("a query is cancelled over TLS", async () => {
  const emulator = await startGate();
  const client = await visit(emulator, sslOf(emulator, HOST));
  const running = client.query("select pg_sleep(60)").catch((error: unknown) => Reflect.get(Object(error), "code"));
  await until(
    () => servers.query("select 1 from pg_stat_activity where query like '%pg_sleep(60)' and state = 'active'"),
    ({ length }) => length > 0,
  );
  const { processID, secretKey } = client as unknown as Record<string, number>; // Not in its types.
  const cancel = Buffer.concat([Buffer.from([0, 0, 0, 16, 4, 210, 22, 46]), Buffer.alloc(8)]);
  cancel.writeInt32BE(processID ?? 0, 8);
  cancel.writeInt32BE(secretKey ?? 0, 12);
  (await encrypted(emulator)).write(cancel);
  expect(await running).toBe("57014");
});

test("what is sent in clear is never taken for what comes through TLS", async () => {
  const emulator = await startGate();
  const startup = startupOf({ user: "svcdb_owner", options: `endpoint=${PRIMARY}` });
  expect(await rest(await plain(emulator, Buffer.concat([SSL_REQUEST, startup])))).toMatch(
    /^E.*08P01.*received data before the TLS handshake/s,
  );
  const late = await plain(emulator, SSL_REQUEST);
  await once(late, "data");
  late.write(startup);
  expect(await rest(late)).not.toContain("SCRAM");
  const twice = await encrypted(emulator);
  twice.write(SSL_REQUEST);
  expect(await rest(twice)).toContain("unsupported frontend protocol 1234.5679");
});

test("TLS may begin at once, for the protocol of Postgres alone", async () => {
  const emulator = await startGate();
  const tls = { host: "127.0.0.1", port: portOf(emulator), ca: caOf(emulator), servername: HOST };
  const startup = startupOf({ user: "svcdb_owner", database: "svcdb" });
  const direct = await handshake({ ...tls, ALPNProtocols: ["postgresql"] });
  direct.write(startup);
  const [first] = (await once(direct, "data")) as [Buffer];
  expect(String(first)).toMatch(/^R.*SCRAM-SHA-256-PLUS/s);
  const other = await handshake(tls);
  other.write(startup);
  expect(await rest(other)).toMatch(/^E.*08P01/s);
  await expect(handshake({ ...tls, ALPNProtocols: ["http/1.1"] })).rejects.toThrow(/alert/);
});

test("the authority is at a route, kept beside the data, and its key is shown nowhere", async () => {
  const data = join(servers.folder, "state.json");
  const apiKey = "canary-Zq8-key";
  const emulator = await startGate({ data, apiKey });
  const key = readFileSync(join(dirname(emulator.gateCa ?? ""), "ca.key"), "utf8");
  expect(statSync(join(dirname(emulator.gateCa ?? ""), "ca.key")).mode & 0o777).toBe(0o600);
  await visit(emulator, { ...sslOf(emulator, HOST) });
  await visit(emulator, { password: `endpoint=${PRIMARY};${apiKey}` });
  await expect(visit(emulator, { password: `endpoint=ep-nobody-1;${apiKey}` })).rejects.toThrow("08004");
  const paths = ["/_emulator/postgres/ca", "/_emulator/state", "/_emulator/requests", "/"];
  const answers = await Promise.all(paths.map(async (path) => (await fetch(emulator.url + path)).text()));
  expect(answers[0]).toBe(caOf(emulator));
  const secrets = [apiKey, "PRIVATE KEY", ...key.split("\n").slice(1, 2)];
  for (const secret of secrets) expect(answers.join()).not.toContain(secret);
  await emulator.close();
  const again = await startGate({ data, apiKey });
  expect(caOf(again)).toBe(answers[0]);
  expect(new X509Certificate(caOf(again)).ca).toBe(true);
  await again.close();
  writeFileSync(join(dirname(again.gateCa ?? ""), "ca.key"), "damaged");
  expect(caOf(await startGate({ data, apiKey }))).not.toBe(answers[0]);
});

test("the command says where the authority is, to whoever reads and to the command beside it", async () => {
  const output = async (...parameters: string[]): Promise<string> => {
    const child = spawn(process.execPath, [MAIN, "emulator", "--postgres", "--port", "0", ...parameters]);
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        text += String(chunk);
        if (text.includes("look at it in a browser")) child.kill("SIGTERM");
      });
    await once(child, "close");
    return text;
  };
  expect(await output()).toMatch(/^authority of its TLS: \/.*\/ca\.pem$/m);
  const print = "process.stdout.write(require('fs').readFileSync(process.env.SVC_POSTGRES_CA, 'utf8'))";
  expect(await output("--exec", `"${process.execPath}" -e "${print}"`)).toMatch(/^-----BEGIN CERTIFICATE-----/);
});
