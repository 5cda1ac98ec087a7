import type { BranchRecord } from "../client";
import type { BranchResult } from "./branchResult";

/** @throws when the service has no list of branches: docs/design/api.md, Projects and branches. */
export function toBranchResults(branches: readonly BranchRecord[] | undefined): BranchResult[] {
  if (branches === undefined) throw new Error("this service does not list branches");
  return branches.map((branch) => ({
    branchId: branch.id,
    name: branch.name,
    default: branch.default === true,
    currentState: branch.current_state,
    createdAt: branch.created_at,
  }));
}
