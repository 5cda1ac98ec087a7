import { sleep, withDeadline } from "./deadline";
import * as errors from "./errors";
import type { SvcError } from "./errors";
import type { ClientTimings } from "../clientOptions";
import { type AnyRequest, namesIn } from "./request";
import { type RetryDecision, decideRetry, mayHaveTakenEffect, whatHappened } from "./retry";
import type { Attempt } from "./transport";

/**
 * How long the service makes a read wait (docs/design/rules.md, 6): in all as long as the settings say, or as long as a
 * change that waits for it has time.
 */
export class Throttle {
  #usedMs = 0;
  /** How long a wait that has not ended has lasted. */
  #nowMs = (): number => 0;

  constructor(
    private readonly request: Pick<AnyRequest, "deadline" | "onThrottled" | "throttledMs">,
    readonly totalMs: number,
  ) {}

  get leftMs(): number {
    return Math.max(this.totalMs - this.#usedMs - this.#nowMs(), this.request.throttledMs?.() ?? 0);
  }

  /**
   * A wait begins; the returned function ends it.
   * @param clock counts what is charged
   */
  begin(clock = () => performance.now()): () => void {
    const began = clock();
    this.#nowMs = () => clock() - began;
    const ends = [this.request.deadline.pause(), this.request.onThrottled?.(true)];
    return () => {
      this.#usedMs += this.#nowMs();
      this.#nowMs = () => 0;
      ends.forEach((end) => end?.());
    };
  }
}

/** An attempt that the service did not accept. */
export interface FailedAttempt {
  readonly error: SvcError;
  /** The deadline, not the longest time of an attempt, ended it. */
  readonly isCut: boolean;
}

/** One request, from its first attempt to its response: what its attempts have used up and may have done. */
export class Sending {
  readonly throttle: Throttle;
  readonly repeatable: boolean;
  /** What errors say about it. */
  readonly facts: { readonly method: Attempt["method"]; readonly path: Attempt["template"]; readonly names: string };
  readonly #began = performance.now();
  readonly #fate: { open: boolean };
  #attempts = 0;
  #faults = 0;
  #lastError: SvcError | undefined;

  constructor(
    readonly request: AnyRequest,
    private readonly settings: ClientTimings,
  ) {
    const { method, template, fate = { open: false }, repeatable = method !== "POST" } = request;
    this.facts = { method, path: template, names: namesIn(request) };
    this.repeatable = repeatable;
    this.#fate = fate;
    this.throttle = new Throttle(request, settings.throttledMs);
  }

  get isRead(): boolean {
    return this.request.method === "GET";
  }

  /** Whether an attempt may have taken effect whose response did not come. */
  get isUnclear(): boolean {
    return this.#fate.open;
  }

  /** An attempt begins. Its deadline does not cut it short if that would leave the fate of the request unknown. */
  begin(): { attempt: number; timeoutMs: number; isCut: boolean } {
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.settings;
    const { deadline } = this.request;
    const leftMs = Math.max(1, deadline.remainingMs());
    const longestMs = this.isRead ? Math.max(attemptTimeoutMs, deadline.attemptMs ?? 0) : mutationAttemptTimeoutMs;
    const isCut = this.repeatable && leftMs < longestMs;
    return { attempt: (this.#attempts += 1), timeoutMs: isCut ? leftMs : longestMs, isCut };
  }

  /** An error about the last attempt alone, or about none, does not tell what an earlier one has done. */
  ofAllAttempts(error: SvcError): SvcError {
    const isOpen = this.#fate.open && this.request.method === "PATCH" && !mayHaveTakenEffect(error);
    return isOpen ? stillUnknown(error) : error;
  }

  /** The time is over. `why`: what it was spent on, if no attempt has failed. */
  lateError(totalMs = this.request.deadline.totalMs, why?: SvcError): SvcError {
    const { method, path } = this.facts;
    return this.ofAllAttempts(errors.deadlineExceeded(totalMs, { method, path }, this.#lastError ?? why));
  }

  /**
   * Waits for the next attempt.
   * @throws the error that ends the request, when no attempt would help.
   */
  async goOnAfter({ error, isCut }: FailedAttempt): Promise<void> {
    const happened = whatHappened(error);
    // The error of an attempt that the deadline cut short says less than the error before it.
    if (isCut && error instanceof errors.TimeoutError && error.status === undefined) {
      this.#fate.open = true;
      throw this.lateError();
    }
    this.#lastError = error;
    this.request.onError?.(error);
    if (happened !== "throttled") this.#faults += 1;
    this.#fate.open ||= happened === "unclear";
    if (this.request.retry === false) throw error;
    if (this.request.retryLocked === false && error instanceof errors.LockedError) throw error;
    await this.#pause(error, happened === "throttled" && this.isRead);
  }

  async #pause(error: SvcError, isThrottled: boolean): Promise<void> {
    const { deadline, onProgress } = this.request;
    const remainingMs = isThrottled ? this.throttle.leftMs : deadline.remainingMs();
    const verdict = decideRetry({
      error,
      repeatable: this.repeatable,
      attempts: this.#attempts,
      faults: this.#faults,
      remainingMs,
      baseDelayMs: this.settings.baseDelayMs,
      random: Math.random(),
    });
    if (!verdict.retry) {
      const totalMs = isThrottled ? this.throttle.totalMs : deadline.totalMs;
      throw this.#ofEarlierAttempt(error) ?? finalError(error, verdict, { leftMs: remainingMs, totalMs });
    }
    const seconds = Math.round((performance.now() - this.#began) / 1000);
    onProgress?.(`${isThrottled ? "the service asks to wait" : "retrying"}: ${error.what}, ${seconds} s`);
    const end = isThrottled ? this.throttle.begin() : undefined;
    await withDeadline(deadline, sleep(verdict.delayMs), () => this.lateError()).finally(end);
  }

  /** The error of the last attempt, if an earlier one may have done what it says was not done. */
  #ofEarlierAttempt(error: SvcError): SvcError | undefined {
    const isAboutAll = whatHappened(error) === "unclear" || error instanceof errors.NotFoundError;
    return this.#fate.open && this.request.method === "PATCH" && !isAboutAll ? stillUnknown(error) : undefined;
  }
}

function finalError(
  error: SvcError,
  verdict: RetryDecision & { retry: false },
  { leftMs, totalMs }: { leftMs: number; totalMs: number },
): SvcError {
  if (verdict.because === "unknown-fate" || (verdict.because === "refused" && mayHaveTakenEffect(error)))
    return fateUnknown(error);
  if (verdict.because === "too-late") return errors.pauseTooLong(error, leftMs, totalMs);
  if (verdict.because === "out-of-time") return errors.deadlineExceeded(totalMs, error.facts, error);
  return error;
}

const stillUnknown = ({ what, facts, advice }: SvcError): errors.FateUnknownError =>
  new errors.FateUnknownError(`${what}; an earlier attempt may have taken effect`, facts, advice);

export const fateUnknown = ({ what, facts, advice }: SvcError): errors.FateUnknownError =>
  new errors.FateUnknownError(`${what}; the request may have taken effect`, facts, advice);
