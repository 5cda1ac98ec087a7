import type * as pulumi from "@pulumi/pulumi";
import type { ArgumentsOf } from "../program/inputs";
import { getBranchesQuery, getDefaultBranchQuery } from "./queries/branches";
import type { BranchResult, GetBranchesArgs, GetDefaultBranchArgs } from "./queries/types";
import { lookup } from "./lookup";
import type { LookupOptions } from "./lookupOptions";

const branches = lookup(getBranchesQuery);

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

const branch = lookup(getDefaultBranchQuery);

/** The branch that the service flags as default: the production branch. It is an error if there is none. */
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
