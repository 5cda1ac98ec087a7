import type { Account } from "../account";
import type { ListOptions } from "../collection";
import { BadResponseError, PermissionError } from "../http/errors";
import { isGoneStatus } from "../http/responses";
import { Deadline } from "../http/deadline";
import { hasFailedChange, tellsOfChanges } from "../operations/waits";
import { Unknown } from "../proof";
import { isRouteMissing } from "../reads/absence";
import type { BranchRecord, EndpointRecord, OperationRecord } from "../records";

interface OptionalRead<T> extends Pick<ListOptions, "deadline"> {
  readonly route: string;
  readonly projectId: string;
  readonly read: () => Promise<T>;
  /** Returned for the 404 of a gateway, which is thrown otherwise. */
  readonly onGateway404?: T;
}

/** Whether these operations, the newest first, go back far enough. */
type IsEnough = (listed: readonly OperationRecord[]) => boolean;

/** Routes that some services lack. */
export class ProjectsApi {
  /** Whether a route has answered or was found to be missing, by its name and project. */
  readonly #known = new Map<string, "present" | "missing">();

  constructor(private readonly account: Account) {}

  /** Undefined: the service has no such route. */
  async branches(projectId: string, options: ListOptions = {}): Promise<readonly BranchRecord[] | undefined> {
    const read = () => this.account.collection("branches", projectId).list(options);
    return this.#readOptional({ route: "branches", projectId, deadline: options.deadline, read });
  }

  /** Undefined: the service has no such route, or does not show it. */
  async region(projectId: string, options: ListOptions = {}): Promise<string | undefined> {
    const read = () => this.account.collection("project", projectId).list(options);
    const found = await this.#readOptional({ route: "project", projectId, deadline: options.deadline, read });
    return found?.[0]?.region_id;
  }

  /**
   * The newest first; undefined: the service has no such route, or the key may not use it. `isEnough`: how far back they
   * are read. @default the first page
   */
  async operations(
    projectId: string,
    options: ListOptions = {},
    isEnough: IsEnough = () => true,
  ): Promise<readonly OperationRecord[] | undefined> {
    const read = async () => {
      const first = await this.account.collection("operations", projectId).page(options);
      const deadline = options.deadline ?? new Deadline(this.account.settings.readDeadlineMs);
      const { onProgress } = options;
      return this.account.readOn("operations", projectId, first, { deadline, onProgress, isEnough });
    };
    return this.#readOptional({ route: "operations", projectId, deadline: options.deadline, read });
  }

  /**
   * The same in one attempt, for a loop that retries itself. A gateway's 404 shows no operation, and says nothing about
   * the route.
   */
  async operationsOnce(projectId: string, isEnough: IsEnough): Promise<readonly OperationRecord[] | undefined> {
    const read = () => this.account.readOnce("operations", projectId, isEnough);
    return this.#readOptional({ route: "operations", projectId, read, onGateway404: [] });
  }

  /** Whether an effect of the last changes of a compute has failed. Unknown if no operations can be read. */
  async hasFailedChange(
    projectId: string,
    endpoint: EndpointRecord,
    options?: ListOptions,
  ): Promise<boolean | Unknown> {
    const isEnough = (listed: readonly OperationRecord[]): boolean => tellsOfChanges(endpoint, listed);
    const operations = await this.operations(projectId, options, isEnough);
    if (operations !== undefined) return hasFailedChange(endpoint, operations);
    return Unknown.because({
      question: `whether the last change of ${endpoint.id} has failed`,
      why: "the service does not show its operations to this key",
      waysOut: "Run pulumi up, which sends the change again",
    });
  }

  async #readOptional<T>({ route, projectId, deadline, read, onGateway404 }: OptionalRead<T>): Promise<T | undefined> {
    const key = `${route} ${projectId}`;
    const known = this.#known.get(key);
    if (known === "missing") return undefined;
    if (known === "present") return read();
    let isFromGateway = false;
    for (const isLast of [false, true]) {
      try {
        const value = await read();
        this.#known.set(key, "present");
        return value;
      } catch (error) {
        isFromGateway =
          onGateway404 !== undefined && error instanceof BadResponseError && isGoneStatus(error.status ?? 0);
        if (!isRouteMissing(error) && !(error instanceof PermissionError) && !isFromGateway) throw error;
        // Throws if the project does not exist. Otherwise the route is tried once more.
        if (!isLast) await this.account.collection("endpoints", projectId).list({ deadline });
      }
    }
    // A gateway's response is not remembered.
    if (isFromGateway) return onGateway404;
    this.#known.set(key, "missing");
    return undefined;
  }
}
