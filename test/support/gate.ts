import { connectionUri } from "../../src/helpers/connectionUri";
import type { Emulator, EmulatorOptions } from "../../src/emulator";
import { api, DEMO, endpoint, PRIMARY, records, settled, start, type Json } from "./emulator";
import { startPostgres, type Postgres, type PostgresOptions } from "./postgres";
import { endVisits } from "./visitors";

let cluster: Postgres | undefined;

/** One cluster for all tests of a file; everything that a test has opened is closed after it. */
export function useCluster(options: PostgresOptions = {}): () => Postgres {
  beforeAll(async () => {
    cluster = await startPostgres(options);
  }, 120_000);
  afterEach(endVisits);
  afterAll(() => cluster?.stop());
  return () => {
    if (cluster === undefined) throw new Error("the cluster is not started");
    return cluster;
  };
}

/** An emulator in front of the cluster, closed after the test. */
export const startGate = (options: EmulatorOptions = {}): Promise<Emulator> =>
  start({ activationMs: 60, postgres: cluster?.url ?? "", ...options });

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

/** The number of client sessions on the server. */
export async function sessionsOnServer({ query }: Postgres): Promise<number> {
  const rows = await query("select 1 from pg_stat_activity where usename like 'svc\\_%'");
  return rows.length;
}
