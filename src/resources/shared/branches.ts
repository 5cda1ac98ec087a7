/** Messages about a branch that the service does not take, or does not have: they name the branches that there are. */
import { BadRequestError, NotFoundError, type BranchRecord } from "../../client";
import type { Call, Finding, Look } from "../../host/lifecycle";
import { obstacle } from "../../host/lookAhead";
import { listed } from "./listed";

const MOST_NAMED = 20;
const LONGEST_NAME = 64;

interface SentBranch {
  readonly projectId: string;
  readonly branchId: string;
  readonly mustBeDefault?: boolean;
}

/**
 * The error of what has sent a branch. A refusal names the branches of the project where that one is not among them, or is
 * not the default one that `mustBeDefault` asks for. It costs a read, and only after a refusal.
 */
export async function namingBranches(
  call: Call<never>,
  error: unknown,
  { projectId, branchId, mustBeDefault = false }: SentBranch,
): Promise<unknown> {
  const isRefusal = error instanceof NotFoundError || (mustBeDefault && error instanceof BadRequestError);
  if (!isRefusal) return error;
  // Without the list there is nothing to add: the refusal is the news.
  const branches = (await call.client.projects.branches(projectId, call).catch(() => undefined)) ?? [];
  const reason = reasonAgainst(branches, branchId, mustBeDefault);
  if (reason === undefined) return error;
  return new Error(`${error.message}. ${reason}: it has ${listedBranches(branches)}`, { cause: error });
}

function reasonAgainst(
  branches: readonly BranchRecord[],
  branchId: string,
  mustBeDefault: boolean,
): string | undefined {
  if (branches.length === 0) return undefined;
  const found = branches.find(({ id }) => id === branchId);
  if (found === undefined) return `The project has no branch ${branchId}`;
  const hasDefault = branches.some((branch) => branch.default === true);
  if (!mustBeDefault || found.default === true || !hasDefault) return undefined;
  return `${branchId} is not the default branch of the project`;
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

/** The branches of the project that a resource is to be created in; undefined where the service does not list them. */
export const listBranches = ({ client, args, reading }: Look<object>): Promise<readonly BranchRecord[] | undefined> =>
  client.projects.branches(args.projectId, reading);

export const missingBranch = (projectId: string, branchId: string, branches: readonly BranchRecord[]): Finding =>
  obstacle(
    `project ${projectId} has no branch ${branchId}. It has ${branches.length === 0 ? "none" : listedBranches(branches)}: "branchId" takes the id, not the name`,
  );
