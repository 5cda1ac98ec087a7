import type { Account } from "../account";
import type { EndpointRecord, OperationRecord } from "../api/records";
import type { Deadline } from "../http/deadline";
import { NotFoundError, NotStartingError, OperationFailedError, SvcError, WaitTimeoutError } from "../http/errors";
import type { Redactor } from "../http/redact";
import { Lasting } from "../reads/absence";
import type { Condition, Snapshot } from "./watch";

const GOOD = new Set(["finished", "skipped"]);
const BAD = new Set(["failed", "error", "cancelled"]);

const endedWell = ({ status }: OperationRecord): boolean => GOOD.has(status);
export const endedBadly = ({ status }: OperationRecord): boolean => BAD.has(status);
/** A status that we do not know counts as not there yet. */
const isUnfinished = (operation: OperationRecord): boolean => !endedWell(operation) && !endedBadly(operation);

/** The newest operation that changed this compute. The list has the newest first. */
export function newestOf(endpointId: string, listed: readonly OperationRecord[]): OperationRecord | undefined {
  // check_availability runs in the background: its end says nothing of a change.
  return listed.find(({ endpoint_id, action }) => endpoint_id === endpointId && action !== "check_availability");
}

const seconds = (ms: number): number => Math.round(ms / 1000);
const describe = ({ id, action, status }: OperationRecord): string => `operation ${id} ${action} ${status}`;

function operationFailed(operation: OperationRecord, redactor: Redactor): OperationFailedError {
  const words = operation.error === undefined ? "" : `: ${redactor.clean(operation.error)}`;
  return new OperationFailedError(redactor.clean(describe(operation)) + words);
}

export interface Told {
  readonly endpointId: string;
  /** Undefined: no change was sent, or its response had no body. */
  readonly endpoint?: EndpointRecord | undefined;
  /**
   * Undefined: it named none, or may not have named all. Then those are followed that are seen to run, or began after
   * `before`: one of before the change is no answer to it.
   */
  readonly operations?: readonly OperationRecord[] | undefined;
}

interface Awaited extends Told {
  /** When the compute was last changed as it was read before the change, by the clock of the service. */
  readonly before?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** The operations of one change of one compute, and how they are told. */
abstract class Followed<Known extends Awaited> {
  /** For messages: how the compute was last seen, and what to say where it was not. */
  protected abstract readonly seen: string | undefined;
  protected abstract readonly unseen: string;
  protected readonly since = performance.now();
  protected readonly lasting: Lasting;
  readonly #followed = new Map<string, OperationRecord>();

  constructor(
    protected readonly account: Pick<Account, "settings" | "redactor">,
    protected readonly known: Known,
  ) {
    this.lasting = new Lasting(account.settings.lagMs);
    this.#follow(known.operations ?? []);
  }

  protected get lags(): boolean {
    return performance.now() - this.since < this.account.settings.lagMs;
  }

  protected get unfinished(): OperationRecord | undefined {
    return [...this.#followed.values()].find(isUnfinished);
  }

  protected get failed(): OperationRecord | undefined {
    return [...this.#followed.values()].find(endedBadly);
  }

  /** All of them, and at least one, were seen to end well. */
  protected get haveEndedWell(): boolean {
    return this.#followed.size > 0 && [...this.#followed.values()].every(endedWell);
  }

  /** What the list says of them now. One that it lacks is taken as it was for as long as lists lag, then as untraceable. */
  protected look(listed: readonly OperationRecord[] | undefined): void {
    const { operations, endpointId, before } = this.known;
    if (operations === undefined) {
      const began = ({ created_at = "" }: OperationRecord): boolean =>
        Date.parse(created_at) > Date.parse(before ?? "");
      const own = (listed ?? []).filter(({ endpoint_id }) => endpoint_id === endpointId);
      this.#follow(own.filter((one) => isUnfinished(one) || began(one)));
    }
    for (const id of this.#followed.keys()) {
      const now = listed?.find((one) => one.id === id);
      if (now !== undefined) this.#followed.set(id, now);
      else if (listed === undefined || !this.lags) this.#followed.delete(id);
    }
  }

  protected tell(doing: string): void {
    const step = this.unfinished === undefined ? "" : `${this.unfinished.action} ${this.unfinished.status}, `;
    const text = `${doing}, ${step}${seconds(performance.now() - this.since)} s`;
    this.known.onProgress?.(this.account.redactor.clean(text));
  }

  timedOut(deadline: Deadline, trouble: SvcError | undefined): WaitTimeoutError {
    const after = `after ${seconds(deadline.totalMs)} s`;
    const why = trouble === undefined ? "" : `; the last look failed: ${trouble.message}`;
    const running = this.unfinished === undefined ? "" : ` (${describe(this.unfinished)})`;
    const told = this.seen === undefined ? `${this.unseen} ${after}` : `${this.seen} ${after}${running}`;
    return new WaitTimeoutError(this.account.redactor.clean(told) + why);
  }

  #follow(operations: readonly OperationRecord[]): void {
    for (const operation of operations) this.#followed.set(operation.id, operation);
  }
}

interface Expectation extends Awaited {
  /** A change was sent, so lists may lag behind it. */
  readonly changed: boolean;
  readonly idleIsReady: boolean;
}

export class EndpointWait extends Followed<Expectation> implements Condition<EndpointRecord> {
  protected readonly unseen = "not seen in any list";
  #last = this.known.endpoint;

  /** A response that is a finished one needs no look: no operation, or all ended, and nothing pending. */
  seeAnswer(): { done: EndpointRecord } | undefined {
    const { endpoint: answered, operations } = this.known;
    if (answered === undefined || operations === undefined) return undefined;
    this.#throwFailed();
    return this.unfinished === undefined && this.#isReady(answered) ? { done: answered } : undefined;
  }

  see({ endpoints, operations, lookedAt }: Snapshot): { done: EndpointRecord } | undefined {
    this.look(operations);
    this.#throwFailed();
    const endpoint = endpoints.find(({ id }) => id === this.known.endpointId);
    this.#last = endpoint;
    if (this.lasting.see(endpoint === undefined, lookedAt))
      throw new NotFoundError("it disappeared while it was waited for: the compute list no longer has it");
    if (endpoint === undefined) return undefined;
    if (this.#isReady(endpoint)) return { done: endpoint };
    this.#throwNotStarting(endpoint, newestOf(endpoint.id, operations ?? []));
    const target = endpoint.pending_state ?? endpoint.current_state;
    const doing = target === "idle" ? "suspending" : endpoint.current_state === "active" ? "applying" : "starting";
    this.tell(doing);
    return undefined;
  }

  protected get seen(): string | undefined {
    if (this.#last === undefined) return undefined;
    const { current_state: state, pending_state } = this.#last;
    const settled = state === "active" || state === "idle";
    return `still "${state}"${settled && pending_state !== undefined ? ` with "${pending_state}" pending` : ""}`;
  }

  #throwFailed(): void {
    if (this.failed !== undefined) throw operationFailed(this.failed, this.account.redactor);
  }

  #isReady(endpoint: EndpointRecord): boolean {
    const { endpoint: answered, operations, changed, idleIsReady } = this.known;
    if (this.unfinished !== undefined || endpoint.pending_state !== undefined) return false;
    if (this.lags) {
      // A list that is older than the response shows what was there before the change.
      if (Date.parse(endpoint.updated_at ?? "") < Date.parse(answered?.updated_at ?? "")) return false;
      // The change was accepted, but what it started is not known: too early to believe a quiet list.
      if (changed && operations === undefined) return false;
    }
    if (endpoint.current_state === "active") return true;
    if (endpoint.current_state !== "idle") return false;
    if (idleIsReady || this.haveEndedWell || operations === undefined || operations.length === 0) return true;
    // Operations that cannot be followed: an idle compute that was changed while idle stays idle.
    const wasIdle = answered?.current_state === "idle" && answered.pending_state === undefined;
    return wasIdle && !this.lags;
  }

  /** Nothing is under way, and lists have had the time to show it: waiting longer does not help. */
  #throwNotStarting({ current_state, pending_state }: EndpointRecord, newest: OperationRecord | undefined): void {
    const { redactor } = this.account;
    const { operations = [] } = this.known;
    const isQuiet = pending_state === undefined && this.unfinished === undefined && !this.lags;
    const isUnready = current_state !== "active" && current_state !== "idle";
    // What the change was answered with, and no list shows, may yet be under way.
    const isTraced = operations.length === 0 || this.haveEndedWell;
    if (!isQuiet || !isUnready || !isTraced) return;
    const why = newest !== undefined && endedBadly(newest) ? operationFailed(newest, redactor).message : undefined;
    const what = `still "${current_state}", and no operation is under way that would change that`;
    throw new NotStartingError(redactor.clean(why === undefined ? what : `${what}; ${why}`));
  }
}

/** Waits until a deleted compute is off the list and its operations have ended, so that its branch is free and the project unlocked. */
export class DeletionWait extends Followed<Awaited> implements Condition<void> {
  protected readonly unseen = "not known to be deleted";
  protected seen: string | undefined;

  see({ endpoints, operations, lookedAt }: Snapshot): { done: undefined } | undefined {
    this.look(operations);
    const { failed, unfinished } = this;
    const endpoint = endpoints.find(({ id }) => id === this.known.endpointId);
    if (endpoint === undefined && unfinished === undefined) return { done: undefined };
    if (endpoint !== undefined && failed !== undefined) throw operationFailed(failed, this.account.redactor);
    const isQuiet = operations !== undefined && unfinished === undefined && endpoint?.pending_state === undefined;
    if (this.lasting.see(isQuiet, lookedAt))
      throw new SvcError("its deletion was accepted and nothing is under way any more, but it is still listed");
    this.seen = `being deleted, still "${endpoint?.current_state ?? "gone"}"`;
    this.tell("deleting");
    return undefined;
  }
}
