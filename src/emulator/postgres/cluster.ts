/** A cluster of Postgres in a folder of its own, with its server while somebody needs it. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Programs } from "./programs";
import { isAlive } from "../model/dataFileLock";
import type { Guard } from "./guard";
import { SessionError } from "./protocol";
import { literal, openSession, within, type Query, type ServerSession } from "./session";

/** The emulator's own role. Clients are not superusers. */
export const SUPERUSER = "svc_admin";
/** Owns the tables that clients must not write, and has no other rights. */
export const KEEPER = "svc_auth";

const LOCK_FILE = "postmaster.pid";
const START_MS = 30_000;
const STOP_MS = 5_000;
const RETRY_MS = 10;

/** Small, and enough for the connections of the largest compute that the emulator starts with. */
const SETTINGS = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  shared_buffers: "16MB",
  max_connections: "1000",
  max_locks_per_transaction: "16",
  max_pred_locks_per_transaction: "16",
  max_worker_processes: "4",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "1",
  max_wal_senders: "4",
  max_replication_slots: "4",
  min_wal_size: "8MB",
  max_wal_size: "256MB",
  // A replica that cannot follow does not fill the disk.
  max_slot_wal_keep_size: "256MB",
  hot_standby_feedback: "on",
  // Only why it does not start is read, and it must not grow.
  log_min_messages: "fatal",
  log_checkpoints: "off",
};
/** For data that is not kept. */
const NOT_DURABLE = { fsync: "off", full_page_writes: "off" };

/** What all clusters of an emulator share. */
export interface ClusterOptions {
  readonly programs: Programs;
  /** For the sockets, one folder for each cluster: the path of a socket must be short. */
  readonly sockets: string;
  readonly guard: Guard;
  /** Whether the data outlives the emulator. */
  readonly isKept: boolean;
}

/** A folder that only the user of the servers can enter. */
export function makeFolder(path: string, programs: Programs): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  give(path, programs);
}

function give(path: string, { options: { uid, gid } }: Programs): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

const wasDeleted = (): SessionError => new SessionError("57P01", "the branch was deleted");

export class Cluster {
  readonly #sockets: string;
  #made: Promise<void> | undefined;
  /** One after the other: a copy needs a slot. */
  #copies: Promise<unknown> = Promise.resolve();
  #running: Promise<ChildProcess> | undefined;
  /** Of an earlier server. */
  #ended: Promise<unknown> = Promise.resolve();
  #isGone = false;

  constructor(
    private readonly options: ClusterOptions,
    private readonly folder: string,
    /** Makes the files, if there are none. */
    private readonly fill: (folder: string) => Promise<void>,
    private readonly settings: Readonly<Record<string, string>> = {},
  ) {
    this.#sockets = join(options.sockets, randomBytes(4).toString("hex"));
  }

  get exists(): boolean {
    return existsSync(this.folder);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** @throws an Error if the programs are for files of another version */
  requireVersion(): void {
    if (!this.exists) return;
    const version = Number(readFileSync(join(this.folder, "PG_VERSION"), "utf8"));
    const { programs } = this.options;
    if (version === programs.version) return;
    throw new Error(
      `${this.folder} has data of Postgres ${version}, but ${programs.postgres} is version ${programs.version}: name the ` +
        `programs of version ${version} in PULUMI_SVC_POSTGRES_BIN, or delete the folder with its data`,
    );
  }

  /** Makes its files. Half of them never have its name. */
  make(): Promise<void> {
    return (this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    }));
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    if (this.#isGone) throw wasDeleted();
    await (this.#running ??= this.#run());
  }

  #run(): Promise<ChildProcess> {
    const running = this.#ended.then(() => this.#begin());
    const forget = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(whenEnded).then(forget, forget);
    return running;
  }

  /** With its sessions (57P01). */
  stop(signal: NodeJS.Signals = "SIGINT"): Promise<unknown> {
    const running = this.#running;
    if (running === undefined) return this.#ended;
    this.#running = undefined;
    this.#ended = running.then(
      (server) => end(server, signal),
      () => undefined,
    );
    return this.#ended;
  }

  /** For good, after what is being made. */
  async close(signal: NodeJS.Signals): Promise<void> {
    this.#isGone = true;
    await this.stop(signal);
    await this.#made?.catch(() => undefined);
    await this.stop(signal);
  }

  /** With its files. At once there is none with its name. */
  async remove(): Promise<void> {
    this.#isGone = true;
    const gone = `${this.folder}.gone-${randomBytes(4).toString("hex")}`;
    if (this.exists) renameSync(this.folder, gone);
    await this.stop("SIGQUIT");
    rmSync(gone, { recursive: true, force: true });
  }

  session(startup: Readonly<Record<string, string>>): Promise<ServerSession> {
    return openSession(this.#socket, startup);
  }

  administer<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return within(this.#socket, { user: SUPERUSER, database: "postgres" }, work);
  }

  /** As the keeper, on tables of clients or on those that they refer to. */
  keep<T>(database: string, work: (query: Query) => Promise<T>): Promise<T> {
    return within(this.#socket, { user: KEEPER, database }, work);
  }

  get #socket(): string {
    return join(this.#sockets, ".s.PGSQL.5432");
  }

  /** Copies it while clients write: at its first start the copy recovers, as from a base backup. */
  copyTo(folder: string): Promise<void> {
    const copy = this.#copies.then(() => this.#copyTo(folder));
    this.#copies = copy.catch(() => undefined);
    return copy;
  }

  async #copyTo(folder: string): Promise<void> {
    await this.start();
    const { programs } = this.options;
    const slot = `copy_${randomBytes(4).toString("hex")}`;
    await this.administer(async (query) => {
      await query(`SELECT pg_create_physical_replication_slot(${literal(slot)}, true, true)`);
      await query("SELECT pg_backup_start('copy', true)");
      await copyFiles(this.folder, folder, programs).catch(unlessGone);
      const [row] = await query("SELECT labelfile FROM pg_backup_stop(false)");
      await copyFiles(`${this.folder}/pg_wal/.`, `${folder}/pg_wal`, programs).catch(unlessGone);
      this.#write(join(folder, "backup_label"), row?.[0] ?? "");
    });
    for (const name of [LOCK_FILE, "postmaster.opts"]) rmSync(join(folder, name), { force: true });
    for (const name of readdirSync(join(folder, "pg_replslot")))
      rmSync(join(folder, "pg_replslot", name), { recursive: true });
  }

  /** A cluster that follows this one and is read-only. It is made anew, since that is cheaper than keeping its log. */
  standby(folder: string): Cluster {
    const slot = literal("replica");
    const fill = async (path: string): Promise<void> => {
      await this.start();
      await this.administer(async (query) => {
        await query(
          `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ${slot};` +
            `SELECT pg_create_physical_replication_slot(${slot}, true)`,
        );
      });
      await this.copyTo(path);
      this.#write(join(path, "standby.signal"), "");
    };
    return new Cluster(this.options, folder, fill, {
      primary_conninfo: `host='${this.#sockets}' user=${SUPERUSER}`,
      primary_slot_name: "replica",
    });
  }

  /** In its log: what was written until now is before it. */
  async position(): Promise<string | undefined> {
    const [row] = await this.administer((query) => query("SELECT pg_current_wal_lsn()"));
    return row?.[0];
  }

  /** As a standby: resolves when it has what is before this position of the primary. */
  async hasReached(position: string): Promise<void> {
    const isThere = `SELECT pg_last_wal_replay_lsn() >= ${literal(position)}`;
    await this.administer(async (query) => {
      const deadline = Date.now() + START_MS;
      while ((await query(isThere))[0]?.[0] !== "t" && Date.now() < deadline) await delay(RETRY_MS);
    });
  }

  #write(file: string, text: string): void {
    writeFileSync(file, text, { mode: 0o600 });
    give(file, this.options.programs);
  }

  async #make(): Promise<void> {
    if (this.#isGone) throw wasDeleted();
    if (this.exists) return;
    const half = `${this.folder}.new-${randomBytes(4).toString("hex")}`;
    try {
      await this.fill(half);
      if (this.#isGone) throw wasDeleted();
      renameSync(half, this.folder);
    } finally {
      rmSync(half, { recursive: true, force: true });
    }
  }

  async #begin(): Promise<ChildProcess> {
    await this.make();
    const { programs, isKept } = this.options;
    makeFolder(this.#sockets, programs);
    await whenUnlocked(join(this.folder, LOCK_FILE));
    const settings = {
      ...SETTINGS,
      ...(!isKept && NOT_DURABLE),
      ...this.settings,
      unix_socket_directories: this.#sockets,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = join(this.#sockets, "log");
    const output = openSync(log, "w", 0o600);
    // Ctrl-C in a terminal reaches the emulator alone, which ends its servers in order.
    const server = spawn(programs.postgres, ["-D", this.folder, ...args], {
      ...programs.options,
      ...{ stdio: ["ignore", output, output], detached: true, cwd: "/" },
    });
    closeSync(output);
    server.once("error", () => undefined).unref(); // It has no pid then.
    if (server.pid !== undefined) this.options.guard.watch(server.pid);
    await this.#isReady(server, log);
    return server;
  }

  async #isReady(server: ChildProcess, log: string): Promise<void> {
    const deadline = Date.now() + START_MS;
    for (;;) {
      // The first line is the process, the last one its state.
      const [pid, ...more] = linesOf(join(this.folder, LOCK_FILE));
      if (pid === String(server.pid) && more[6]?.trim() === "ready") return;
      if (hasEnded(server) || Date.now() > deadline) {
        await end(server, "SIGQUIT");
        const words = /FATAL: {2}(.*)/.exec(readFileSync(log, "utf8"))?.[1] ?? `it is not ready after ${START_MS} ms`;
        throw new SessionError("57P03", `the Postgres of the branch did not start: ${words}`);
      }
      await delay(RETRY_MS);
    }
  }
}

/** None if the file does not exist. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    if (Reflect.get(Object(error), "code") === "ENOENT") return [];
    throw error;
  }
}

export const copyFiles = (from: string, to: string, { run }: Programs): Promise<void> => run("cp", ["-Rp", from, to]);

/** Files of a cluster that runs may go meanwhile: its log has what they were. */
function unlessGone(error: unknown): void {
  const lines = String(Reflect.get(Object(error), "stderr"))
    .trim()
    .split("\n");
  if (!lines.every((line) => line.includes("No such file or directory"))) throw error;
}

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

async function whenEnded(server: ChildProcess): Promise<void> {
  if (!hasEnded(server)) await once(server, "exit");
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  server.ref();
  server.kill(signal);
  const timers = [
    setTimeout(() => server.kill("SIGQUIT"), STOP_MS),
    // It hangs.
    setTimeout(() => server.kill("SIGKILL"), 2 * STOP_MS),
  ];
  await whenEnded(server);
  timers.forEach(clearTimeout);
}

/** Waits for the server of an emulator that was killed: its guard is about to end it. */
async function whenUnlocked(file: string): Promise<void> {
  const deadline = Date.now() + STOP_MS;
  for (let [pid] = linesOf(file); pid !== undefined && isAlive(Number(pid)); [pid] = linesOf(file)) {
    if (Date.now() > deadline) return; // Postgres says what it finds.
    await delay(RETRY_MS);
  }
}
