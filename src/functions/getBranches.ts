import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { BranchResult } from "./branchResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toBranchResults } from "./toBranchResults";

export type GetBranchesArgs = ProjectLookupArgs;

const branches = lookup<GetBranchesArgs, BranchResult[]>("getBranches", [], async ({ reads }, { projectId }) =>
  toBranchResults(await reads.branches(projectId)),
);

/** The branches of a project. */
export function getBranches(args: GetBranchesArgs, opts?: LookupOptions): Promise<BranchResult[]> {
  return branches.promise(args, opts);
}

/** As `getBranches`, with arguments that may not be known yet. */
export function getBranchesOutput(
  args: ArgumentsOf<GetBranchesArgs>,
  opts?: LookupOptions,
): pulumi.Output<BranchResult[]> {
  return branches.output(args, opts);
}
