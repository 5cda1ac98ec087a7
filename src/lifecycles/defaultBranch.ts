import type { Call } from "../dynamic/lifecycle";

/**
 * The branch that the service flags as default: the production branch.
 * @throws when the service has no list of branches, or none of them is the default.
 */
export async function defaultBranchId(
  call: Pick<Call<never>, "client" | "deadline" | "onProgress">,
  projectId: string,
): Promise<string> {
  const branches = await call.client.projects.branches(projectId, call);
  const branch = branches?.find((candidate) => candidate.default === true);
  if (branch !== undefined) return branch.id;
  throw new Error(
    branches === undefined
      ? 'this service does not list branches, so the default one cannot be looked up. Give "branchId"'
      : 'no branch of the project is flagged as default. Give "branchId"',
  );
}
