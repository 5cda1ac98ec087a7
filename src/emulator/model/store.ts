import type { BranchRecord, EndpointRecord, IntegrationRecord, OperationRecord, ProjectRecord } from "./records";
import { notFound } from "../http/errors";

const UNFINISHED: ReadonlySet<string> = new Set(["scheduling", "running", "cancelling"]);

export const isUnfinished = (operation: OperationRecord): boolean => UNFINISHED.has(operation.status);

/** Every project the emulator knows. Looking up what is not there is answered with a 404. */
export class Store {
  private readonly byId = new Map<string, ProjectRecord>();
  private readonly listeners: (() => void)[] = [];

  get projects(): ProjectRecord[] {
    return [...this.byId.values()];
  }

  replaceAll(projects: ProjectRecord[]): void {
    this.byId.clear();
    for (const project of projects) this.byId.set(project.id, project);
    this.changed();
  }

  add(project: ProjectRecord): void {
    this.byId.set(project.id, project);
    this.changed();
  }

  has(projectId: string): boolean {
    return this.byId.has(projectId);
  }

  project(projectId: string): ProjectRecord {
    const project = this.byId.get(projectId);
    if (project === undefined) throw notFound("project not found");
    return project;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** To be called after records were changed in place. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }
}

export function findBranch(project: ProjectRecord, branchId: string): BranchRecord {
  const branch = project.branches.find(({ id }) => id === branchId);
  if (branch === undefined) throw notFound("branch not found");
  return branch;
}

export function findEndpoint(project: ProjectRecord, endpointId: string): EndpointRecord {
  const endpoint = project.endpoints.find(({ id }) => id === endpointId);
  if (endpoint === undefined) throw notFound("endpoint not found");
  return endpoint;
}

export function findIntegration(project: ProjectRecord, authProvider?: string): IntegrationRecord {
  const integration = project.integrations.find(
    ({ auth_provider }) => authProvider === undefined || auth_provider === authProvider,
  );
  if (integration === undefined) throw notFound("the project has no auth integration");
  return integration;
}

export const primaryOf = (project: ProjectRecord, branchId: string): EndpointRecord | undefined =>
  project.endpoints.find((endpoint) => endpoint.branch_id === branchId && endpoint.type === "read_write");

/** What lives in an integration does not outlive it (docs/design/api.md, Auth integration). */
export function removeIntegration(project: ProjectRecord, authProvider: string): void {
  project.integrations = project.integrations.filter(({ auth_provider }) => auth_provider !== authProvider);
  project.key_sets = project.key_sets.filter(({ auth_provider }) => auth_provider !== authProvider);
  project.oauth_providers = [];
  project.domains = [];
  project.users = [];
  project.email_server = { type: "shared" };
}
