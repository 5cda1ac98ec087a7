import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../dynamic/inputs";
import type { BranchResult } from "./branchResult";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";
import { toBranchResults } from "./toBranchResults";

export type GetDefaultBranchArgs = ProjectLookupArgs;

const branch = lookup<GetDefaultBranchArgs, BranchResult>("getDefaultBranch", [], async ({ reads }, { projectId }) => {
  const found = toBranchResults(await reads.branches(projectId)).find((candidate) => candidate.default);
  if (found === undefined) throw new Error("no branch of the project is flagged as default");
  return found;
});

/** The branch that the service flags as default: the production branch. It is an error when there is none. */
export function getDefaultBranch(args: GetDefaultBranchArgs, opts?: LookupOptions): Promise<BranchResult> {
  return branch.promise(args, opts);
}

/** As `getDefaultBranch`, with arguments that may not be known yet. */
export function getDefaultBranchOutput(
  args: ArgumentsOf<GetDefaultBranchArgs>,
  opts?: LookupOptions,
): pulumi.Output<BranchResult> {
  return branch.output(args, opts);
}
