import type { Account } from "../account";
import { BadResponseError, PermissionError } from "../http/errors";
import { newestOf } from "../operations/waits";
import { isGoneStatus, isRouteMissing, type ListOptions } from "../reads/absence";
import type { BranchRecord, OperationRecord } from "./records";

/** Routes that not every service has. */
export class ProjectsApi {
  /** Whether a route has answered or was found to be missing, by its name and project. */
  readonly #known = new Map<string, "there" | "missing">();

  constructor(private readonly account: Account) {}

  /** Undefined: the service has no such route. */
  async branches(projectId: string, options: ListOptions = {}): Promise<readonly BranchRecord[] | undefined> {
    return this.#optional("branches", projectId, options, () => this.account.list("branches", projectId).list(options));
  }

  /** The newest first; undefined: the service has no such route, or the key may not use it. */
  async operations(projectId: string, options: ListOptions = {}): Promise<readonly OperationRecord[] | undefined> {
    const read = () => this.account.list("operations", projectId).list(options);
    return this.#optional("operations", projectId, options, read);
  }

  /** The same by one attempt, for a loop that makes the next one by itself. It goes on where something in front answers 404. */
  async operationsNow(projectId: string): Promise<readonly OperationRecord[] | undefined> {
    return this.#optional("operations", projectId, {}, () => this.account.look("operations", projectId), true);
  }

  /** The newest operation that changed this compute; undefined: there is none, or none can be seen. */
  async newestOperation(projectId: string, endpointId: string, options?: ListOptions) {
    return newestOf(endpointId, (await this.operations(projectId, options)) ?? []);
  }

  async #optional<T>(
    route: string,
    projectId: string,
    { deadline }: ListOptions,
    read: () => Promise<T>,
    goesOn = false,
  ): Promise<T | undefined> {
    const key = `${route} ${projectId}`;
    const known = this.#known.get(key);
    if (known === "missing") return undefined;
    if (known === "there") return read();
    let isForeign = false;
    for (const isLast of [false, true]) {
      try {
        const value = await read();
        this.#known.set(key, "there");
        return value;
      } catch (error) {
        isForeign = goesOn && error instanceof BadResponseError && isGoneStatus(error.status ?? 0);
        if (!isRouteMissing(error) && !(error instanceof PermissionError) && !isForeign) throw error;
        // For a project that does not exist this throws, and says so. What passes is asked once more.
        if (!isLast) await this.account.list("endpoints", projectId).list({ deadline });
      }
    }
    // What is not the service's word is not remembered.
    if (!isForeign) this.#known.set(key, "missing");
    return undefined;
  }
}
