import { type Account, listsOf } from "../account";
import type { Deadline } from "../http/deadline";
import { PermissionError } from "../http/errors";
import { newestOf } from "../operations/waits";
import { isRouteMissing, type ListOptions } from "../reads/absence";
import type { Waiting } from "../reads/sharedReads";
import { bodies, type BranchRecord, type OperationRecord, type ProjectRecord } from "./records";

/** Projects, their branches and operations: routes that not every service has. */
export class ProjectsApi {
  readonly #account: Account;
  /** Routes found to be missing, with their project. */
  readonly #missing = new Set<string>();
  /** Routes that have answered, with their project. */
  readonly #there = new Set<string>();

  constructor(account: Account) {
    this.#account = account;
  }

  /** Undefined: the service has no such route. */
  async branches(projectId: string, options?: ListOptions): Promise<readonly BranchRecord[] | undefined> {
    return this.#optional("branches", projectId, options, () =>
      listsOf(this.#account, projectId).branches.list(options),
    );
  }

  /** Undefined: the service has no such route. */
  async get(projectId: string, options?: Waiting): Promise<ProjectRecord | undefined> {
    const read = () => this.#account.one("project", projectId, bodies.project, options);
    return (await this.#optional("project", projectId, options, read))?.project;
  }

  /** The newest operations of the project, newest first; undefined: the service has no such route, or the key may not use it. */
  async operations(projectId: string, options?: ListOptions): Promise<readonly OperationRecord[] | undefined> {
    const read = () => listsOf(this.#account, projectId).operations.list(options);
    return this.#optional("operations", projectId, options, read);
  }

  /** One attempt, for a loop that makes the next one by itself. */
  async operationsNow(projectId: string, request: OneAttempt): Promise<readonly OperationRecord[] | undefined> {
    return this.#optional("operations", projectId, request, async () => {
      const template = "/projects/{project_id}/operations";
      const query = "limit=100";
      return (await this.#account.requests.read({ ...request, template, query }, bodies.operations)).operations;
    });
  }

  /** The newest operation that changed this compute; undefined: there is none, or none can be seen. */
  async newestOperation(projectId: string, endpointId: string, options?: ListOptions) {
    return newestOf(endpointId, (await this.operations(projectId, options)) ?? []);
  }

  async #optional<T>(route: string, projectId: string, waiting: Waiting = {}, read: () => Promise<T>) {
    const key = `${route} ${projectId}`;
    if (this.#missing.has(key)) return undefined;
    if (this.#there.has(key)) return read();
    for (const isLast of [false, true]) {
      try {
        const value = await read();
        this.#there.add(key);
        return value;
      } catch (error) {
        if (!isRouteMissing(error) && !(error instanceof PermissionError)) throw error;
        // For a project that does not exist this throws, and says so. What passes is asked once more.
        if (!isLast) await listsOf(this.#account, projectId).endpoints.list({ deadline: waiting.deadline });
      }
    }
    this.#missing.add(key);
    return undefined;
  }
}

/** What is the same in each look of a loop. */
export interface OneAttempt {
  method: "GET";
  params: { project_id: string };
  retry: false;
  deadline: Deadline;
}
