import type { Account } from "../account";
import type { EndpointRecord, OperationRecord } from "../records";
import type { Deadline } from "../http/deadline";
import { NotFoundError, NotStartingError, OperationFailedError, SvcError, WaitTimeoutError } from "../http/errors";
import type { Redactor } from "../http/redact";
import { SteadyObservation } from "../reads/absence";
import type { Condition, Needs, Snapshot } from "./watch";

const SHORTEST_PAUSE_MS = 100;
/** An operation may take a moment longer than the last one of its kind. */
const MARGIN_MS = 15;

const SUCCEEDED = new Set(["finished", "skipped"]);
const FAILED = new Set(["failed", "error", "cancelled"]);

const hasSucceeded = ({ status }: OperationRecord): boolean => SUCCEEDED.has(status);
const hasFailed = ({ status }: OperationRecord): boolean => FAILED.has(status);
/** An unknown status counts as unfinished. */
export const isUnfinished = (operation: OperationRecord): boolean => !hasSucceeded(operation) && !hasFailed(operation);

/** The operations that changed this compute, the newest first, as in the list. */
const operationsOf = (endpointId: string, listed: readonly OperationRecord[]): OperationRecord[] =>
  // check_availability runs in the background and belongs to no change.
  listed.filter(({ endpoint_id, action }) => endpoint_id === endpointId && action !== "check_availability");

/** The operations of a change by their effects, each with the state that it leads to. */
const EFFECTS = new Map([
  ["apply_config", undefined],
  ["start_compute", "active"],
  ["suspend_compute", "idle"],
]);

const repairsAll = (one: OperationRecord): boolean => one.action === "suspend_compute" && hasSucceeded(one);

/** Without those that say nothing of their own: they were cancelled because the one before them failed. */
const tellingOf = (own: readonly OperationRecord[]): OperationRecord[] =>
  own.filter((one, index) => one.status !== "cancelled" || !own.slice(index + 1, index + 2).some(hasFailed));

/**
 * Whether an effect of the last changes of a compute has failed (docs/design/rules.md, 1). For each effect the newest
 * operation counts, since those of other effects do not repair it. A successful suspension repairs all: the next start
 * uses every value that the service stores.
 */
export function hasFailedChange({ id, current_state }: EndpointRecord, listed: readonly OperationRecord[]): boolean {
  const telling = tellingOf(operationsOf(id, listed));
  const [newest] = telling;
  if (newest !== undefined && !EFFECTS.has(newest.action) && hasFailed(newest)) return true;
  return [...EFFECTS].some(([action, target]) => {
    const last = telling.find((one) => one.action === action || repairsAll(one));
    return last?.action === action && hasFailed(last) && current_state !== target;
  });
}

/** Whether `hasFailedChange` needs no older operations than these of the list, the newest first. */
export function tellsOfChanges({ id, created_at = "" }: EndpointRecord, listed: readonly OperationRecord[]): boolean {
  if (Date.parse(listed.at(-1)?.created_at ?? "") < Date.parse(created_at)) return true;
  const own = operationsOf(id, listed);
  // What the last one was cancelled for is older.
  const telling = tellingOf(own).slice(0, own.at(-1)?.status === "cancelled" ? -1 : undefined);
  const actions = new Set(telling.map(({ action }) => action));
  return telling.some(repairsAll) || [...EFFECTS.keys()].every((action) => actions.has(action));
}

const seconds = (ms: number): number => Math.round(ms / 1000);
const describe = ({ id, action, status }: OperationRecord, redactor: Redactor): string =>
  `operation ${[id, action, status].map((word) => redactor.word(word)).join(" ")}`;

/** What an unfinished operation has behind it, after its status: ", failed 2 times, tried again at 12:03 UTC". */
function attempts({ failures_count: failures = 0, retry_at = "" }: OperationRecord): string {
  const failed = failures === 1 ? ", failed once" : `, failed ${failures} times`;
  const retry = new Date(retry_at);
  const again = Number.isNaN(retry.getTime()) ? "" : `, tried again at ${retry.toISOString().slice(11, 16)} UTC`;
  return (Number.isInteger(failures) && failures > 0 ? failed : "") + again;
}

function operationFailed(operation: OperationRecord, redactor: Redactor): OperationFailedError {
  const words = operation.error === undefined ? "" : `: ${redactor.message(operation.error)}`;
  return new OperationFailedError(describe(operation, redactor) + words);
}

export interface AcceptedChange {
  readonly endpointId: string;
  /** Undefined: no change was sent, or its response had no body. */
  readonly endpoint?: EndpointRecord | undefined;
  /**
   * Undefined: the response named none, or maybe not all. Then the wait follows those that are listed as running, or
   * that began after `updatedAtBefore`: earlier ones do not belong to the change.
   */
  readonly operations?: readonly OperationRecord[] | undefined;
}

interface AwaitedChange extends AcceptedChange {
  /** `updated_at` of the compute as it was read before the change. */
  readonly updatedAtBefore?: string | undefined;
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** How long the last operation of each action took at one project, in milliseconds. */
export type Durations = Map<string, number>;

/** Follows the operations of one change of one compute, and reports them. */
abstract class OperationWait<Change extends AwaitedChange> {
  /** For messages: the last known state of the compute, or what to say without one. */
  protected abstract readonly lastSeen: string | undefined;
  protected abstract readonly neverSeen: string;
  protected readonly startedAt = performance.now();
  protected readonly steady: SteadyObservation;
  readonly #operations = new Map<string, OperationRecord>();
  #lookAheadMs = 0;
  #readAt = this.startedAt;
  #endpointsReadAt = this.startedAt;
  #lastPoll: Snapshot | undefined;

  constructor(
    protected readonly account: Pick<Account, "settings" | "redactor">,
    private readonly durations: Durations,
    protected readonly change: Change,
  ) {
    this.steady = new SteadyObservation(account.settings.lagMs);
    this.#track(change.operations ?? []);
  }

  get onProgress(): AwaitedChange["onProgress"] {
    return this.change.onProgress;
  }

  /** Whether the last read may be older than the change. */
  protected get mayLag(): boolean {
    return this.#readAt - this.startedAt < this.account.settings.lagMs;
  }

  protected get unfinished(): OperationRecord | undefined {
    return [...this.#operations.values()].find(isUnfinished);
  }

  protected get failed(): OperationRecord | undefined {
    const failed = [...this.#operations.values()].filter(hasFailed);
    // The others may have been cancelled because of it.
    return failed.find(({ status }) => status !== "cancelled") ?? failed[0];
  }

  /** There is at least one, and all have succeeded. */
  protected get haveSucceeded(): boolean {
    return this.#operations.size > 0 && this.hasEnded;
  }

  protected get hasEnded(): boolean {
    return [...this.#operations.values()].every(hasSucceeded);
  }

  /** The compute list shows the results of operations: it is read when they have ended, or should have. */
  get needs(): Needs {
    const end = this.#expectedEnd;
    // The last poll read only the operations.
    if (this.haveSucceeded && this.#lastPoll?.endpoints === undefined) return "endpoints";
    if (this.unfinished === undefined || this.change.operations === undefined) return "both";
    // Somebody may have deleted it meanwhile.
    if (performance.now() - this.#endpointsReadAt > this.account.settings.lagMs) return "both";
    return end !== undefined && end <= performance.now() + this.#lookAheadMs ? "both" : "operations";
  }

  /** They show each operation that is followed, or those from before its beginning: what they lack then is not listed. */
  isEnough(listed: readonly OperationRecord[]): boolean {
    const { operations, updatedAtBefore } = this.change;
    const missing = [...this.#operations.values()].filter(({ id }) => !listed.some((one) => one.id === id));
    const begins = missing.filter(isUnfinished).map(({ created_at = "" }) => Date.parse(created_at));
    // Without names, all that began since then are followed.
    if (operations === undefined && updatedAtBefore !== undefined) begins.push(Date.parse(updatedAtBefore));
    const oldest = Date.parse(listed.at(-1)?.created_at ?? "");
    return begins.every((began) => oldest < began);
  }

  /**
   * At once if no operation is known to be in progress; at the time that operations of that kind took the last time;
   * else after a tenth of the time waited.
   */
  dueAt(roundTripMs: number): number {
    const { pollCeilingMs } = this.account.settings;
    this.#lookAheadMs = roundTripMs + MARGIN_MS;
    const last = this.#lastPoll?.readAt;
    const since = last ?? this.startedAt;
    const end = this.#expectedEnd;
    // A poll arrives half a round trip after it was sent, and the response came half a round trip after the change. The
    // last operation may have taken hours, so this is capped at the pause between two polls.
    if (end !== undefined && end - roundTripMs > (last ?? 0)) return Math.min(end - roundTripMs, since + pollCeilingMs);
    if (this.unfinished === undefined && this.#lastPoll?.endpoints === undefined) return since;
    return since + Math.min(pollCeilingMs, Math.max(SHORTEST_PAUSE_MS, (since - this.startedAt) / 10));
  }

  /** Undefined if an operation's action was not seen before. */
  get #expectedEnd(): number | undefined {
    const unfinished = [...this.#operations.values()].filter(isUnfinished);
    const known = unfinished.flatMap(({ action }) => this.durations.get(action) ?? []);
    if (unfinished.length === 0 || known.length < unfinished.length) return undefined;
    // Counted from the response. The second operation of a restart begins when the first one has ended.
    return this.startedAt + known.reduce((sum, ms) => sum + ms, MARGIN_MS);
  }

  /**
   * Applies what the list shows. An operation that it lacks stays as it was while lists may lag, and is then dropped.
   */
  protected update(poll: Snapshot): void {
    this.#readAt = poll.readAt;
    const needed = this.needs === "both" ? (["operations", "endpoints"] as const) : ([this.needs] as const);
    // A poll for others that lacks what is needed here does not postpone the next one.
    if (needed.every((what) => poll[what] !== undefined)) this.#lastPoll = poll;
    if (poll.endpoints !== undefined) this.#endpointsReadAt = poll.readAt;
    if (poll.operations !== undefined) this.#updateOperations(poll.operations.listed);
  }

  #updateOperations(listed: readonly OperationRecord[] | undefined): void {
    const { operations, endpointId, updatedAtBefore } = this.change;
    if (operations === undefined) {
      const began = ({ created_at = "" }: OperationRecord): boolean =>
        Date.parse(created_at) > Date.parse(updatedAtBefore ?? "");
      const own = (listed ?? []).filter(({ endpoint_id }) => endpoint_id === endpointId);
      this.#track(own.filter((one) => isUnfinished(one) || began(one)));
    }
    for (const id of this.#operations.keys()) {
      const now = listed?.find((one) => one.id === id);
      if (now !== undefined) {
        this.#operations.set(id, now);
        const { action, total_duration_ms: took = 0 } = now;
        if (hasSucceeded(now) && took > 0) this.durations.set(action, took);
      } else if (listed === undefined || !this.mayLag) this.#operations.delete(id);
    }
  }

  protected reportProgress(activity: string): void {
    const { unfinished } = this;
    const step =
      unfinished === undefined
        ? ""
        : `${this.shown(unfinished.action)} ${this.shown(unfinished.status)}${attempts(unfinished)}, `;
    this.change.onProgress?.(`${activity}, ${step}${seconds(performance.now() - this.startedAt)} s`);
  }

  timedOut(deadline: Deadline, lastError: SvcError | undefined): WaitTimeoutError {
    const after = `after ${seconds(deadline.totalMs)} s`;
    const why = lastError === undefined ? "" : `; the last read failed: ${lastError.message}`;
    const { unfinished } = this;
    const running =
      unfinished === undefined ? "" : ` (${describe(unfinished, this.account.redactor)}${attempts(unfinished)})`;
    const outcome = this.lastSeen === undefined ? `${this.neverSeen} ${after}` : `${this.lastSeen} ${after}${running}`;
    return new WaitTimeoutError(outcome + why);
  }

  /** A word of the service. */
  protected shown(word: string): string {
    return this.account.redactor.word(word);
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
  readonly #quiet = new SteadyObservation(this.account.settings.lagMs);
  #last = this.change.endpoint;

  /** The compute of the response, if it is ready already: no unfinished operation, and nothing pending. */
  checkResponse(): { done: EndpointRecord } | undefined {
    const { endpoint: response, operations } = this.change;
    if (response === undefined || operations === undefined) return undefined;
    this.#throwFailed();
    return this.unfinished === undefined && this.#isReady(response) ? { done: response } : undefined;
  }

  check(poll: Snapshot): { done: EndpointRecord } | undefined {
    const hadSucceeded = this.haveSucceeded;
    this.update(poll);
    this.#throwFailed();
    const { endpoints, operations, readAt } = poll;
    if (endpoints === undefined) {
      if (this.#last !== undefined) this.#report(this.#last);
      return undefined;
    }
    const endpoint = endpoints.find(({ id }) => id === this.change.endpointId);
    const isMissing = endpoint === undefined && poll.incomplete === undefined;
    if (endpoint !== undefined || isMissing) this.#last = endpoint;
    if (this.steady.observe(isMissing, readAt))
      throw new NotFoundError("it was deleted during the wait: the list of computes no longer shows it");
    if (endpoint === undefined) return undefined;
    // Both lists are read in parallel, so the compute list may predate that end, for instance from between two
    // operations.
    const mayStart = endpoint.current_state === "idle" && this.haveSucceeded && !hadSucceeded;
    if (this.#isReady(endpoint) && !mayStart) return { done: endpoint };
    if (this.#willNotStart(endpoint, readAt)) throw this.#notStarting(endpoint, operations?.listed ?? []);
    this.#report(endpoint);
    return undefined;
  }

  #report({ current_state, pending_state = current_state }: EndpointRecord): void {
    const changing = current_state === "active" ? "applying" : "starting";
    this.reportProgress(pending_state === "idle" ? "suspending" : changing);
  }

  protected get lastSeen(): string | undefined {
    if (this.#last === undefined) return undefined;
    const { current_state: state, pending_state } = this.#last;
    const isFinal = state === "active" || state === "idle";
    const pending = isFinal && pending_state !== undefined ? ` with "${this.shown(pending_state)}" pending` : "";
    return `still "${this.shown(state)}"${pending}`;
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
      // The change was accepted, but its operations are unknown: too early to believe a list without any.
      if (changed && operations === undefined) return false;
    }
    if (endpoint.current_state === "active") return true;
    if (endpoint.current_state !== "idle") return false;
    if (idleIsReady || this.haveSucceeded || operations === undefined || operations.length === 0) return true;
    // Operations cannot be followed: an idle compute that was changed while idle stays idle.
    const wasIdle = response?.current_state === "idle" && response.pending_state === undefined;
    return wasIdle && !this.mayLag;
  }

  /** No operation is in progress, and lists have had the time to show one: waiting longer does not help. */
  #willNotStart({ current_state, pending_state }: EndpointRecord, readAt: number): boolean {
    const { operations = [] } = this.change;
    const isQuiet = pending_state === undefined && this.unfinished === undefined;
    const isUnready = current_state !== "active" && current_state !== "idle";
    // An operation that the response named and no list shows may still be running.
    const isTraced = operations.length === 0 || this.haveSucceeded;
    return this.#quiet.observe(isQuiet && isUnready && isTraced, readAt);
  }

  #notStarting({ id, current_state }: EndpointRecord, listed: readonly OperationRecord[]): NotStartingError {
    const { redactor } = this.account;
    const [newest] = operationsOf(id, listed);
    const why = newest !== undefined && hasFailed(newest) ? operationFailed(newest, redactor).message : undefined;
    const what = `still "${this.shown(current_state)}", and no operation is running that would change that`;
    return new NotStartingError(why === undefined ? what : `${what}; ${why}`);
  }
}

interface DeletionExpectation extends AwaitedChange {
  /** Whether its operations must end, too: its branch must be free then, or the project unlocked. */
  readonly untilQuiet: () => boolean;
}

/** Waits until a deleted compute is off the list. */
export class DeletionWait extends OperationWait<DeletionExpectation> implements Condition<void> {
  protected readonly neverSeen = "not confirmed as deleted";
  protected lastSeen: string | undefined;

  override get needs(): Needs {
    if (this.change.untilQuiet()) return super.needs;
    // If it is still listed by then, its operation may have failed.
    return this.mayLag ? "endpoints" : "both";
  }

  override dueAt(roundTripMs: number): number {
    const isFirst = this.lastSeen === undefined && !this.change.untilQuiet();
    return isFirst ? this.startedAt + SHORTEST_PAUSE_MS / 2 : super.dueAt(roundTripMs);
  }

  check(poll: Snapshot): { done: undefined } | undefined {
    this.update(poll);
    const { failed, unfinished } = this;
    const { endpoints, operations, readAt } = poll;
    const endpoint = endpoints?.find(({ id }) => id === this.change.endpointId);
    // Where a list cannot be read to its end, the response and the end of all operations that it named are the proof.
    const isProven = poll.incomplete === undefined || (this.change.operations !== undefined && this.hasEnded);
    const isOffList = endpoints !== undefined && endpoint === undefined && isProven;
    if (isOffList && (unfinished === undefined || !this.change.untilQuiet())) return { done: undefined };
    if (endpoint !== undefined && failed !== undefined) throw operationFailed(failed, this.account.redactor);
    const isQuiet = operations?.listed !== undefined && unfinished === undefined;
    if (this.steady.observe(isQuiet && endpoint !== undefined && endpoint.pending_state === undefined, readAt))
      throw new SvcError("its deletion was accepted and no operation is running, but it is still listed");
    if (endpoints !== undefined)
      this.lastSeen = `being deleted, still "${this.shown(endpoint?.current_state ?? "gone")}"`;
    this.reportProgress("deleting");
    return undefined;
  }
}
