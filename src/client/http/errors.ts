/** The known facts about the failed exchange. `path` is the template, never the path with its values. */
export interface ErrorFacts {
  method?: string | undefined;
  path?: string | undefined;
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  /** The service's own message: capped, without control characters and secrets. */
  serviceMessage?: string | undefined;
  /** What `Retry-After` asked for. */
  retryAfterMs?: number | undefined;
  /** The deadline that ended it: a longer one may help. */
  deadlineMs?: number | undefined;
  /** For a network failure: the system's error code, such as ECONNRESET. */
  reason?: string | undefined;
  /** No part of the request can have reached the service. */
  beforeSending?: boolean | undefined;
}

/** `(<METHOD path template> -> <status> <code>, request <id>)`, with the parts that are known. */
function tail({ method, path, status, code, requestId }: ErrorFacts): string {
  const request = method === undefined || path === undefined ? "" : `${method} ${path}`;
  const outcome = [status, code].filter((part) => part !== undefined && part !== "").join(" ");
  const exchange = [request, outcome].filter((part) => part !== "").join(" -> ");
  const parts = [exchange, requestId ? `request ${requestId}` : ""].filter((part) => part !== "");
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** The base of every error that leaves the client. It never contains a body, a header or an address. */
export class SvcError extends Error {
  declare readonly method?: string;
  declare readonly status?: number;
  declare readonly retryAfterMs?: number;
  declare readonly deadlineMs?: number;
  declare readonly reason?: string;
  declare readonly beforeSending?: boolean;
  /** What happened, without the exchange and the advice. */
  declare readonly what: string;
  /** The exchange, for another error that repeats it. */
  declare readonly facts: ErrorFacts;
  /** What to do: the end of the message, without a full stop. */
  declare readonly advice?: string;

  constructor(what: string, facts: ErrorFacts = {}, advice?: string) {
    super(`${what}${tail(facts)}${advice === undefined ? "" : `. ${advice}`}`);
    this.name = new.target.name;
    // Only known facts become properties: the engine's wire format does not accept an `undefined` on an error.
    for (const [key, value] of Object.entries(facts)) {
      if (value !== undefined) Object.defineProperty(this, key, { value, enumerable: true });
    }
    Object.defineProperties(this, { what: { value: what }, facts: { value: facts } });
    if (advice !== undefined) Object.defineProperty(this, "advice", { value: advice });
  }

  /** The message for a caller that gives its own advice. */
  get withoutAdvice(): string {
    return this.what + tail(this.facts);
  }
}

// The error class of each status: `MEANINGS` of responses.ts.
/** 400, 422 and any other refusal without a class of its own. */
export class BadRequestError extends SvcError {}
/**
 * Nothing was sent: the body contains a text that stands for a value which the service does not show
 * (contract/standIns.ts).
 */
export class StandInError extends SvcError {}
export class AuthenticationError extends SvcError {}
export class PermissionError extends SvcError {}
/** 404 or 410 with the error body of the service (reads/absence.ts), or a compute that was deleted during a wait. */
export class NotFoundError extends SvcError {}
export class ConflictError extends SvcError {}
export class LockedError extends SvcError {}
export class RateLimitError extends SvcError {}
export class ServiceError extends SvcError {}
/** An attempt or the whole call took too long, or the service timed out (408). */
export class TimeoutError extends SvcError {}

export class ConnectionError extends SvcError {}
/** The proxy of the environment is in the way, and nothing was sent to the service. */
export class ProxyError extends ConnectionError {}
/** A response that is not the service's: HTML, truncated JSON, a missing field, a 404 of a proxy. */
export class BadResponseError extends SvcError {}

/** A request that may have taken effect, but whose effect was not found. */
export class FateUnknownError extends SvcError {}

export class OperationFailedError extends SvcError {}
/** A compute is not ready and has no operation in progress: waiting does not help. */
export class NotStartingError extends SvcError {}
/** The deadline passed during the wait for a compute. */
export class WaitTimeoutError extends SvcError {}

/** A copy with a detail added, for a call that a deadline ended. */
export function withDetail(error: SvcError, more: string, deadlineMs: number): SvcError {
  // All our classes have the constructor of SvcError.
  const Same = error.constructor as typeof SvcError;
  return new Same(`${error.what}; ${more}`, { ...error.facts, deadlineMs }, error.advice);
}

export const inSeconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

export function pauseTooLong(error: SvcError, leftMs: number, totalMs: number): SvcError {
  const pause = inSeconds(error.retryAfterMs ?? 0);
  return withDetail(error, `the service asks to wait ${pause}, more than the ${inSeconds(leftMs)} left`, totalMs);
}

/** `lastError`: why the last attempt failed, if that is known. */
export function deadlineExceeded(totalMs: number, facts: ErrorFacts, lastError?: SvcError): SvcError {
  return lastError === undefined
    ? new TimeoutError(`no response within ${inSeconds(totalMs)}`, { ...facts, deadlineMs: totalMs })
    : withDetail(lastError, `still failing after ${inSeconds(totalMs)}`, totalMs);
}
