import type * as pulumi from "@pulumi/pulumi";
import type { EndpointRecord } from "../client";
import type { ArgumentsOf } from "../program/inputs";
import { pooledHost } from "../helpers/connectionUri";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

/** A compute as the service shows it (docs/design/api.md, Compute record), with its current state. */
export interface ComputeEndpointResult {
  /** The project it belongs to. */
  projectId: string;
  /** The compute's id (`ep-…`). */
  endpointId: string;
  /** The branch it serves (`br-…`). */
  branchId: string;
  /** `read_write` for the branch's primary, `read_only` for a replica. */
  type: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** The host name to connect to. */
  host: string;
  /** The host name of the connection pooler. */
  pooledHost: string;
  /** The host name that `host` ends in: `<endpoint id>.<proxy host>`. */
  proxyHost?: string | undefined;
  /** The project's region. */
  regionId?: string | undefined;
  /** The smallest size in compute units (CU); equal to the largest for a fixed size. */
  autoscalingLimitMinCu?: number | undefined;
  /** The largest size in CU. */
  autoscalingLimitMaxCu?: number | undefined;
  /**
   * The number of seconds without a query after which it is suspended. 0: the service's default of 300 s; -1: never.
   */
  suspendTimeoutSeconds?: number | undefined;
  /** Whether the connection pooler is on. */
  poolerEnabled?: boolean | undefined;
  /** How the pooler shares connections, such as `transaction`. */
  poolerMode?: string | undefined;
  /** A disabled compute is suspended, and no query wakes it. */
  disabled?: boolean | undefined;
  /** Whether the service allows access to it without a password. */
  passwordlessAccess?: boolean | undefined;
  /** The kind of infrastructure at the service that runs it. */
  provisioner?: string | undefined;
  /** What it was created with, such as `console`. */
  creationSource?: string | undefined;
  /** `init`, `active` or `idle`; the service may have others. */
  currentState: string;
  /** The state that it is changing to. */
  pendingState?: string | undefined;
  /** The time of its last use; absent if it was never used. ISO 8601, UTC, like all times here. */
  lastActive?: string | undefined;
  /** The time since which it is idle. */
  suspendedAt?: string | undefined;
  /** The time of its creation. */
  createdAt?: string | undefined;
  /** The time of its last change. */
  updatedAt?: string | undefined;
}

export interface GetComputeEndpointArgs extends ProjectLookupArgs {
  /** The compute (`ep-…`). Give this or `branchId`. */
  endpointId?: string;
  /** The branch (`br-…`) whose primary compute to look up. Give this or `endpointId`. */
  branchId?: string;
}

const endpoint = lookup<GetComputeEndpointArgs, ComputeEndpointResult>(
  "getComputeEndpoint",
  ["endpointId", "branchId"],
  async ({ client }, { projectId, endpointId, branchId }) => {
    if ((endpointId === undefined) === (branchId === undefined)) {
      throw new Error('give either "endpointId" or "branchId"');
    }
    const listed = await client.computes.list(projectId, fresh());
    const found =
      endpointId === undefined ? primaryOf(listed, branchId) : listed.find((candidate) => candidate.id === endpointId);
    if (found === undefined) throw new Error('the project has no compute with this "endpointId"');
    return toComputeEndpointResult(projectId, found);
  },
);

function primaryOf(listed: readonly EndpointRecord[], branchId: string | undefined): EndpointRecord {
  const ofBranch = listed.filter((candidate) => candidate.branch_id === branchId);
  const primary = ofBranch.find(({ type }) => type === "read_write");
  if (primary !== undefined) return primary;
  throw new Error(
    ofBranch.length === 0
      ? 'no compute of the project serves this "branchId"'
      : 'only read replicas serve this "branchId", no primary compute. Give the "endpointId" of one of them',
  );
}

/** One compute: by its id, or the primary of a branch. It is an error if there is none. */
export function getComputeEndpoint(args: GetComputeEndpointArgs, opts?: LookupOptions): Promise<ComputeEndpointResult> {
  return endpoint.promise(args, opts);
}

/** As `getComputeEndpoint`, with arguments that may not be known yet. */
export function getComputeEndpointOutput(
  args: ArgumentsOf<GetComputeEndpointArgs>,
  opts?: LookupOptions,
): pulumi.Output<ComputeEndpointResult> {
  return endpoint.output(args, opts);
}

export interface GetComputeEndpointsArgs extends ProjectLookupArgs {
  /** Only those of this branch (`br-…`). */
  branchId?: string;
}

const endpoints = lookup<GetComputeEndpointsArgs, ComputeEndpointResult[]>(
  "getComputeEndpoints",
  ["branchId"],
  async ({ client }, { projectId, branchId }) => {
    const listed = await client.computes.list(projectId, fresh());
    return listed
      .filter((endpoint) => branchId === undefined || endpoint.branch_id === branchId)
      .map((endpoint) => toComputeEndpointResult(projectId, endpoint));
  },
);

/** The computes of a project, in the order of the service: distinguish them by `type`, not by their position. */
export function getComputeEndpoints(
  args: GetComputeEndpointsArgs,
  opts?: LookupOptions,
): Promise<ComputeEndpointResult[]> {
  return endpoints.promise(args, opts);
}

/** As `getComputeEndpoints`, with arguments that may not be known yet. */
export function getComputeEndpointsOutput(
  args: ArgumentsOf<GetComputeEndpointsArgs>,
  opts?: LookupOptions,
): pulumi.Output<ComputeEndpointResult[]> {
  return endpoints.output(args, opts);
}

function toComputeEndpointResult(projectId: string, endpoint: EndpointRecord): ComputeEndpointResult {
  return {
    projectId,
    endpointId: endpoint.id,
    branchId: endpoint.branch_id,
    type: endpoint.type,
    name: endpoint.name,
    host: endpoint.host,
    pooledHost: pooledHost(endpoint.host),
    proxyHost: endpoint.proxy_host,
    regionId: endpoint.region_id,
    autoscalingLimitMinCu: endpoint.autoscaling_limit_min_cu,
    autoscalingLimitMaxCu: endpoint.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: endpoint.suspend_timeout_seconds,
    poolerEnabled: endpoint.pooler_enabled,
    poolerMode: endpoint.pooler_mode,
    disabled: endpoint.disabled,
    passwordlessAccess: endpoint.passwordless_access,
    provisioner: endpoint.provisioner,
    creationSource: endpoint.creation_source,
    currentState: endpoint.current_state,
    pendingState: endpoint.pending_state,
    lastActive: endpoint.last_active,
    suspendedAt: endpoint.suspended_at,
    createdAt: endpoint.created_at,
    updatedAt: endpoint.updated_at,
  };
}
