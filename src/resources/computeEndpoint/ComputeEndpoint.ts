import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../../program/inputs";
import { NO_ARGUMENTS, SvcResource } from "../../program/SvcResource";
import type { ComputeSize } from "../../helpers/computeSizes";

/** What a compute is declared with (docs/design/api.md, Computes). What is left out is not managed: never sent, never drift. */
export interface ComputeEndpointShape {
  /** The project. Changing this replaces the compute: another id, another host. */
  projectId: string;
  /** The branch it serves (`br-…`). Changing this moves the compute: same id, same host. */
  branchId: string;
  /**
   * The branch's one primary, or one of any number of read replicas. Changing this replaces the compute.
   * @default "read_write" when it is created
   */
  type?: "read_write" | "read_only";
  /** Its name at the service, in 1 to 64 characters. */
  name?: string;
  /**
   * In compute units (CU): a fixed size out of `computeSizes`, or `{min, max}` up to 16 CU to scale between. Changing
   * this restarts an active compute and drops its connections.
   */
  size?: ComputeSize;
  /**
   * `true`: after the service's default of 5 minutes without a query; `{afterSeconds}`: after that many (60 to 604800);
   * `false`: never. Fixed sizes above 16 CU never scale to zero.
   */
  scaleToZero?: boolean | { afterSeconds: number };
  /** Whether the connection pooler is on. */
  poolerEnabled?: boolean;
  /**
   * How the pooler shares connections. `"transaction"` is the one mode that can be declared; another one that the service
   * shows is drift.
   */
  poolerMode?: "transaction";
  /** A disabled compute is suspended, and no query wakes it. */
  disabled?: boolean;
  /** Whether it can be reached without a password, by the service's own means. */
  passwordlessAccess?: boolean;
  /** Must be the project's region. Changing this replaces the compute. */
  regionId?: string;
  /** Which machinery of the service runs it. */
  provisioner?: string;
  /**
   * Postgres settings. `pgSettings` is managed when it is given, and then whole: what it lacks is cleared. Of
   * `preloadLibraries` each field is managed that is given.
   */
  settings?: ComputeSettings;
  /**
   * Any values, such as the date of the last restart that was wanted. Changing this restarts an active compute and drops
   * its connections; an idle one starts afresh anyway.
   */
  restartTriggers?: unknown[];
  /**
   * Takes over a compute that exists instead of failing: `true` for the branch's primary, `"ep-…"` for that one. It is
   * then brought to what is declared. Changing this later has no effect, and it may stay: a replacement makes a new
   * compute where this names the one that it has deleted. Take it out where that `up` was interrupted in between.
   * @default false
   */
  adopt?: boolean | string;
}

/** Settings of the Postgres server. */
export interface ComputeSettings {
  /** Postgres' own settings by name, such as `{ max_parallel_workers: "4" }`. */
  pgSettings?: { [name: string]: string };
  /** Libraries that the server loads at its start: the service's own choice (`useDefaults`), and those that are named. */
  preloadLibraries?: { useDefaults?: boolean; enabledLibraries?: string[] };
}

export type ComputeEndpointArgs = ArgumentsOf<ComputeEndpointShape>;

/** What the service says of a compute besides its arguments. */
export interface ComputeEndpointOutputs {
  /** The compute's own id (`ep-…`). */
  endpointId: string;
  /** Where to connect. It stays when the compute moves, and changes when it is replaced. */
  host: string;
  /** The same through the connection pooler. */
  pooledHost: string;
  /** The host name that `host` ends in: `<endpoint id>.<proxy host>`. */
  proxyHost: string;
  /** The smallest size in compute units (CU); equal to the largest for a fixed size. */
  autoscalingLimitMinCu?: number;
  /** The largest size in CU. */
  autoscalingLimitMaxCu?: number;
  /** After how many seconds without a query it is suspended. 0: the service's default of 300 s; -1: never. */
  suspendTimeoutSeconds?: number;
  /** Postgres' own limit, of a fixed size; of an autoscaling one at each limit. Absent for 40 to 56 CU, which the service does not publish. */
  maxConnections?: number | { min?: number; max?: number };
  /** What it was made with, such as `console`. */
  creationSource?: string;
  /** When it was made. ISO 8601, UTC. */
  createdAt?: string;
}

export const COMPUTE_ENDPOINT_ARGS = [
  "projectId",
  "branchId",
  "type",
  "name",
  "size",
  "scaleToZero",
  "poolerEnabled",
  "poolerMode",
  "disabled",
  "passwordlessAccess",
  "regionId",
  "provisioner",
  "settings",
  "restartTriggers",
  "adopt",
] as const satisfies readonly (keyof ComputeEndpointShape)[];

const OUTPUTS = [
  "endpointId",
  "host",
  "pooledHost",
  "proxyHost",
  "autoscalingLimitMinCu",
  "autoscalingLimitMaxCu",
  "suspendTimeoutSeconds",
  "maxConnections",
  "creationSource",
  "createdAt",
] as const satisfies readonly (keyof ComputeEndpointOutputs)[];

/**
 * The Postgres compute of a branch: its primary, or a read replica. Its Pulumi id is `<project>/<endpoint id>`.
 *
 * Creating and changing wait until it is active (or as far as it goes: a disabled one, and a new replica, may be idle),
 * within `customTimeouts`, 10 minutes by default. Destroying deletes it, an adopted one too (unless `retainOnDelete` is
 * set); a compute that is made again has another host.
 *
 * The program of examples/quickstart declares one.
 */
export class ComputeEndpoint extends SvcResource {
  declare readonly projectId: pulumi.Output<string>;
  declare readonly branchId: pulumi.Output<string>;
  declare readonly type: pulumi.Output<"read_write" | "read_only">;
  declare readonly name: pulumi.Output<string | undefined>;
  declare readonly size: pulumi.Output<ComputeSize | undefined>;
  declare readonly scaleToZero: pulumi.Output<boolean | { afterSeconds: number } | undefined>;
  declare readonly poolerEnabled: pulumi.Output<boolean | undefined>;
  declare readonly poolerMode: pulumi.Output<string | undefined>;
  declare readonly disabled: pulumi.Output<boolean | undefined>;
  declare readonly passwordlessAccess: pulumi.Output<boolean | undefined>;
  declare readonly regionId: pulumi.Output<string | undefined>;
  declare readonly provisioner: pulumi.Output<string | undefined>;
  declare readonly settings: pulumi.Output<ComputeSettings | undefined>;
  declare readonly restartTriggers: pulumi.Output<unknown[] | undefined>;
  declare readonly adopt: pulumi.Output<boolean | string | undefined>;
  declare readonly endpointId: pulumi.Output<string>;
  declare readonly host: pulumi.Output<string>;
  declare readonly pooledHost: pulumi.Output<string>;
  declare readonly proxyHost: pulumi.Output<string>;
  declare readonly autoscalingLimitMinCu: pulumi.Output<number | undefined>;
  declare readonly autoscalingLimitMaxCu: pulumi.Output<number | undefined>;
  declare readonly suspendTimeoutSeconds: pulumi.Output<number | undefined>;
  declare readonly maxConnections: pulumi.Output<ComputeEndpointOutputs["maxConnections"]>;
  declare readonly creationSource: pulumi.Output<string | undefined>;
  declare readonly createdAt: pulumi.Output<string | undefined>;

  constructor(name: string, args: ComputeEndpointArgs, opts?: pulumi.CustomResourceOptions) {
    super(
      { kind: "ComputeEndpoint", args: COMPUTE_ENDPOINT_ARGS, outputs: OUTPUTS, deleteBeforeReplace: true },
      name,
      args,
      opts,
    );
    // From the id, which stays known in the preview of a change (an output does not).
    this.endpointId = this.id.apply((id) => id.slice(id.indexOf("/") + 1));
  }

  /** Looks a compute up by its id `<project>/<endpoint id>`; it is not managed then. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): ComputeEndpoint {
    return new ComputeEndpoint(name, NO_ARGUMENTS, { ...opts, id });
  }
}
