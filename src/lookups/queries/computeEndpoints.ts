import type { EndpointRecord } from "../../client";
import { isSameName } from "../../contract/forms";
import { pooledHost } from "../../helpers/connectionUri";
import { fresh, type Query } from "./query";
import type { ComputeEndpointResult, GetComputeEndpointArgs, GetComputeEndpointsArgs } from "./types";

export const getComputeEndpointQuery: Query<GetComputeEndpointArgs, ComputeEndpointResult> = {
  name: "getComputeEndpoint",
  others: ["endpointId", "branchId"],
  find: async ({ client }, { projectId, endpointId, branchId }) => {
    if ((endpointId === undefined) === (branchId === undefined)) {
      throw new Error('give either "endpointId" or "branchId"');
    }
    const listed = await client.computes.list(projectId, fresh());
    const found =
      endpointId === undefined ? primaryOf(listed, branchId) : listed.find((candidate) => candidate.id === endpointId);
    if (found === undefined) throw new Error('the project has no compute with this "endpointId"');
    return toComputeEndpointResult(projectId, found);
  },
};

function primaryOf(listed: readonly EndpointRecord[], branchId: string | undefined): EndpointRecord {
  const ofBranch = listed.filter((candidate) => isSameName(candidate.branch_id, branchId ?? ""));
  const primary = ofBranch.find(({ type }) => type === "read_write");
  if (primary !== undefined) return primary;
  throw new Error(
    ofBranch.length === 0
      ? 'no compute of the project serves this "branchId"'
      : 'only read replicas serve this "branchId", no primary compute. Give the "endpointId" of one of them',
  );
}

export const getComputeEndpointsQuery: Query<GetComputeEndpointsArgs, ComputeEndpointResult[]> = {
  name: "getComputeEndpoints",
  others: ["branchId"],
  find: async ({ client }, { projectId, branchId }) => {
    const listed = await client.computes.list(projectId, fresh());
    return listed
      .filter((endpoint) => branchId === undefined || isSameName(endpoint.branch_id, branchId))
      .map((endpoint) => toComputeEndpointResult(projectId, endpoint));
  },
};

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
