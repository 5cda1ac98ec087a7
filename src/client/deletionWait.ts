import type { Deadline } from "./deadline";
import { type SvcError, WaitTimeoutError } from "./errors";
import { describe, operationFailed } from "./endpointWait";
import { endedBadly, isUnfinished } from "./operations";
import type { Operation } from "./schemas";
import type { Condition, Snapshot } from "./waiting";

export interface DeletionExpectation {
  endpointId: string;
  operations: readonly Operation[];
  lookMs: number;
  onProgress: (text: string) => void;
  onStillRunning: (lookedAt: number) => void;
}

/** Waits until a deleted compute is off the list and its operations have ended, so that its branch is free and the project unlocked. */
export class DeletionWait implements Condition<void> {
  readonly #expected: DeletionExpectation;
  readonly #redact: (text: string) => string;
  readonly #since = performance.now();
  #last: { state: string; operation: Operation | undefined } | undefined;
  #endedAt: number | undefined;

  constructor(expected: DeletionExpectation, redact: (text: string) => string) {
    this.#expected = expected;
    this.#redact = redact;
  }

  see({ endpoints, operations, lookedAt }: Snapshot): { done: undefined } | undefined {
    const { endpointId, lookMs, onProgress, onStillRunning } = this.#expected;
    const endpoint = endpoints.find(({ id }) => id === endpointId);
    const followed = this.#expected.operations.map(({ id }) => operations?.find((listed) => listed.id === id));
    const known = followed.filter((operation) => operation !== undefined);
    const running = known.find(isUnfinished);
    if (endpoint === undefined && running === undefined) return { done: undefined };
    const failed = known.find(endedBadly);
    if (endpoint !== undefined && failed !== undefined) throw operationFailed(failed, this.#redact);
    if (known.length > 0 && running === undefined) {
      this.#endedAt ??= lookedAt;
      // All has ended, and lists lag.
      if (known.length === followed.length && lookedAt - this.#endedAt >= lookMs) return { done: undefined };
    }
    this.#last = { state: endpoint?.current_state ?? "gone", operation: running };
    onStillRunning(lookedAt);
    const step = running === undefined ? "" : `${running.action} ${running.status}, `;
    onProgress(this.#redact(`deleting, ${step}${Math.round((performance.now() - this.#since) / 1000)} s`));
    return undefined;
  }

  timedOut(deadline: Deadline, trouble: SvcError | undefined): WaitTimeoutError {
    const after = `after ${Math.round(deadline.totalMs / 1000)} s`;
    const why = trouble === undefined ? "" : `; the last look failed: ${this.#redact(trouble.message)}`;
    if (this.#last === undefined) return new WaitTimeoutError(`not known to be deleted ${after}${why}`, undefined);
    const { state, operation } = this.#last;
    const running = operation === undefined ? "" : ` (${describe(operation)})`;
    return new WaitTimeoutError(this.#redact(`being deleted, still "${state}" ${after}${running}`) + why, state);
  }
}
