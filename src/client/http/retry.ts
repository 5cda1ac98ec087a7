import * as errors from "./errors";
import { SvcError } from "./errors";
import { isHopeless, TOO_LONG } from "./transport";

/** The longest pause of our own choice; `Retry-After` may ask for more. */
export const LONGEST_DELAY_MS = 5_000;
/**
 * The most attempts that may end in a fault of the network or the service. Locks and limits are waited for until the
 * deadline.
 */
export const MOST_FAULTS = 12;

/**
 * What happened, as far as it is known: `refused`: for good. `throttled`: not executed, but a later attempt may be
 * (423, 429). `not-sent`: nothing reached the service. `unclear`: the request may have taken effect.
 */
export type Happened = "refused" | "throttled" | "not-sent" | "unclear";

export function whatHappened(error: SvcError): Happened {
  if (error instanceof errors.LockedError || error instanceof errors.RateLimitError) return "throttled";
  if (error instanceof errors.ConnectionError) {
    if (isHopeless(error.reason ?? "")) return "refused";
    return error.beforeSending ? "not-sent" : "unclear";
  }
  if (error instanceof errors.TimeoutError) return "unclear";
  // A 501, too: whoever answers it, such as a gateway, may have passed the request on before.
  if (error instanceof errors.ServiceError) return "unclear";
  // A success status with a body that is not the route's, or a redirect, which may be how the effect is shown (303).
  if (error instanceof errors.BadResponseError) return (error.status ?? 0) < 400 ? "unclear" : "refused";
  return "refused";
}

const WAIT_ERRORS = [errors.OperationFailedError, errors.NotStartingError, errors.WaitTimeoutError];

/** Whether a change that failed like this may have taken effect. */
export function mayHaveTakenEffect(error: unknown): boolean {
  // These errors come from waits for accepted changes.
  if (WAIT_ERRORS.some((kind) => error instanceof kind)) return true;
  if (error instanceof errors.FateUnknownError) return true;
  if (!(error instanceof SvcError) || error.method === undefined || error.method === "GET") return false;
  return whatHappened(error) === "unclear";
}

export type RetryDecision =
  | { retry: true; delayMs: number }
  /** `too-late`: the service asks for a longer pause than is left. `unknown-fate`: find out before anything else. */
  | { retry: false; because: "refused" | "unknown-fate" | "too-late" | "out-of-time" | "enough" };

/** The attempts so far, including the last one. */
export interface FailedAttempts {
  error: SvcError;
  /** Sending it twice does no harm. */
  repeatable: boolean;
  attempts: number;
  /** How many of them ended in a fault. */
  faults: number;
  /** The time until the deadline; while a read is throttled, the time left for that. */
  remainingMs: number;
  baseDelayMs: number;
  /** In [0, 1). */
  random: number;
}

export function decideRetry(tried: FailedAttempts): RetryDecision {
  const { error, repeatable, attempts, faults, remainingMs, baseDelayMs, random } = tried;
  const happened = whatHappened(error);
  if (happened === "refused") return { retry: false, because: "refused" };
  if (happened === "unclear") {
    // A repetition brings no better response: the caller looks for the effect.
    if (!repeatable) return { retry: false, because: "unknown-fate" };
    const tooLong = error instanceof errors.ConnectionError && error.reason === TOO_LONG;
    if (error instanceof errors.BadResponseError || error.status === 501 || tooLong)
      return { retry: false, because: "refused" };
  }
  if (happened !== "throttled" && faults >= MOST_FAULTS) return { retry: false, because: "enough" };
  // Full jitter: anything between zero and an exponentially growing ceiling.
  const jitter = random * Math.min(LONGEST_DELAY_MS, baseDelayMs * 2 ** Math.min(attempts - 1, 30));
  // Spread out after the pause that the service asks for, because all its clients wait for the same time.
  const delayMs = error.retryAfterMs === undefined ? jitter : error.retryAfterMs + Math.min(jitter, baseDelayMs);
  if (error.retryAfterMs !== undefined && error.retryAfterMs >= remainingMs)
    return { retry: false, because: "too-late" };
  if (delayMs >= remainingMs) return { retry: false, because: "out-of-time" };
  return { retry: true, delayMs };
}
