import { newEndpointId } from "./identifiers";
import type { BranchRecord, EndpointRecord, OAuthProviderRecord, ProjectRecord } from "./records";

export const DEMO_PROJECT_ID = "prj-demo";
export const DEMO_REGION_ID = "aws-us-east-1";
const DEMO_PRIMARY_ID = "ep-demo-main-10000001";
/** In the past, so that a list that lags still shows what was there from the start. */
const SEEDED_AT = "2025-01-01T00:00:00.000Z";

export interface BranchPlan {
  id: string;
  name: string;
  default: boolean;
  /** Whether it starts with an active primary compute. */
  compute: boolean;
}

export interface ProjectPlan {
  id: string;
  name: string;
  region_id: string;
  branches: BranchPlan[];
}

/** The three branches of the demo project; elsewhere the project's id is appended, so that an id names one branch only. */
export const standardBranches = (projectId: string): BranchPlan[] =>
  ["main", "dev", "test"].map((name) => ({
    id: projectId === DEMO_PROJECT_ID ? `br-${name}` : `br-${name}-${projectId}`,
    name,
    default: name === "main",
    compute: name === "main",
  }));

export function createEndpoint(
  project: Pick<ProjectRecord, "id" | "region_id">,
  branchId: string,
  type: EndpointRecord["type"],
  createdAt: string,
  id = newEndpointId(),
): EndpointRecord {
  const proxyHost = `${project.region_id}.svc.localhost`;
  return {
    id,
    host: `${id}.${proxyHost}`,
    project_id: project.id,
    branch_id: branchId,
    autoscaling_limit_min_cu: 0.25,
    autoscaling_limit_max_cu: 2,
    region_id: project.region_id,
    type,
    current_state: "init",
    settings: {},
    pooler_enabled: false,
    pooler_mode: "transaction",
    disabled: false,
    passwordless_access: true,
    creation_source: "console",
    created_at: createdAt,
    updated_at: createdAt,
    proxy_host: proxyHost,
    suspend_timeout_seconds: 0,
    provisioner: "k8s-pod",
  };
}

export function createProject(plan: ProjectPlan): ProjectRecord {
  const branches: BranchRecord[] = plan.branches.map(({ id, name, default: isDefault }) => ({
    id,
    name,
    default: isDefault,
    created_at: SEEDED_AT,
  }));
  const endpoints = plan.branches
    .filter(({ compute }) => compute)
    .map(({ id: branchId }): EndpointRecord => {
      const id = plan.id === DEMO_PROJECT_ID && branchId === "br-main" ? DEMO_PRIMARY_ID : newEndpointId();
      const endpoint = createEndpoint(plan, branchId, "read_write", SEEDED_AT, id);
      return { ...endpoint, current_state: "active", last_active: SEEDED_AT };
    });
  return {
    id: plan.id,
    name: plan.name,
    region_id: plan.region_id,
    created_at: SEEDED_AT,
    branches,
    endpoints,
    deleted_endpoints: [],
    operations: [],
    integrations: [],
    key_sets: [],
    oauth_providers: [],
    domains: [],
    users: [],
    email_server: { type: "shared" },
    kept_schemas: [],
  };
}

/** A fresh integration offers these two with the service's own keys (docs/design/api.md, OAuth providers). */
export const sharedOAuthProviders = (): OAuthProviderRecord[] =>
  ["google", "github"].map((id) => ({ id, type: "shared", created_at: SEEDED_AT }));
