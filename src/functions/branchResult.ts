import type { Branch } from "../client";

/** A branch of a project. */
export interface BranchResult {
  /** The branch's id (`br-…`). */
  branchId: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** Whether it is the one that an auth integration belongs to (service.md 4.1). */
  default: boolean;
  /** Such as `ready`; the service may know more. */
  currentState?: string | undefined;
  /** When it was made. ISO 8601, UTC. */
  createdAt?: string | undefined;
}

/** @throws when the service has no list of branches: it is not part of service.md. */
export function toBranchResults(branches: readonly Branch[] | undefined): BranchResult[] {
  if (branches === undefined) throw new Error("this service does not list branches");
  return branches.map((branch) => ({
    branchId: branch.id,
    name: branch.name,
    default: branch.default === true,
    currentState: branch.current_state,
    createdAt: branch.created_at,
  }));
}
