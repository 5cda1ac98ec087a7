import type * as pulumi from "@pulumi/pulumi";
import type { BranchRecord } from "../client";
import type { ArgumentsOf } from "../program/inputs";
import { fresh } from "./account";
import { lookup } from "./lookup";
import type { LookupOptions, ProjectLookupArgs } from "./lookupOptions";

/** A branch of a project. */
export interface BranchResult {
  /** The branch's id (`br-…`). */
  branchId: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** Whether it is the one that an auth integration belongs to (docs/design/api.md, Auth integration). */
  default: boolean;
  /** A state such as `ready`; the service may have others. */
  currentState?: string | undefined;
  /** The time of its creation. ISO 8601, UTC. */
  createdAt?: string | undefined;
}

export type GetBranchesArgs = ProjectLookupArgs;

const branches = lookup<GetBranchesArgs, BranchResult[]>("getBranches", [], async ({ client }, { projectId }) =>
  toBranchResults(await client.projects.branches(projectId, fresh())),
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

export type GetDefaultBranchArgs = ProjectLookupArgs;

const branch = lookup<GetDefaultBranchArgs, BranchResult>("getDefaultBranch", [], async ({ client }, { projectId }) => {
  const found = toBranchResults(await client.projects.branches(projectId, fresh())).find(
    (candidate) => candidate.default,
  );
  if (found === undefined) throw new Error("no branch of the project is flagged as default");
  return found;
});

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
