import type { StoredBranch, StoredEndpoint, StoredIntegration, StoredProject } from "./records";
import { invalid, notFound } from "./refusal";

/** The emulator's projects. A look-up fails if the object does not exist. */
export class Store {
  private readonly byId = new Map<string, StoredProject>();
  private readonly listeners: (() => void)[] = [];
  private readonly followers: (() => Promise<void>)[] = [];

  get projects(): StoredProject[] {
    return [...this.byId.values()];
  }

  replaceAll(projects: StoredProject[]): void {
    this.byId.clear();
    for (const project of projects) this.byId.set(project.id, project);
    this.changed();
  }

  add(project: StoredProject): void {
    this.byId.set(project.id, project);
    this.changed();
  }

  has(projectId: string): boolean {
    return this.byId.has(projectId);
  }

  project(projectId: string): StoredProject {
    const project = this.byId.get(projectId);
    if (project === undefined) throw notFound("project not found");
    return project;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Call after changing records in place. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** `shown` resolves when something outside of the model shows it. It takes limited time, and never fails. */
  onAnswer(shown: () => Promise<void>): void {
    this.followers.push(shown);
  }

  /** Before a change is answered. */
  async shown(): Promise<void> {
    await Promise.all(this.followers.map((follower) => follower()));
  }
}

export function findBranch(project: StoredProject, branchId: string): StoredBranch {
  const branch = project.branches.find(({ id }) => id === branchId);
  if (branch === undefined) throw notFound("branch not found");
  return branch;
}

export function findEndpoint(project: StoredProject, endpointId: string): StoredEndpoint {
  const endpoint = project.endpoints.find(({ id }) => id === endpointId);
  if (endpoint === undefined) throw notFound("endpoint not found");
  return endpoint;
}

export function findIntegration(project: StoredProject, authProvider?: string): StoredIntegration {
  const integration = project.integrations.find(
    ({ auth_provider }) => authProvider === undefined || auth_provider === authProvider,
  );
  if (integration === undefined) throw notFound("the project has no auth integration");
  return integration;
}

/** The named project and its integration, otherwise the only project that has one. */
export function findNamedIntegration(store: Store, projectId: string | undefined): [StoredProject, StoredIntegration] {
  const projects =
    projectId === undefined
      ? store.projects.filter(({ integrations }) => integrations.length > 0)
      : [store.project(projectId)];
  const [project, second] = projects;
  if (project === undefined) throw notFound("no project has an auth integration");
  if (second !== undefined) throw invalid("several projects have an auth integration: give a project_id");
  return [project, findIntegration(project)];
}
