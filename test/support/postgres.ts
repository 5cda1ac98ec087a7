import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Client } from "pg";

const DEBIANS = "/usr/lib/postgresql";
const PATIENCE_MS = 60_000;

/**
 * The folder with `initdb` and `postgres`: the one that the set-up names (`npm test`, `npm run test:services`),
 * otherwise Debian's newest, otherwise one on PATH. Without one, the tests that need it are skipped
 * (test/support/services.ts).
 */
export function postgresBin(): string | undefined {
  const named = process.env["PULUMI_SVC_POSTGRES_BIN"];
  // Empty: the set-up found none.
  if (named !== undefined) return named || undefined;
  const debians = isFolder(DEBIANS) ? readdirSync(DEBIANS).sort((left, right) => Number(right) - Number(left)) : [];
  const folders = [
    ...debians.map((version) => join(DEBIANS, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return folders.find(
    (folder) => folder !== "" && isProgram(join(folder, "initdb")) && isProgram(join(folder, "postgres")),
  );
}

/**
 * The client `psql`. Without it a test is skipped: `(psqlProgram() ? test : test.skip)(…)`. Debian's packages contain
 * it, but the npm packages with the server do not.
 */
export function psqlProgram(): string | undefined {
  const folders = [postgresBin() ?? "", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, "psql")).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const isFolder = isProgram;

export interface PostgresOptions {
  /** How local clients authenticate. With `trust` the server asks for no password. */
  readonly auth?: "scram-sha-256" | "md5" | "password" | "trust";
  /** Further settings, such as `{ max_connections: "20" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A test's own cluster. It listens only on 127.0.0.1, and its superuser is `postgres`. */
export interface Postgres {
  /** The superuser's complete connection string for the database `postgres`. */
  readonly url: string;
  readonly host: "127.0.0.1";
  readonly port: number;
  readonly password: string;
  /** The server's log so far. */
  log(): string;
  /** Runs one statement of the superuser in its own session, and returns the rows. */
  query<Row extends Record<string, unknown>>(
    sql: string,
    values?: readonly unknown[],
    database?: string,
  ): Promise<Row[]>;
  /** Stops the server: `fast` ends its sessions in order (57P01), `immediate` drops everything like a crash. */
  shutDown(how?: "fast" | "immediate"): Promise<void>;
  /** Restarts it after `shutDown`, on the same port and with the same data. */
  startAgain(): Promise<void>;
  /** Stops the server and deletes its files. */
  stop(): Promise<void>;
}

/** Creates and starts a cluster. The caller calls `stop`; it also stops when the process ends. */
export async function startPostgres({
  auth = "scram-sha-256",
  settings = {},
}: PostgresOptions = {}): Promise<Postgres> {
  const bin = postgresBin();
  if (bin === undefined) throw new Error("There is no Postgres: `npm run test:services` gets one.");
  const user = serverUser();
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-postgres-"));
  const [data, passwordFile] = [join(folder, "data"), join(folder, "password")];
  const password = randomBytes(12).toString("hex");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const port = await freePort();
  const options = { cwd: folder, ...user, env: { ...process.env, LC_ALL: "C" } };
  const server = new Server(join(bin, "postgres"), data, port, settings, options);
  try {
    const made = ["-D", data, "-U", "postgres", `--pwfile=${passwordFile}`, `--auth=${auth}`, "--no-sync"];
    execFileSync(join(bin, "initdb"), [...made, "--encoding=UTF8", "--locale=C"], { ...options, stdio: "pipe" });
    await server.start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  return {
    ...{ url, host: "127.0.0.1", port, password },
    log: () => server.log,
    shutDown: (how = "fast") => server.end(how),
    startAgain: () => server.start(),
    query: async (sql, values = [], database = "postgres") => {
      const client = new Client({ host: "127.0.0.1", port, user: "postgres", password, database });
      // A server that stops during the session reports it by an event, which would end the process.
      client.on("error", () => undefined);
      await client.connect();
      try {
        return (await client.query(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    stop: async () => {
      await server.end("fast");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface ServerUser {
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** Postgres refuses to run as root: it runs as Debian's user for it, otherwise as nobody. */
function serverUser(): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string, name: string): number => Number(execFileSync("id", [flag, name], { stdio: "pipe" }));
  for (const name of ["postgres", "nobody"]) {
    try {
      return { uid: idOf("-u", name), gid: idOf("-g", name) };
    } catch {
      // This user does not exist.
    }
  }
  throw new Error("Postgres does not run as root, and there is neither a user postgres nor a user nobody.");
}

/** The server's process, which a test can start and stop repeatedly. */
class Server {
  log = "";
  private child: ChildProcess | undefined;

  constructor(
    private readonly program: string,
    private readonly data: string,
    private readonly port: number,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly options: ServerUser & { cwd: string; env: NodeJS.ProcessEnv },
  ) {}

  async start(): Promise<void> {
    const settings = {
      ...{ listen_addresses: "127.0.0.1", port: String(this.port), unix_socket_directories: "" },
      // The data need not survive a crash of the machine.
      ...{ fsync: "off", full_page_writes: "off", shared_buffers: "32MB" },
      ...this.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const begun = this.log.length;
    const child = spawn(this.program, ["-D", this.data, ...args], {
      ...this.options,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.child = child;
    // An interrupted test run leaves nothing.
    const kill = (): boolean => child.kill("SIGQUIT");
    process.once("exit", kill);
    child.once("close", () => {
      process.off("exit", kill);
      this.child = undefined;
    });
    child.stderr.setEncoding("utf8");
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why}:\n${this.log.slice(begun)}`));
      const timer = setTimeout(() => {
        child.kill("SIGQUIT");
        fail(`Postgres was not ready after ${PATIENCE_MS / 1_000} s`);
      }, PATIENCE_MS);
      child.stderr.on("data", (text: string) => {
        this.log += text;
        if (this.log.slice(begun).includes("is ready to accept connections")) {
          clearTimeout(timer);
          resolve();
        }
      });
      child.once("error", (error) => fail(error.message));
      child.once("close", (code) => {
        clearTimeout(timer);
        fail(`Postgres ended with ${code}`);
      });
    });
  }

  async end(how: "fast" | "immediate"): Promise<void> {
    const child = this.child;
    if (child === undefined) return;
    child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await once(child, "close");
  }
}

/** A port that is currently free. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // A listening TCP server has such an address.
  server.close();
  await once(server, "close");
  return port;
}
