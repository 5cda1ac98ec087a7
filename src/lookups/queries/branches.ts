import type { BranchRecord } from "../../client";
import { fresh, type Query } from "./query";
import type { BranchResult, GetBranchesArgs, GetDefaultBranchArgs } from "./types";

export const getBranchesQuery: Query<GetBranchesArgs, BranchResult[]> = {
  name: "getBranches",
  others: [],
  find: async ({ client }, { projectId }) => toBranchResults(await client.projects.branches(projectId, fresh())),
};

export const getDefaultBranchQuery: Query<GetDefaultBranchArgs, BranchResult> = {
  name: "getDefaultBranch",
  others: [],
  find: async ({ client }, { projectId }) => {
    const found = toBranchResults(await client.projects.branches(projectId, fresh())).find(
      (candidate) => candidate.default,
    );
    if (found === undefined) throw new Error("no branch of the project is flagged as default");
    return found;
  },
};

/** @throws when the service has no list of branches: docs/design/api.md, Projects and branches. */
function toBranchResults(branches: readonly BranchRecord[] | undefined): BranchResult[] {
  if (branches === undefined) throw new Error("this service does not list branches");
  return branches.map((branch) => ({
    branchId: branch.id,
    name: branch.name,
    default: branch.default === true,
    currentState: branch.current_state,
    createdAt: branch.created_at,
  }));
}
