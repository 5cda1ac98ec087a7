import type { Endpoint } from "../client";
import { pooledHost } from "../helpers/connectionUri";

/** A compute as it stands (service.md 2.7), with what changes by itself. */
export interface ComputeEndpointResult {
  projectId: string;
  /** `ep-…` */
  endpointId: string;
  /** `br-…` */
  branchId: string;
  /** `read_write` for the branch's primary, `read_only` for a replica. */
  type: string;
  name?: string | undefined;
  /** Where to connect. */
  host: string;
  /** The same through the connection pooler. */
  pooledHost: string;
  proxyHost?: string | undefined;
  regionId?: string | undefined;
  /** In compute units (CU); equal to the maximum for a fixed size. */
  autoscalingLimitMinCu?: number | undefined;
  autoscalingLimitMaxCu?: number | undefined;
  /** 0: the service's default of 300 s; -1: never. */
  suspendTimeoutSeconds?: number | undefined;
  poolerEnabled?: boolean | undefined;
  poolerMode?: string | undefined;
  disabled?: boolean | undefined;
  passwordlessAccess?: boolean | undefined;
  provisioner?: string | undefined;
  creationSource?: string | undefined;
  /** `init`, `active` or `idle`; the service may know more. */
  currentState: string;
  /** What it is on its way to. */
  pendingState?: string | undefined;
  /** All times are ISO 8601, UTC. Absent as long as it was never connected to. */
  lastActive?: string | undefined;
  /** Since when it is idle. */
  suspendedAt?: string | undefined;
  createdAt?: string | undefined;
  updatedAt?: string | undefined;
}

export function toComputeEndpointResult(projectId: string, endpoint: Endpoint): ComputeEndpointResult {
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
