import type { Call } from "../dynamic/lifecycle";

/**
 * The branch that the service flags as default: the production branch of service.md 4.1.
 * @throws when the service has no list of branches (it is not part of service.md), or none of them is the default.
 */
export async function defaultBranchId(
  { client, deadline }: Pick<Call<never>, "client" | "deadline">,
  projectId: string,
) {
  const branches = await client.listBranches(projectId, { deadline });
  const branch = branches?.find((candidate) => candidate.default === true);
  if (branch !== undefined) return branch.id;
  throw new Error(
    branches === undefined
      ? 'this service does not list branches, so the default one cannot be looked up. Give "branchId"'
      : 'no branch of the project is flagged as default. Give "branchId"',
  );
}
