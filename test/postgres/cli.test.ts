import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { useCluster } from "../support/gate";
import { VISITORS } from "../support/visitors";

const postgres = useCluster();
const MAIN = resolve(__dirname, "../../dist/cli/main.js");
const { SVC_EMULATOR_API_KEY: _key, SVC_EMULATOR_POSTGRES: _url, ...ENVIRONMENT } = process.env;

const children: ChildProcess[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "emulator-postgres-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  /** Both of the following, as they came. */
  output: () => string;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<number | null>;
}

function run(parameters: readonly string[], environment: NodeJS.ProcessEnv = {}): Run {
  const env = { ...ENVIRONMENT, SVC_EMULATOR_POSTGRES: postgres().url, ...environment };
  const child = spawn(process.execPath, [MAIN, "emulator", ...parameters], { env });
  children.push(child);
  let [text, stdout, stderr] = ["", "", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    text += String(chunk);
    stdout += String(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    text += String(chunk);
    stderr += String(chunk);
  });
  return {
    child,
    output: () => text,
    stdout: () => stdout,
    stderr: () => stderr,
    ended: once(child, "close").then(([code]) => code as number | null),
  };
}

/** The connection string of the line to paste, once it is printed. */
async function pasted({ child, output }: Run): Promise<string> {
  for (;;) {
    const [, uri] = /^ *psql "(\S+)"$/m.exec(output()) ?? [];
    if (uri !== undefined) return uri;
    if (child.exitCode !== null) throw new Error(output());
    await new Promise((done) => setTimeout(done, 20));
  }
}

const databases = (): Promise<Record<string, unknown>[]> =>
  postgres().query("select datname from pg_database where datname like 'svc\\_%'");

test("the line that is printed works as it is pasted, and shows no key but the one that everybody knows", async () => {
  const open = run(["--port", "0"]);
  const client = await VISITORS.pg(await pasted(open));
  expect(await client.ask("select 'pasted'")).toBe("pasted");
  expect(open.output()).not.toContain(postgres().password);
  const own = run(["--port", "0"], { SVC_EMULATOR_API_KEY: "own-secret-key" });
  const uri = await pasted(own);
  expect(own.output()).not.toContain("own-secret-key");
  expect(await (await VISITORS.pg(uri.replace("svcdb_owner", "svcdb_owner:own-secret-key"))).ask("select 1")).toBe("1");
  open.child.kill("SIGTERM");
  expect(await open.ended).toBe(0);
});

test("a command that runs beside it is told the gate, and a whole connection string", async () => {
  const print = "console.log(process.env.SVC_POSTGRES_GATE, process.env.SVC_POSTGRES_URL)";
  const { ended, stdout } = run(["--exec", `"${process.execPath}" -e "${print}"`]);
  expect(await ended).toBe(0);
  const [gate, uri] = stdout().trim().split(" ");
  expect(gate).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(uri).toBe(
    `postgresql://svcdb_owner:test-key@${gate}/svcdb?sslmode=disable&options=endpoint%3Dep-demo-main-10000001`,
  );
});

test("what there is to know of the Postgres stands on stderr beside a command, too", async () => {
  const { ended, stdout, stderr } = run(["--exec", "echo its output"]);
  expect(await ended).toBe(0);
  expect(stdout()).toBe("its output\n");
  expect(stderr()).toMatch(
    /^pulumi-svc: the Postgres accepts \d+ connections, fewer than the 901 .*max_connections\)\n$/,
  );
});

test("killed and started again with its data file, it finds its databases; at the end they can be dropped", async () => {
  const before = await databases();
  const data = ["--port", "0", "--data", join(folder, "state.json")];
  const first = run(data);
  const client = await VISITORS.pg(await pasted(first));
  await client.ask("create table kept as select 7 as id");
  first.child.kill("SIGKILL");
  await first.ended;
  const again = run([...data, "--postgres-drop"]);
  expect(await (await VISITORS.pg(await pasted(again))).ask("select id from kept")).toBe("7");
  again.child.kill("SIGTERM");
  expect(await again.ended).toBe(0);
  expect(await databases()).toEqual(before);
});

describe("a signal while the emulator starts", () => {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** In front of the cluster: calls back when the roles of the emulator exist, and holds the next statement back for a moment. */
  async function reachedThrough(onRoles: () => void): Promise<string> {
    const server = createServer((client) => {
      const upstream = connect(postgres().port, "127.0.0.1");
      sockets.push(client, upstream);
      for (const socket of [client, upstream]) socket.on("error", () => undefined);
      upstream.pipe(client);
      client.on("data", (chunk) => {
        const isNext = String(chunk).includes("GRANT pg_read_all_data");
        if (isNext) onRoles();
        setTimeout(() => upstream.write(chunk), isNext ? 500 : 0);
      });
      client.on("close", () => upstream.destroy());
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    server.unref();
    const url = new URL(postgres().url);
    url.port = String((server.address() as AddressInfo).port); // of a TCP server that listens
    return url.href;
  }

  const leftOnServer = (): Promise<Record<string, unknown>[]> =>
    postgres().query(
      "select datname from pg_database where datname like 'svc\\_%' union select rolname from pg_roles where rolname like 'svc\\_%'",
    );

  test.each(["SIGTERM", "SIGINT"] as const)(
    "ends it with code 0 (%s), and what it has made is dropped",
    async (signal) => {
      const before = await leftOnServer();
      let during: Promise<unknown[]> | undefined;
      const url = await reachedThrough(() => {
        during = leftOnServer();
        started.child.kill(signal);
      });
      const data = join(folder, "state.json");
      const parameters = ["--port", "0", "--postgres-drop", "--data", data];
      const started = run(parameters, { SVC_EMULATOR_POSTGRES: url });
      expect([await started.ended, started.stdout()]).toEqual([0, ""]);
      expect((await during)?.length).toBeGreaterThan(before.length);
      expect(await leftOnServer()).toEqual(before);
      expect(existsSync(data)).toBe(true);
    },
  );

  test("starts no command, and the code says so", async () => {
    const before = await leftOnServer();
    const url = await reachedThrough(() => started.child.kill("SIGTERM"));
    const parameters = ["--postgres-drop", "--exec", "echo it runs"];
    const started = run(parameters, { SVC_EMULATOR_POSTGRES: url });
    expect([await started.ended, started.output()]).toEqual([143, ""]);
    expect(await leftOnServer()).toEqual(before);
  });
});

test("what cannot be started is told in one line, with exit code 1", async () => {
  const away = run(["--port", "0"], { SVC_EMULATOR_POSTGRES: "postgres://postgres:very-secret@127.0.0.1:1/postgres" });
  expect(await away.ended).toBe(1);
  expect(away.output()).toMatch(/^pulumi-svc: .*Postgres at 127\.0\.0\.1:1 does not answer \(ECONNREFUSED\).*\n$/);
  const foreign = run(["--port", "0"], { SVC_EMULATOR_POSTGRES: "postgres://postgres:very-secret@192.0.2.1/postgres" });
  expect(await foreign.ended).toBe(1);
  expect(foreign.output()).toMatch(/^pulumi-svc: .*is not on this machine.*--postgres-remote.*\n$/);
  expect(away.output() + foreign.output()).not.toContain("very-secret");
});
