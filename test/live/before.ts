/** What is read before anything is changed: whether the run may begin, and what an earlier one has left behind. */
import type { AuthIntegrationRecord, BranchRecord, Client } from "../../src/client";
import { undefinedIfNotShown } from "../../src/client";
import type { Kind } from "../../src/contract/pointer";
import type { Part } from "./kinds";

/** Everything that a run makes contains it, so that a person recognises what was left behind, and `--clean` removes it. */
export const PREFIX = "pulumi-svc-live-";

export interface Target {
  readonly projectId: string;
  /** Undefined: nobody has said which. */
  readonly branchId: string | undefined;
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

/** What an earlier run has left: what has the prefix, or contains something with it. */
export interface Leftover {
  readonly kind: Kind;
  /** The Pulumi id. */
  readonly id: string;
  /** For people. */
  readonly what: string;
  /** Of an integration, whose id somebody else's may have, too. */
  readonly identity?: string;
}

const CLEAN = "npm run test:live -- --clean removes it, unless another run is using it";

/** @throws if the project cannot be read. */
export async function lookBefore(client: Client, target: Target): Promise<Before> {
  const { projectId, branchId, moveTo, parts } = target;
  const computes = await client.computes.list(projectId);
  const branches = await client.projects.branches(projectId);
  const obstacles = branchObstacles(target, branches);
  const notes: string[] =
    branches === undefined ? ["the service does not list branches, so nobody checks that these exist"] : [];
  const left = await leftovers(client, target);
  for (const { id, branch_id } of computes) {
    const isInTheWay = parts.includes("compute") && [branchId, moveTo].includes(branch_id);
    const leftover = left.find((one) => one.id === `${projectId}/${id}`);
    if (leftover !== undefined)
      (isInTheWay ? obstacles : notes).push(`${leftover.what} is left from an earlier run. ${CLEAN}`);
    else if (isInTheWay)
      obstacles.push(
        `branch ${branch_id} has a compute (${id}). Give a throw-away branch without computes, or --part auth`,
      );
  }
  const integration = parts.includes("auth") ? await integrationOf(client, projectId) : undefined;
  if (integration !== undefined) {
    const { auth_provider: provider, branch_id: on } = integration;
    const isLeft = left.some(({ kind }) => kind === "AuthIntegration");
    const why = isLeft
      ? `left from an earlier run by its contents. ${CLEAN}`
      : "and it stays as it is: give --part compute, or another project. An earlier run that was killed may have left it: " +
        `then DELETE /projects/${projectId}/auth/integration/${provider} by hand`;
    obstacles.push(`the project has an auth integration (${provider} on ${on}), ${why}`);
  }
  return { obstacles, notes };
}

function branchObstacles(target: Target, branches: readonly BranchRecord[] | undefined): string[] {
  const { projectId, branchId, authBranchId, moveTo, parts } = target;
  const known = (branches ?? []).map(({ id, name }) => (name === undefined ? id : `${id} (${name})`)).join(", ");
  if (branchId === undefined)
    return [
      `--branch has to name a throw-away branch without computes. Project ${projectId} has ${known || "no list of them"}`,
    ];
  const asked = [...new Set([branchId, authBranchId, moveTo].filter((id) => id !== undefined))];
  const missing = branches === undefined ? [] : asked.filter((id) => !branches.some((one) => one.id === id));
  if (missing.length > 0) return missing.map((id) => `project ${projectId} has no branch ${id}. It has ${known}`);
  const byDefault = branches?.find((one) => one.default === true)?.id;
  if (!parts.includes("auth") || authBranchId !== undefined || byDefault === undefined || byDefault === branchId)
    return [];
  return [
    `an auth integration belongs to the default branch of a project, and ${branchId} is not it. ` +
      `Give --auth-branch ${byDefault} if its database may keep the schema svc_auth, --auth-branch ${branchId} to try this one, or --part compute`,
  ];
}

/** Reads only. Nothing shows who made an integration: it counts as left if something in it has the prefix. */
export async function leftovers(client: Client, { projectId, parts }: Target): Promise<Leftover[]> {
  const left = await computesNamed(client, projectId, PREFIX);
  const integration = parts.includes("auth") ? await integrationOf(client, projectId) : undefined;
  if (integration === undefined) return left;
  const fresh = { since: performance.now() };
  const domains = (await undefinedIfNotShown(() => client.auth.domains(projectId).list(fresh))) ?? [];
  const mail = await undefinedIfNotShown(() => client.auth.emailServer(projectId, fresh));
  if (![...domains.map(({ domain }) => domain), mail?.host ?? ""].some(hasPrefix)) return left;
  const { auth_provider: provider, branch_id: on, auth_provider_project_id: identity } = integration;
  const what = `the auth integration (${provider} on ${on}) with everything in it, also users, which nobody can list`;
  return [...left, { kind: "AuthIntegration", id: `${projectId}/${provider}`, what, identity }];
}

/** The computes whose name begins so. */
export async function computesNamed(client: Client, projectId: string, begin: string): Promise<Leftover[]> {
  const listed = await client.computes.list(projectId, { since: performance.now() });
  return listed.flatMap(({ id, name = "", branch_id: on }) => {
    const leftover = { kind: "ComputeEndpoint", id: `${projectId}/${id}`, what: `${id} on ${on} (${name})` } as const;
    return name.startsWith(begin) ? [leftover] : [];
  });
}

export const hasPrefix = (text: string): boolean => text.toLowerCase().includes(PREFIX);

async function integrationOf(client: Client, projectId: string): Promise<AuthIntegrationRecord | undefined> {
  const fresh = { since: performance.now() };
  return (await undefinedIfNotShown(() => client.auth.integrations(projectId).list(fresh)))?.[0];
}
