/** What is read before anything is changed: whether the run may begin, and what an earlier one has left behind. */
import { AuthenticationError, type BranchRecord, type Client, NotFoundError, undefinedIfNotShown } from "../../client";
import { PARTS, type Part } from "./flags";

/** Everything that a run makes contains it, so that a person recognises what was left behind. */
export const PREFIX = "pulumi-svc-verify-";

export interface Target {
  readonly projectId: string;
  readonly branchId: string;
  readonly authBranchId: string | undefined;
  readonly moveTo: string | undefined;
  readonly parts: readonly Part[];
}

export interface Before {
  /** Why the run may not begin. Empty: it may. */
  readonly obstacles: readonly string[];
  /** What the user should know. */
  readonly notes: readonly string[];
}

/** @throws if the project cannot be read. */
export async function lookBefore(client: Client, target: Target): Promise<Before> {
  const { projectId, branchId, moveTo, parts } = target;
  const computes = await client.computes.list(projectId).catch((error: unknown) => {
    if (error instanceof NotFoundError)
      throw new Error(`project ${projectId} does not exist, or the key cannot reach it: ${error.message}`);
    if (error instanceof AuthenticationError)
      throw new Error(`${error.message}. npx pulumi-svc doctor says where the key comes from`);
    throw error;
  });
  const branches = await client.projects.branches(projectId);
  const obstacles = branchObstacles(target, branches);
  const notes: string[] =
    branches === undefined ? ["the service does not list branches, so nobody checks that these exist"] : [];

  const isLeft = (name: string | undefined): boolean => name?.startsWith(PREFIX) === true;
  for (const { id, name, branch_id } of computes) {
    const inTheWay = parts.includes("compute") && [branchId, moveTo].includes(branch_id);
    const request = `DELETE /projects/${projectId}/endpoints/${id}`;
    if (isLeft(name)) {
      const text = `${id} on ${branch_id} is left from an earlier run (${name ?? ""}), or another one is running. By hand: ${request}`;
      (inTheWay ? obstacles : notes).push(text);
    } else if (inTheWay) {
      obstacles.push(
        `branch ${branch_id} has a compute (${id}). Give a throw-away branch without computes, or --part auth`,
      );
    }
  }
  if (parts.includes("auth")) obstacles.push(...(await integrationObstacles(client, projectId)));
  return { obstacles, notes };
}

function branchObstacles(
  { projectId, branchId, authBranchId, moveTo, parts }: Target,
  branches: readonly BranchRecord[] | undefined,
): string[] {
  const asked = [...new Set([branchId, authBranchId, moveTo].filter((id) => id !== undefined))];
  const missing = branches === undefined ? [] : asked.filter((id) => !branches.some((one) => one.id === id));
  if (missing.length > 0) {
    const known = (branches ?? []).map(({ id, name }) => (name === undefined ? id : `${id} (${name})`)).join(", ");
    return missing.map((id) => `project ${projectId} has no branch ${id}. It has ${known}`);
  }
  const byDefault = branches?.find((one) => one.default === true)?.id;
  if (!parts.includes("auth") || authBranchId !== undefined || byDefault === undefined || byDefault === branchId)
    return [];
  return [
    `an auth integration belongs to the default branch of a project, and ${branchId} is not it. ` +
      `Give --auth-branch ${byDefault} if its database may keep the schema svc_auth, --auth-branch ${branchId} to try this one, or --part compute`,
  ];
}

async function integrationObstacles(client: Client, projectId: string): Promise<string[]> {
  const integrations = (await undefinedIfNotShown(() => client.auth.integrations(projectId).list())) ?? [];
  const [first] = integrations;
  if (first === undefined) return [];
  const { auth_provider, branch_id } = first;
  const domains = (await undefinedIfNotShown(() => client.auth.domains(projectId).list())) ?? [];
  const mail = await undefinedIfNotShown(() => client.auth.emailServer(projectId));
  const isLeft = [...domains.map(({ domain }) => domain), mail?.host ?? ""].some((text) => text.includes(PREFIX));
  const what = `the project has an auth integration (${auth_provider} on ${branch_id})`;
  return [
    isLeft
      ? `${what}, which is left from an earlier run by its contents, or another run is using it. ` +
        `By hand, once nobody needs it: DELETE /projects/${projectId}/auth/integration/${auth_provider}`
      : `${what}. It stays as it is: give --part compute, or another project. ` +
        "An earlier run of this command that was killed may have left it: then delete it by hand",
  ];
}

/** For a message about what is asked. */
export const partsText = (parts: readonly Part[]): string =>
  parts.length === PARTS.length ? "computes and auth" : parts[0] === "compute" ? "computes" : "auth";
