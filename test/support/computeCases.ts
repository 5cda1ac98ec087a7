import { computeEndpoint } from "../../src/resources/computeEndpoint/computeEndpointLifecycle";
import type { ClientOptions } from "../../src/client";
import type { Properties } from "../../src/contract/hiddenKeys";
import type { EmulatorOptions } from "../../src/emulator";
import { until } from "./emulator";
import { harness, PROJECT, urnOf, type Harness, type Json, type Seen, type State } from "./harness";

/** The initial primary of the demo project, on br-main. */
export const DEMO_PRIMARY = "ep-demo-main-10000001";
export const ENDPOINTS = `/projects/${PROJECT}/endpoints`;
export const URN = urnOf("ComputeEndpoint");

/** The smallest possible program, on a branch without a compute. */
export const LEAST = { projectId: PROJECT, branchId: "br-dev" };

/** Every argument that is sent, with values that no compute has by default. */
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

/** The same in the service's terms (docs/design/api.md, Compute record). */
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

/** The service's record of the compute, from its own route. */
export async function atService(given: Harness, id: string): Promise<Json> {
  const { endpoint } = await given.get(`${ENDPOINTS}/${id}`);
  if (endpoint === undefined) throw new Error(`${id} is not there`);
  // The route returns one record under this key.
  return endpoint as Json;
}

/** All computes of the demo project in the emulator's state. */
export const allAtService = async (given: Harness): Promise<Json[]> => (await given.state())["endpoints"] as Json[];

/** The body of each PATCH and POST. */
export const sent = (requests: readonly Seen[]): unknown[] => requests.map(({ body }) => body?.["endpoint"] ?? null);

/** Edits the compute without the provider. */
export const editByHand = (given: Harness, id: string, set: Json): Promise<void> =>
  given.edit({ kind: "endpoint", id, set });

/** Starts or suspends it by hand, and waits for the result. */
export async function put(given: Harness, id: string, action: "start" | "suspend"): Promise<void> {
  await given.post(`${ENDPOINTS}/${id}/${action}`, {});
  const wanted = action === "start" ? "active" : "idle";
  await until(
    () => atService(given, id),
    ({ current_state, pending_state }) => current_state === wanted && pending_state === undefined,
  );
}

/** The warnings of a plan, with their properties. */
export async function warningsOf(given: Harness, state: State, olds: Properties, news: Properties): Promise<string[]> {
  given.log.splice(0);
  expect(await given.check(news, olds)).toEqual([]);
  await given.diff(state, news);
  expect(given.log.every(({ urn, ephemeral }) => urn === URN && !ephemeral)).toBe(true);
  return given.log.filter(({ severity }) => severity === "warning").map(({ message }) => message);
}
