import type { Account } from "../account";
import type { EndpointRecord, OperationRecord } from "../api/records";
import type { Deadline } from "../http/deadline";
import { NotFoundError, NotStartingError, OperationFailedError, SvcError, WaitTimeoutError } from "../http/errors";
import type { Redactor } from "../http/redact";
import { SteadyObservation } from "../reads/absence";
import type { Condition, Snapshot } from "./watch";

const SUCCEEDED = new Set(["finished", "skipped"]);
const FAILED = new Set(["failed", "error", "cancelled"]);

const hasSucceeded = ({ status }: OperationRecord): boolean => SUCCEEDED.has(status);
export const hasFailed = ({ status }: OperationRecord): boolean => FAILED.has(status);
/** An unknown status counts as unfinished. */
const isUnfinished = (operation: OperationRecord): boolean => !hasSucceeded(operation) && !hasFailed(operation);

/** The newest operation that changed this compute. The list has the newest first. */
export function newestOperationOf(endpointId: string, listed: readonly OperationRecord[]): OperationRecord | undefined {
  // check_availability runs in the background and belongs to no change.
  return listed.find(({ endpoint_id, action }) => endpoint_id === endpointId && action !== "check_availability");
}

const seconds = (ms: number): number => Math.round(ms / 1000);
const describe = ({ id, action, status }: OperationRecord): string => `operation ${id} ${action} ${status}`;

function operationFailed(operation: OperationRecord, redactor: Redactor): OperationFailedError {
  const words = operation.error === undefined ? "" : `: ${redactor.clean(operation.error)}`;
  return new OperationFailedError(redactor.clean(describe(operation)) + words);
}

export interface AcceptedChange {
  readonly endpointId: string;
  /** Undefined: no change was sent, or its response had no body. */
  readonly endpoint?: EndpointRecord | undefined;
  /**
   * Undefined: the response named none, or maybe not all. Then those are followed that are listed as running, or that
   * began after `before`: earlier ones do not belong to the change.
   */
  readonly operations?: readonly OperationRecord[] | undefined;
}

interface AwaitedChange extends AcceptedChange {
  /** `updated_at` of the compute as it was read before the change. */
  readonly before?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** Follows the operations of one change of one compute, and reports them. */
abstract class OperationWait<Change extends AwaitedChange> {
  /** For messages: the last known state of the compute, and what to say where there is none. */
  protected abstract readonly lastSeen: string | undefined;
  protected abstract readonly neverSeen: string;
  protected readonly startedAt = performance.now();
  protected readonly steady: SteadyObservation;
  readonly #operations = new Map<string, OperationRecord>();

  constructor(
    protected readonly account: Pick<Account, "settings" | "redactor">,
    protected readonly change: Change,
  ) {
    this.steady = new SteadyObservation(account.settings.lagMs);
    this.#track(change.operations ?? []);
  }

  protected get mayLag(): boolean {
    return performance.now() - this.startedAt < this.account.settings.lagMs;
  }

  protected get unfinished(): OperationRecord | undefined {
    return [...this.#operations.values()].find(isUnfinished);
  }

  protected get failed(): OperationRecord | undefined {
    return [...this.#operations.values()].find(hasFailed);
  }

  /** There is at least one, and all have succeeded. */
  protected get haveSucceeded(): boolean {
    return this.#operations.size > 0 && [...this.#operations.values()].every(hasSucceeded);
  }

  /** Takes over what the list shows. An operation that it lacks stays as it was while lists may lag, and is then dropped. */
  protected updateOperations(listed: readonly OperationRecord[] | undefined): void {
    const { operations, endpointId, before } = this.change;
    if (operations === undefined) {
      const began = ({ created_at = "" }: OperationRecord): boolean =>
        Date.parse(created_at) > Date.parse(before ?? "");
      const own = (listed ?? []).filter(({ endpoint_id }) => endpoint_id === endpointId);
      this.#track(own.filter((one) => isUnfinished(one) || began(one)));
    }
    for (const id of this.#operations.keys()) {
      const now = listed?.find((one) => one.id === id);
      if (now !== undefined) this.#operations.set(id, now);
      else if (listed === undefined || !this.mayLag) this.#operations.delete(id);
    }
  }

  protected reportProgress(activity: string): void {
    const step = this.unfinished === undefined ? "" : `${this.unfinished.action} ${this.unfinished.status}, `;
    const text = `${activity}, ${step}${seconds(performance.now() - this.startedAt)} s`;
    this.change.onProgress?.(this.account.redactor.clean(text));
  }

  timedOut(deadline: Deadline, lastError: SvcError | undefined): WaitTimeoutError {
    const after = `after ${seconds(deadline.totalMs)} s`;
    const why = lastError === undefined ? "" : `; the last look failed: ${lastError.message}`;
    const running = this.unfinished === undefined ? "" : ` (${describe(this.unfinished)})`;
    const outcome = this.lastSeen === undefined ? `${this.neverSeen} ${after}` : `${this.lastSeen} ${after}${running}`;
    return new WaitTimeoutError(this.account.redactor.clean(outcome) + why);
  }

  #track(operations: readonly OperationRecord[]): void {
    for (const operation of operations) this.#operations.set(operation.id, operation);
  }
}

interface ReadyExpectation extends AwaitedChange {
  /** A change was sent, so lists may lag behind it. */
  readonly changed: boolean;
  readonly idleIsReady: boolean;
}

export class EndpointWait extends OperationWait<ReadyExpectation> implements Condition<EndpointRecord> {
  protected readonly neverSeen = "not seen in any list";
  #last = this.change.endpoint;

  /** The compute of the response, where it is ready already: no unfinished operation, and nothing pending. */
  checkResponse(): { done: EndpointRecord } | undefined {
    const { endpoint: response, operations } = this.change;
    if (response === undefined || operations === undefined) return undefined;
    this.#throwFailed();
    return this.unfinished === undefined && this.#isReady(response) ? { done: response } : undefined;
  }

  check({ endpoints, operations, readAt }: Snapshot): { done: EndpointRecord } | undefined {
    this.updateOperations(operations);
    this.#throwFailed();
    const endpoint = endpoints.find(({ id }) => id === this.change.endpointId);
    this.#last = endpoint;
    if (this.steady.observe(endpoint === undefined, readAt))
      throw new NotFoundError("it disappeared while it was waited for: the compute list no longer has it");
    if (endpoint === undefined) return undefined;
    if (this.#isReady(endpoint)) return { done: endpoint };
    this.#throwNotStarting(endpoint, newestOperationOf(endpoint.id, operations ?? []));
    const target = endpoint.pending_state ?? endpoint.current_state;
    const activity = target === "idle" ? "suspending" : endpoint.current_state === "active" ? "applying" : "starting";
    this.reportProgress(activity);
    return undefined;
  }

  protected get lastSeen(): string | undefined {
    if (this.#last === undefined) return undefined;
    const { current_state: state, pending_state } = this.#last;
    const isFinal = state === "active" || state === "idle";
    return `still "${state}"${isFinal && pending_state !== undefined ? ` with "${pending_state}" pending` : ""}`;
  }

  #throwFailed(): void {
    if (this.failed !== undefined) throw operationFailed(this.failed, this.account.redactor);
  }

  #isReady(endpoint: EndpointRecord): boolean {
    const { endpoint: response, operations, changed, idleIsReady } = this.change;
    if (this.unfinished !== undefined || endpoint.pending_state !== undefined) return false;
    if (this.mayLag) {
      // A list that is older than the response shows the state before the change.
      if (Date.parse(endpoint.updated_at ?? "") < Date.parse(response?.updated_at ?? "")) return false;
      // The change was accepted, but its operations are not known: too early to believe a list without any.
      if (changed && operations === undefined) return false;
    }
    if (endpoint.current_state === "active") return true;
    if (endpoint.current_state !== "idle") return false;
    if (idleIsReady || this.haveSucceeded || operations === undefined || operations.length === 0) return true;
    // Operations that cannot be followed: an idle compute that was changed while idle stays idle.
    const wasIdle = response?.current_state === "idle" && response.pending_state === undefined;
    return wasIdle && !this.mayLag;
  }

  /** Nothing is under way, and lists have had the time to show it: waiting longer does not help. */
  #throwNotStarting({ current_state, pending_state }: EndpointRecord, newest: OperationRecord | undefined): void {
    const { redactor } = this.account;
    const { operations = [] } = this.change;
    const isQuiet = pending_state === undefined && this.unfinished === undefined && !this.mayLag;
    const isUnready = current_state !== "active" && current_state !== "idle";
    // An operation that the response named and no list shows may still be running.
    const isTraced = operations.length === 0 || this.haveSucceeded;
    if (!isQuiet || !isUnready || !isTraced) return;
    const why = newest !== undefined && hasFailed(newest) ? operationFailed(newest, redactor).message : undefined;
    const what = `still "${current_state}", and no operation is under way that would change that`;
    throw new NotStartingError(redactor.clean(why === undefined ? what : `${what}; ${why}`));
  }
}

/** Waits until a deleted compute is off the list and its operations have ended, so that its branch is free and the project unlocked. */
export class DeletionWait extends OperationWait<AwaitedChange> implements Condition<void> {
  protected readonly neverSeen = "not known to be deleted";
  protected lastSeen: string | undefined;

  check({ endpoints, operations, readAt }: Snapshot): { done: undefined } | undefined {
    this.updateOperations(operations);
    const { failed, unfinished } = this;
    const endpoint = endpoints.find(({ id }) => id === this.change.endpointId);
    if (endpoint === undefined && unfinished === undefined) return { done: undefined };
    if (endpoint !== undefined && failed !== undefined) throw operationFailed(failed, this.account.redactor);
    const isQuiet = operations !== undefined && unfinished === undefined && endpoint?.pending_state === undefined;
    if (this.steady.observe(isQuiet, readAt))
      throw new SvcError("its deletion was accepted and nothing is under way any more, but it is still listed");
    this.lastSeen = `being deleted, still "${endpoint?.current_state ?? "gone"}"`;
    this.reportProgress("deleting");
    return undefined;
  }
}
