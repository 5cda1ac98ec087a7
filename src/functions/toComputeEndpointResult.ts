import type { EndpointRecord } from "../client";
import { pooledHost } from "../helpers/connectionUri";
import type { ComputeEndpointResult } from "./computeEndpointResult";

export function toComputeEndpointResult(projectId: string, endpoint: EndpointRecord): ComputeEndpointResult {
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
