/** Messages about a branch that the service refuses or does not have: they name the existing branches. */
import { BadRequestError, NotFoundError, type BranchRecord } from "../../client";
import { isSameName } from "../../contract/forms";
import type { Call, Look } from "../../runtime/lifecycle";
import { withProjectAdvice } from "./hiddenProject";
import { listed } from "../../contract/untrusted";

const MOST_NAMED = 20;
const LONGEST_NAME = 64;

interface SentBranch {
  readonly projectId: string;
  readonly branchId: string;
  readonly mustBeDefault?: boolean;
}

/**
 * Adds to the error of a request that sent a branch. If the refused branch is not in the project's list, or is not the
 * default one that `mustBeDefault` requires, the error names the branches. This costs a read, only after a refusal.
 */
export async function namingBranches(
  call: Call<never>,
  error: unknown,
  { projectId, branchId, mustBeDefault = false }: SentBranch,
): Promise<unknown> {
  const isRefusal = error instanceof NotFoundError || (mustBeDefault && error instanceof BadRequestError);
  if (!isRefusal) return error;
  // Without the list there is nothing to add: the refusal itself is reported.
  const branches = (await call.client.projects.branches(projectId, call).catch(() => undefined)) ?? [];
  if (branches.length === 0) return withProjectAdvice(call, projectId)(error).catch((explained: unknown) => explained);
  const missing = missingBranch(projectId, branchId, branches);
  if (missing !== undefined) return new Error(`${error.message}: ${missing}`, { cause: error });
  const defaults = branches.filter((branch) => branch.default === true);
  if (!mustBeDefault || defaults.length === 0 || defaults.some(({ id }) => isSameName(id, branchId))) return error;
  return new Error(
    `${error.message}. ${branchId} is not the default branch of the project: it has ${listedBranches(branches)}`,
    { cause: error },
  );
}

/** For the plan and for a refusal. Undefined if it is listed, or if the service does not list branches (`branches`). */
export function missingBranch(
  projectId: string,
  branchId: string,
  branches: readonly BranchRecord[] | undefined,
): string | undefined {
  if (branches === undefined || branches.some(({ id }) => isSameName(id, branchId))) return undefined;
  const known = branches.length === 0 ? "none" : listedBranches(branches);
  return `project ${projectId} has no branch ${branchId}. It has ${known}: "branchId" takes the id, not the name`;
}

function listedBranches(branches: readonly BranchRecord[]): string {
  const named = branches.map(({ id, name, default: isDefault }) => {
    const facts = [
      ...(name === undefined || name === id ? [] : [`"${name.slice(0, LONGEST_NAME)}"`]),
      ...(isDefault === true ? ["default"] : []),
    ];
    return facts.length === 0 ? id : `${id} (${facts.join(", ")})`;
  });
  return listed(named, MOST_NAMED);
}

/** The branches of the project that a resource is to be created in; undefined if the service does not list them. */
export const listBranches = ({ client, args, reading }: Look<object>): Promise<readonly BranchRecord[] | undefined> =>
  client.projects.branches(args.projectId, reading);
