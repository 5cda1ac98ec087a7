import type { Deadline } from "./deadline";
import { NotFoundError, OperationFailedError, type SvcError, WaitTimeoutError } from "./errors";
import { isUnfinished, type Trace, traceAnswered, traceNewest } from "./operations";
import type { Endpoint, Operation } from "./schemas";
import type { Condition, Snapshot } from "./waiting";

/** What is known of a change when its wait begins. */
export interface Expectation {
  endpointId: string;
  /** The answer to the change. Undefined: no change, or its answer had no body. */
  answered?: Endpoint | undefined;
  /** Undefined: the answer named none, or may not have named all. The operation list is asked instead. */
  operations?: readonly Operation[] | undefined;
  /** A change was sent, so what the operation list shows may lag behind it. */
  changed: boolean;
  idleIsReady: boolean;
  /** How long lists may lag. */
  lookMs: number;
  onProgress: (text: string) => void;
  onStillRunning: (lookedAt: number) => void;
}

const seconds = (ms: number): number => Math.round(ms / 1000);

export function describe({ id, action, status }: Operation): string {
  return `operation ${id} ${action} ${status}`;
}

/** Carries no more of the operation than is known to be harmless: what it says of its error is text of the service. */
export function operationFailed(operation: Operation, redact: (text: string) => string): OperationFailedError {
  const { id, action, status, endpoint_id, error } = operation;
  const words = error === undefined ? undefined : redact(error);
  const told = { id, action, status, ...(endpoint_id && { endpoint_id }), ...(words && { error: words }) };
  return new OperationFailedError(redact(describe(operation)) + (words ? `: ${words}` : ""), told);
}

/** A compute, and the operation of it that has not ended. */
interface Sight {
  endpoint: Endpoint;
  operation: Operation | undefined;
}

/** Ready, still under way, or failed: one compute after one change. */
export class EndpointWait implements Condition<Endpoint> {
  readonly #expected: Expectation;
  readonly #redact: (text: string) => string;
  readonly #since = performance.now();
  #last: Sight | undefined;
  #missing = { lists: 0, since: 0 };

  constructor(expected: Expectation, redact: (text: string) => string) {
    this.#expected = expected;
    this.#redact = redact;
  }

  /** An answer that is a finished one needs no look: no operation, or all ended, and nothing pending. */
  seeAnswer(): { done: Endpoint } | undefined {
    const { answered, operations } = this.#expected;
    if (answered === undefined || operations === undefined) return undefined;
    const trace = traceAnswered(operations, operations, false);
    if (trace.failed !== undefined) throw operationFailed(trace.failed, this.#redact);
    const finished = operations.length === 0 || trace.allEndedWell;
    return finished && this.#isReady(answered, trace) ? { done: answered } : undefined;
  }

  see(snapshot: Snapshot): { done: Endpoint } | undefined {
    const { endpointId, onProgress, onStillRunning } = this.#expected;
    const trace = this.#traceIn(snapshot);
    const endpoint = snapshot.endpoints.find(({ id }) => id === endpointId);
    if (trace.failed !== undefined) throw operationFailed(trace.failed, this.#redact);
    if (endpoint === undefined) {
      this.#onMissing(snapshot);
      return undefined;
    }
    this.#missing = { lists: 0, since: 0 };
    this.#last = { endpoint, operation: trace.unfinished };
    if (this.#isReady(endpoint, trace)) return { done: endpoint };
    onStillRunning(snapshot.lookedAt);
    onProgress(this.#progressText(endpoint, trace.unfinished));
    return undefined;
  }

  timedOut(deadline: Deadline, trouble: SvcError | undefined): WaitTimeoutError {
    const after = `after ${seconds(deadline.totalMs)} s`;
    const why = trouble === undefined ? "" : `; the last look failed: ${this.#redact(trouble.message)}`;
    const last = this.#last ?? this.#asAnswered();
    if (last === undefined) return new WaitTimeoutError(`not seen in any list ${after}${why}`, undefined);
    const { endpoint, operation } = last;
    const state = endpoint.current_state;
    const settled = state === "active" || state === "idle";
    const pending = settled && endpoint.pending_state !== undefined ? ` with "${endpoint.pending_state}" pending` : "";
    const running = operation === undefined ? "" : ` (${describe(operation)})`;
    return new WaitTimeoutError(this.#redact(`still "${state}"${pending} ${after}${running}`) + why, state);
  }

  /** What the answer to the change has said, as long as no list has said anything. */
  #asAnswered(): Sight | undefined {
    const { answered, operations = [] } = this.#expected;
    if (answered === undefined || this.#missing.lists > 0) return undefined;
    return { endpoint: answered, operation: operations.find(isUnfinished) };
  }

  #lags(): boolean {
    return performance.now() - this.#since < this.#expected.lookMs;
  }

  #traceIn({ operations: listed }: Snapshot): Trace {
    const { operations: answered, endpointId, changed } = this.#expected;
    if (answered !== undefined) {
      // Without the route nothing more is heard of them.
      if (listed === undefined) return { ...traceAnswered(answered, answered, false), unfinished: undefined };
      return traceAnswered(answered, listed, this.#lags());
    }
    if (listed === undefined) return { allEndedWell: false };
    const trace = traceNewest(endpointId, listed);
    // A failed one may be of before the change, whose own operations are not listed yet.
    return changed && this.#lags() ? { ...trace, failed: undefined } : trace;
  }

  #isReady(endpoint: Endpoint, trace: Trace): boolean {
    const { answered, operations, changed, idleIsReady } = this.#expected;
    if (trace.unfinished !== undefined || endpoint.pending_state !== undefined) return false;
    if (this.#lags()) {
      // A list that is older than the answer shows what was there before the change.
      if (Date.parse(endpoint.updated_at ?? "") < Date.parse(answered?.updated_at ?? "")) return false;
      // The change was accepted, but what it started is not known: too early to believe a quiet list.
      if (changed && operations === undefined) return false;
    }
    if (endpoint.current_state === "active") return true;
    if (endpoint.current_state !== "idle") return false;
    if (idleIsReady || trace.allEndedWell || operations === undefined || operations.length === 0) return true;
    // Operations that cannot be followed: an idle compute that was changed while idle stays idle.
    const wasIdle = answered?.current_state === "idle" && answered.pending_state === undefined;
    return wasIdle && !this.#lags();
  }

  /** Lists lag, so one without it proves nothing: two in a row, and for longer than a lag lasts. */
  #onMissing({ lookedAt }: Snapshot): void {
    if (this.#missing.lists === 0) this.#missing.since = lookedAt;
    this.#missing.lists += 1;
    const { lookMs } = this.#expected;
    if (this.#missing.lists < 2 || lookedAt - this.#missing.since < lookMs) return;
    throw new NotFoundError("it disappeared while it was waited for: the compute list no longer has it");
  }

  #progressText(endpoint: Endpoint, operation: Operation | undefined): string {
    const target = endpoint.pending_state ?? endpoint.current_state;
    const doing = target === "idle" ? "suspending" : endpoint.current_state === "active" ? "applying" : "starting";
    const step = operation === undefined ? "" : `${operation.action} ${operation.status}, `;
    return this.#redact(`${doing}, ${step}${seconds(performance.now() - this.#since)} s`);
  }
}
