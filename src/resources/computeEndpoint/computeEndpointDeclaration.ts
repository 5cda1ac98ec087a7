import { adoptedObject, claim, primaryObject } from "../../contract/claims";
import type { Declaration } from "../../contract/declaration";
import { nameForm, settingForm, textForm } from "../../contract/forms";
import { COMPUTE_ID } from "../../contract/identifiers";
import type { SecretReference } from "../../contract/references";
import { type ComputeSize, computeSizes, limitsOf } from "../../helpers/computeSizes";
import { pooledHost } from "../../helpers/connectionUri";
import { maxConnections } from "../../helpers/maxConnections";
import { settingValueForm } from "../../helpers/postgresValues";

/**
 * What a compute is declared with (docs/design/api.md, Computes). An argument that is left out is not managed: it is
 * never sent and never drift.
 */
export interface ComputeEndpointShape {
  /** The project. Changing this replaces the compute, with another id and another host. */
  projectId: string;
  /** The branch it serves (`br-…`). Changing this moves the compute, which keeps its id and host. */
  branchId: string;
  /**
   * The one primary of the branch, or one of any number of read replicas. Changing this replaces the compute.
   * @default "read_write" when it is created
   */
  type?: "read_write" | "read_only";
  /** Its name at the service, 1 to 64 characters. */
  name?: string;
  /**
   * In compute units (CU): a fixed size (0.25, 0.5, 1 to 16, and the even numbers to 56; `computeSizes`), or
   * `{min, max}` with up to 16 CU for autoscaling. 0.25 and 0.5 CU share a CPU with others. `svc:maxSizeCu` sets a
   * limit. Changing this restarts an active compute and drops its connections.
   */
  size?: ComputeSize;
  /**
   * `true`: after the service's default of 5 minutes without a query; `{afterSeconds}`: after that many (60 to 604800);
   * `false`: never. Fixed sizes above 16 CU never scale to zero. A compute that never does may need a restart for releases
   * of the service: see `restartTriggers`.
   * @integer
   */
  scaleToZero?: boolean | { afterSeconds: number };
  /** Whether the connection pooler is on. A pooled connection supports up to 10,000 clients. */
  poolerEnabled?: boolean;
  /**
   * How the pooler shares connections. Only `"transaction"` can be declared. If the service shows another mode, that is
   * drift.
   */
  poolerMode?: "transaction";
  /** A disabled compute is suspended, and no query wakes it. */
  disabled?: boolean;
  /** Whether the service allows access to it without a password. */
  passwordlessAccess?: boolean;
  /** Must be the project's region. Changing this replaces the compute. */
  regionId?: string;
  /** The kind of infrastructure at the service that runs it. */
  provisioner?: string;
  /**
   * Postgres settings. If `pgSettings` is given, it is managed as a whole: a setting that it does not contain is
   * cleared. Each field of `preloadLibraries` is managed if it is given.
   */
  settings?: ComputeSettings;
  /**
   * Any values, such as the date of the last intended restart. Changing this restarts an active compute and drops its
   * connections. An idle compute is not restarted, because its next start has the same effect.
   */
  restartTriggers?: unknown[];
  /**
   * Takes over a compute that exists instead of failing: `true` for the primary of the branch, `"ep-…"` for the compute
   * with that id. The compute is then updated to match the program. Changing this later has no effect, and it may stay:
   * if it names the compute that a replacement has deleted, the replacement creates a new one. Remove it if the `up`
   * was interrupted during such a replacement.
   * @default false
   */
  adopt?: boolean | string;
  /**
   * While it is on, the compute cannot be deleted or replaced: the plan of a replacement fails, and a deletion is
   * refused before anything is sent. To delete it, first set `false` and run `pulumi up`, which sends nothing. The
   * service does not store it. The classes of pulumi-svc also set the option `protect: true`; see
   * docs/resources/AuthIntegration.md.
   * @default false
   */
  deletionProtection?: boolean;
}

/** Settings of the Postgres server. */
export interface ComputeSettings {
  /**
   * Postgres' own settings by name, such as `{ max_parallel_workers: "4" }`. A value that is a secret can be given by
   * reference: with `svc.fromEnv("NAME")` or `svc.fromFile("path")` the state does not hold it.
   */
  pgSettings?: { [name: string]: string | SecretReference };
  /**
   * Libraries that the server loads at its start: the default ones of the service (`useDefaults`), and the named ones.
   */
  preloadLibraries?: { useDefaults?: boolean; enabledLibraries?: string[] };
}

/** What the service returns in addition to the arguments. */
export interface ComputeEndpointOutputs {
  /** The compute's own id (`ep-…`). */
  endpointId: string;
  /** The host name to connect to. A move to another branch keeps it, a replacement changes it. */
  host: string;
  /** The host name of the connection pooler. */
  pooledHost: string;
  /** The host name that `host` ends in: `<endpoint id>.<proxy host>`. */
  proxyHost: string;
  /** The smallest size in compute units (CU); equal to the largest for a fixed size. */
  autoscalingLimitMinCu?: number;
  /** The largest size in CU. */
  autoscalingLimitMaxCu?: number;
  /**
   * The number of seconds without a query after which it is suspended. 0: the service's default of 300 s; -1: never.
   * @integer
   */
  suspendTimeoutSeconds?: number;
  /**
   * The connection limit of Postgres; for autoscaling, at the smallest and the largest size. Absent for 40 to 56 CU,
   * whose limits the service does not publish.
   * @integer
   */
  maxConnections?: number | { min?: number; max?: number };
  /** What it was created with, such as `console`. */
  creationSource?: string;
  /** The time of its creation. ISO 8601, UTC. */
  createdAt?: string;
  /** Primary or read replica, even if the argument is left out. */
  type: "read_write" | "read_only";
  /** How the pooler shares connections, also if it is a mode that cannot be declared. */
  poolerMode?: string;
}

/** The host name without its first label. */
const proxyHostOf = (host: string): string => host.slice(host.indexOf(".") + 1);

/** A size that this version does not know must not fail a refresh. */
function maxConnectionsOf(size: ComputeSize): ComputeEndpointOutputs["maxConnections"] | undefined {
  const { min, max } = limitsOf(size);
  if (![min, max].every((cu) => computeSizes.includes(cu))) return undefined;
  const connections = maxConnections(size);
  if (typeof connections !== "object") return connections;
  return {
    ...(connections.min !== undefined && { min: connections.min }),
    ...(connections.max !== undefined && { max: connections.max }),
  };
}

/** In the service's numbers: 0 is its default, -1 is never. */
export function suspendTimeoutSeconds(value: boolean | { afterSeconds: number }): number {
  if (typeof value === "object") return value.afterSeconds;
  return value ? 0 : -1;
}

const DEFAULT_SUSPEND_SECONDS = 300;
/** The same without the service's default; -1 is never. */
export const effectiveSeconds = (value: boolean | { afterSeconds: number }): number =>
  suspendTimeoutSeconds(value) === 0 ? DEFAULT_SUSPEND_SECONDS : suspendTimeoutSeconds(value);

// A report of drift has a text in place of a secret.
const scaleToZeroForm = (value: boolean | { afterSeconds: number }): unknown =>
  typeof value === "string" ? value : effectiveSeconds(value);

function settingsForm(settings: ComputeSettings): ComputeSettings {
  // A report of drift may have a text in place of the settings.
  const { pgSettings } = Object(settings) as Partial<ComputeSettings>;
  if (pgSettings === undefined) return settings;
  const named = Object.entries(pgSettings).map(([name, value]) => [
    settingForm(name),
    typeof value === "string" ? settingValueForm(name, value) : value,
  ]);
  return { ...settings, pgSettings: Object.fromEntries(named) as typeof pgSettings };
}

export const declaration: Declaration<ComputeEndpointShape, ComputeEndpointOutputs> = {
  kind: "ComputeEndpoint",
  id: {
    parts: ["projectId", "endpointId"],
    last: COMPUTE_ID,
    form: "<project id>/<compute id>",
    example: "prj-demo/ep-cool-1",
  },
  claims({ projectId, branchId, type, adopt }, _authProvider, givenNames) {
    const primaryOf = type === "read_write" || !givenNames.has("type") ? projectId : undefined;
    return [
      ...claim('a primary compute with the same "projectId" and "branchId"', primaryObject, primaryOf, branchId),
      ...claim('the compute that "adopt" names', adoptedObject, typeof adopt === "string" ? adopt : undefined),
    ];
  },
  args: {
    projectId: { required: true, replaces: true, form: nameForm },
    branchId: { required: true, form: nameForm },
    type: { replaces: true, assumed: "read_write" },
    name: { secretUnlessGiven: true, form: textForm },
    size: { form: limitsOf },
    scaleToZero: { form: scaleToZeroForm, standard: true },
    poolerEnabled: { standard: false },
    // An existing compute may have a mode, a region or a provisioner that cannot be declared.
    poolerMode: { imported: false },
    disabled: { standard: false },
    passwordlessAccess: { standard: true },
    regionId: { replaces: true, imported: false, form: nameForm },
    provisioner: { imported: false, form: nameForm },
    settings: { onlyIfGiven: true, reference: { valuesOf: "pgSettings" }, form: settingsForm },
    restartTriggers: { local: true },
    adopt: { createOnly: true },
    // No request carries it, and omitting it turns it off.
    deletionProtection: { local: true, protects: true, assumed: false },
  },
  outputs: {
    // Derived from the id, which stays known in the preview of a change.
    endpointId: {
      identity: true,
      stays: true,
      derived: { from: "id", by: (id: string) => id.slice(id.indexOf("/") + 1) },
    },
    host: { stays: true },
    pooledHost: { stays: true, derived: { from: "host", by: pooledHost } },
    proxyHost: { stays: true, derived: { from: "host", by: proxyHostOf } },
    autoscalingLimitMinCu: { derived: { from: "size", by: (size: ComputeSize) => limitsOf(size).min } },
    autoscalingLimitMaxCu: { derived: { from: "size", by: (size: ComputeSize) => limitsOf(size).max } },
    suspendTimeoutSeconds: {},
    maxConnections: { derived: { from: "size", by: maxConnectionsOf } },
    creationSource: { stays: true },
    createdAt: { stays: true },
    type: { stays: true },
    poolerMode: {},
  },
};
