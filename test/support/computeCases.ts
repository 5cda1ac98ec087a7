import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import type { ClientOptions } from "../../src/client";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { EmulatorOptions } from "../../src/emulator";
import { until } from "./emulator";
import { harness, PROJECT, urnOf, type Harness, type Json, type Seen, type State } from "./harness";

/** The primary that the demo project begins with, on br-main. */
export const DEMO_PRIMARY = "ep-demo-main-10000001";
export const ENDPOINTS = `/projects/${PROJECT}/endpoints`;
export const URN = urnOf("ComputeEndpoint");

/** The least that a program can declare, on a branch that has no compute. */
export const LEAST = { projectId: PROJECT, branchId: "br-dev" };

/** Every argument that is sent, each with a value that no compute has by itself. */
export const EVERY = {
  ...LEAST,
  type: "read_write",
  name: "reports",
  size: { min: 1, max: 4 },
  scaleToZero: { afterSeconds: 900 },
  poolerEnabled: true,
  poolerMode: "transaction",
  disabled: false,
  passwordlessAccess: false,
  regionId: "aws-us-east-1",
  provisioner: "k8s-neonvm",
  settings: {
    pgSettings: { max_parallel_workers: "4" },
    preloadLibraries: { useDefaults: false, enabledLibraries: ["timescaledb"] },
  },
};

/** The same in the words of the service (docs/design/api.md, Compute record). */
export const EVERY_ATTRIBUTE = {
  branch_id: "br-dev",
  type: "read_write",
  name: "reports",
  autoscaling_limit_min_cu: 1,
  autoscaling_limit_max_cu: 4,
  suspend_timeout_seconds: 900,
  pooler_enabled: true,
  pooler_mode: "transaction",
  disabled: false,
  passwordless_access: false,
  region_id: "aws-us-east-1",
  provisioner: "k8s-neonvm",
  settings: {
    pg_settings: { max_parallel_workers: "4" },
    preload_libraries: { use_defaults: false, enabled_libraries: ["timescaledb"] },
  },
};

export const computes = (
  options: EmulatorOptions = {},
  client: Partial<ClientOptions> & { siblingStartsMs?: number } = {},
): Promise<Harness> => harness(computeEndpoint, options, client);

export const endpointId = ({ id }: State): string => id.slice(PROJECT.length + 1);

/** The compute as the service has it, by its own route. */
export async function atService(given: Harness, id: string): Promise<Json> {
  const { endpoint } = await given.get(`${ENDPOINTS}/${id}`);
  if (endpoint === undefined) throw new Error(`${id} is not there`);
  // The route answers one record under this key.
  return endpoint as Json;
}

/** All computes of the demo project, as the emulator keeps them. */
export const allAtService = async (given: Harness): Promise<Json[]> => (await given.state())["endpoints"] as Json[];

/** What each PATCH and POST asked for. */
export const sent = (requests: readonly Seen[]): unknown[] => requests.map(({ body }) => body?.["endpoint"] ?? null);

/** An edit of the compute behind the provider's back. */
export const editByHand = (given: Harness, id: string, set: Json): Promise<void> =>
  given.edit({ kind: "endpoint", id, set });

/** Wakes or suspends it by hand, and waits until it is so. */
export async function put(given: Harness, id: string, action: "start" | "suspend"): Promise<void> {
  await given.post(`${ENDPOINTS}/${id}/${action}`, {});
  const wanted = action === "start" ? "active" : "idle";
  await until(
    () => atService(given, id),
    ({ current_state, pending_state }) => current_state === wanted && pending_state === undefined,
  );
}

/** The warnings of a plan, each with its place. */
export async function warningsOf(given: Harness, state: State, olds: Properties, news: Properties): Promise<string[]> {
  given.log.splice(0);
  expect(await given.check(news, olds)).toEqual([]);
  await given.diff(state, news);
  expect(given.log.every(({ urn, ephemeral }) => urn === URN && !ephemeral)).toBe(true);
  return given.log.filter(({ severity }) => severity === "warning").map(({ message }) => message);
}
