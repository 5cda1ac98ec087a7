import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import os from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { connectionUri } from "../../src/helpers/connectionUri";
import { startEmulator, type Emulator, type EmulatorOptions } from "../../src/emulator";
import { api, createCompute, DEMO, endpoint, PRIMARY, records, settled, type Json } from "./emulator";
import { endVisits } from "./visitors";

/** The servers of the emulators of a test file. */
export interface Servers {
  /** Where the emulators keep them. */
  readonly folder: string;
  /** What the superuser reads on all servers that run. */
  query<Row extends Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** The processes of the servers that run. */
  processes(): number[];
}

/** The files of a folder two levels below those that the emulators have made with that name. */
export const filesOf = (folder: string, kind: string, name: string): string[] =>
  readdirSync(folder)
    .filter((made) => made.startsWith(`pulumi-svc-${kind}-`))
    .flatMap((made) => readdirSync(join(folder, made)).map((one) => join(folder, made, one, name)))
    .filter((file) => existsSync(file));

async function queryAt(host: string, sql: string, values: readonly unknown[]): Promise<never[]> {
  const client = new Client({ host, user: "svc_admin", database: "postgres" });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(sql, [...values])).rows as never[];
  } catch (error) {
    // A server that starts, ends or was killed has no sessions.
    if (/^(42|22)/.test(String(Reflect.get(Object(error), "code")))) throw error;
    return [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

const running: Emulator[] = [];

const IN_MEMORY = "/dev/shm";
const ENOUGH_BYTES = 2e9;

/** In memory, if there is room: a cluster is a thousand files, which some disks need a second for. */
export function folderForServers(): string {
  const { bavail, bsize } = existsSync(IN_MEMORY) ? statfsSync(IN_MEMORY) : { bavail: 0, bsize: 0 };
  const folder = mkdtempSync(join(bavail * bsize > ENOUGH_BYTES ? IN_MEMORY : os.tmpdir(), "svc-test-"));
  // The user of the servers enters it.
  chmodSync(folder, 0o711);
  return folder;
}

/** The temporary folder of a test file is its own, and everything that a test has opened is closed after it. */
export function useServers(): Servers {
  const folder = folderForServers();
  // Not by TMPDIR: the environment of a test is a copy.
  beforeEach(() => void jest.spyOn(os, "tmpdir").mockReturnValue(folder));
  afterEach(async () => {
    // First the clients: an emulator that ends waits for a psql, which notices nothing while it is idle.
    await endVisits();
    await Promise.all(running.splice(0).map((emulator) => emulator.close()));
  });
  afterAll(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    query: async (sql, values = []) => {
      const hosts = filesOf(folder, "sockets", ".s.PGSQL.5432").map(dirname);
      return (await Promise.all(hosts.map((host) => queryAt(host, sql, values)))).flat();
    },
    processes: () =>
      filesOf(folder, "postgres", "postmaster.pid").map((file) => Number.parseInt(readFileSync(file, "utf8"))),
  };
}

/** An emulator with Postgres, closed after the test. */
export async function startGate(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ activationMs: 60, postgres: true, ...options });
  running.push(emulator);
  return emulator;
}

/** The connection string of a compute for users. */
export function uriOf(
  emulator: Emulator,
  id: string = PRIMARY,
  more: { key?: string; role?: string; database?: string } = {},
): string {
  const { key = emulator.apiKey, role = "svcdb_owner", database = "svcdb" } = more;
  return connectionUri({ host: id, role, database, password: key, gate: emulator.gate ?? "" });
}

/** Changes a compute by the API, and waits until its operations have finished. */
export async function change(
  emulator: Emulator,
  attributes: Json,
  state = "active",
  id: string = PRIMARY,
): Promise<void> {
  const { status, text } = await api(emulator, "PATCH", `${DEMO}/endpoints/${id}`, { endpoint: attributes });
  if (status !== 200) throw new Error(text);
  await settled(emulator, id, state);
}

/** Starts an action of a compute by the API. */
export async function act(
  emulator: Emulator,
  action: "restart" | "suspend" | "start",
  id: string = PRIMARY,
): Promise<void> {
  const { status, text } = await api(emulator, "POST", `${DEMO}/endpoints/${id}/${action}`);
  if (status !== 200) throw new Error(text);
}

export async function suspended(emulator: Emulator, id: string = PRIMARY): Promise<void> {
  await act(emulator, "suspend", id);
  await settled(emulator, id, "idle");
}

/** The actions started for the compute, oldest first. */
export async function actionsOf(emulator: Emulator, id: string = PRIMARY): Promise<unknown[]> {
  const { body } = await api(emulator, "GET", `${DEMO}/operations`);
  const ofCompute = records(body, "operations").filter(({ endpoint_id }) => endpoint_id === id);
  return ofCompute.map(({ action }) => action).reverse();
}

export const stateOf = async (emulator: Emulator, id: string = PRIMARY): Promise<unknown> =>
  (await endpoint(emulator, id)).current_state;

/** The number of client sessions on the servers. */
export async function sessionsOnServer({ query }: Servers): Promise<number> {
  const rows = await query(
    "select 1 from pg_stat_activity where backend_type = 'client backend' and usename not in ('svc_admin', 'svc_auth')",
  );
  return rows.length;
}

/** The connection string of the new read replica of a branch. */
export async function replicaOf(
  emulator: Emulator,
  branch = "br-main",
  more: { database?: string } = {},
): Promise<string> {
  const { id } = await createCompute(emulator, { branch_id: branch, type: "read_only" });
  return uriOf(emulator, String(id), more);
}
