import { newEndpoint } from "./computes";
import { emptyLists, SEEDED_AT, type StoredEndpoint, type StoredProject } from "./records";

export const DEMO_PROJECT_ID = "prj-demo";
export const DEMO_REGION_ID = "aws-us-east-1";
const DEMO_PRIMARY_ID = "ep-demo-main-10000001";

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

/** The three branches of the demo project; for other projects the id is appended, so that branch ids are unique. */
export const standardBranches = (projectId: string): BranchPlan[] =>
  ["main", "dev", "test"].map((name) => ({
    id: projectId === DEMO_PROJECT_ID ? `br-${name}` : `br-${name}-${projectId}`,
    name,
    default: name === "main",
    compute: name === "main",
  }));

export function newProject({ id, name, region_id, branches }: ProjectPlan): StoredProject {
  const endpoints = branches
    .filter(({ compute }) => compute)
    .map(({ id: branchId }): StoredEndpoint => {
      const isDemo = id === DEMO_PROJECT_ID && branchId === "br-main";
      const endpoint = newEndpoint({
        project: { id, region_id },
        branchId,
        type: "read_write",
        id: isDemo ? DEMO_PRIMARY_ID : undefined,
        createdAt: SEEDED_AT,
      });
      return { ...endpoint, current_state: "active", last_active: SEEDED_AT };
    });
  return {
    id,
    name,
    region_id,
    created_at: SEEDED_AT,
    ...emptyLists(),
    branches: branches.map((branch) => ({
      id: branch.id,
      name: branch.name,
      default: branch.default,
      created_at: SEEDED_AT,
    })),
    endpoints,
    email_server: { type: "shared" },
  };
}
