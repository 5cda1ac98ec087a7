import type { z } from "zod";
import { type Deadline, sleep } from "./deadline";
import {
  AuthenticationError,
  BadResponseError,
  FateUnknownError,
  inSeconds,
  LockedError,
  NotFoundError,
  outOfTime,
  saying,
  SvcError,
  TimeoutError,
} from "./errors";
import type { Redactor } from "./redact";
import { type Asked, type Content, contentOf, failureOf } from "./responses";
import { type Verdict, verdictOn, whatHappened } from "./retry";
import type { Attempt, RawResponse, Transport } from "./transport";

export interface Request {
  method: Attempt["method"];
  /** Path template, such as /projects/{project_id}/endpoints. */
  template: string;
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  /** @default true, but false for POST */
  repeatable?: boolean;
  /** False: one attempt and no more. @default true */
  retry?: boolean;
  /** False: a 423 is thrown at once, for a queue to deal with. @default true */
  retryLocked?: boolean;
  deadline: Deadline;
  onProgress?: ((text: string) => void) | undefined;
  /** Runs before each attempt, which leaves in the same tick as it ends. What it throws ends the call. */
  before?: (() => Promise<void> | void) | undefined;
  /** Of a change that is sent again by somebody else: whether an earlier attempt may have taken effect. */
  fate?: { open: boolean };
  /** Called when the service holds a read off; the returned function when that is over. */
  onHeldOff?: () => () => void;
  /** Takes the error of each attempt that failed. */
  onTrouble?: (error: SvcError) => void;
}

/** A change that the service accepted. */
export interface Accepted<T> {
  /** Undefined: the response had no body. */
  value: T | undefined;
  /** An earlier attempt may have taken effect, so that the response may tell but half of what is under way. */
  repeated: boolean;
}

export interface RequestOptions {
  attemptTimeoutMs: number;
  mutationAttemptTimeoutMs: number;
  baseDelayMs: number;
  /** How long a read may be held off (429, 423) beside its own time. */
  heldOffMs: number;
}

/** Path segments are encoded; one that would change the path (nothing, dots) is refused. */
function pathOf({ method, template, params = {}, query }: Request): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    const odd = /^\.{0,2}$|\p{Cs}|\p{Cc}/u.test(value);
    if (odd) throw new SvcError(`${JSON.stringify(value)} cannot be a ${name}`, { method, path: template });
    return encodeURIComponent(value);
  });
  return query === undefined ? path : `${path}?${query}`;
}

const NAMED = { project_id: "project", branch_id: "branch", endpoint_id: "compute" } as const;

/** The objects that a request names. */
function namesIn({ params, body }: Request): string {
  const { endpoint, ...fields } = (body ?? {}) as { endpoint?: object };
  const all: Record<string, unknown> = { ...fields, ...endpoint, ...params };
  const named = Object.entries(NAMED).filter(([field]) => typeof all[field] === "string");
  return named.map(([field, what]) => `${what} ${String(all[field])}`).join(", ");
}

/** Makes requests: attempts, retries by what is known to have happened, responses checked against their shape. */
export class Requests {
  readonly #transport: Transport;
  readonly #redactor: Redactor;
  readonly #options: RequestOptions;
  #refusedKey: AuthenticationError | undefined;

  constructor(transport: Transport, redactor: Redactor, options: RequestOptions) {
    this.#transport = transport;
    this.#redactor = redactor;
    this.#options = options;
  }

  /** A good response with a body of this shape. */
  async read<S extends z.ZodType>(request: Request, shape: S): Promise<z.infer<S>> {
    const { value } = await this.#send(request, shape, (content, asked) => {
      if ("value" in content) return content.value;
      throw "odd" in content
        ? content.odd
        : new BadResponseError("the response is empty", { method: asked.method, path: asked.path });
    });
    return value;
  }

  /**
   * A change (docs/design/rules.md, 1): a body of the route's shape, or none at all.
   * @throws FateUnknownError when it may have taken effect, or when a good status came with any other body.
   */
  async change<S extends z.ZodType>(request: Request, shape?: S): Promise<Accepted<z.infer<S>>> {
    return this.#send(request, shape, (content) => {
      if ("odd" in content) throw unknownFate(content.odd);
      return "value" in content ? content.value : undefined;
    });
  }

  async #send<S extends z.ZodType, T>(
    request: Request,
    shape: S | undefined,
    read: (content: Content<z.infer<S>>, asked: Asked) => T,
  ): Promise<{ value: T; repeated: boolean }> {
    const { method, deadline, repeatable = method !== "POST" } = request;
    this.#redactor.learn(request.body);
    const asked = { method, path: request.template, names: namesIn(request) };
    const path = pathOf(request);
    const began = performance.now();
    let heldOffLeftMs = this.#options.heldOffMs;
    let faults = 0;
    let repeated = request.fate?.open ?? false;
    let before: SvcError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      if (deadline.expired) throw outOfTime(deadline.totalMs, { method, path: request.template }, before);
      await request.before?.();
      const { timeoutMs, isCut } = this.#limit(request, repeatable);
      try {
        const raw = await this.#transport.send({ ...request, path, repeatable, timeoutMs });
        const failure = this.#failureOf(raw, asked);
        if (failure !== undefined) throw failure;
        return { value: read(contentOf(raw, shape, asked, this.#redactor), asked), repeated };
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        // An attempt that the deadline cut short tells less than the one before it, whichever timer was faster.
        const unanswered = error instanceof TimeoutError && error.status === undefined;
        if (isCut && unanswered) throw outOfTime(deadline.totalMs, { method, path: request.template }, before);
        before = error;
        request.onTrouble?.(error);
        const happened = whatHappened(error);
        if (happened !== "held-off") faults += 1;
        repeated ||= happened === "unclear";
        if (request.fate !== undefined) request.fate.open ||= repeated;
        if (request.retryLocked === false && error instanceof LockedError) throw error;
        const heldOff = happened === "held-off" && method === "GET";
        const verdict = verdictOn({
          error,
          repeatable,
          attempts,
          faults: request.retry === false ? Number.POSITIVE_INFINITY : faults,
          remainingMs: heldOff ? heldOffLeftMs : deadline.remainingMs(),
          baseDelayMs: this.#options.baseDelayMs,
          random: Math.random(),
        });
        // The last word is about the last attempt alone.
        const isOpen = repeated && happened !== "unclear" && method === "PATCH" && !(error instanceof NotFoundError);
        if (!verdict.retry && isOpen)
          throw new FateUnknownError(`${error.what}; an earlier attempt may have taken effect`, error.facts);
        if (!verdict.retry) {
          const totalMs = heldOff ? this.#options.heldOffMs : deadline.totalMs;
          throw this.#final(error, verdict, heldOff ? heldOffLeftMs : deadline.remainingMs(), totalMs);
        }
        if (request.retry === false) throw error;
        const seconds = Math.round((performance.now() - began) / 1000);
        request.onProgress?.(`${heldOff ? "held off by the service" : "trying again"}: ${error.what}, ${seconds} s`);
        const goOn = heldOff ? request.onHeldOff?.() : undefined;
        if (heldOff) heldOffLeftMs -= verdict.delayMs;
        await sleep(verdict.delayMs);
        goOn?.();
      }
    }
  }

  /** One wrong key fails every call: what to do about it is said once. */
  #failureOf(raw: RawResponse, asked: Asked): SvcError | undefined {
    const failure = failureOf(raw, asked, this.#redactor);
    if (!(failure instanceof AuthenticationError)) return failure;
    if (this.#refusedKey !== undefined) return new AuthenticationError(failure.what, failure.facts);
    return (this.#refusedKey = failure);
  }

  /** How long an attempt may take. Not cut short by the deadline when cutting it would leave the fate of the request unknown. */
  #limit({ method, deadline }: Request, repeatable: boolean): { timeoutMs: number; isCut: boolean } {
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.#options;
    const longestMs = method === "GET" ? attemptTimeoutMs : mutationAttemptTimeoutMs;
    const leftMs = Math.max(1, deadline.remainingMs());
    return repeatable && leftMs < longestMs
      ? { timeoutMs: leftMs, isCut: true }
      : { timeoutMs: longestMs, isCut: false };
  }

  #final(error: SvcError, verdict: Verdict & { retry: false }, leftMs: number, totalMs: number): SvcError {
    if (verdict.because === "unknown-fate") return unknownFate(error);
    if (verdict.because === "too-late") {
      const asked = inSeconds(error.retryAfterMs ?? 0);
      return saying(error, `the service asks to wait ${asked}, more than the ${inSeconds(leftMs)} left`, totalMs);
    }
    if (verdict.because === "out-of-time") return outOfTime(totalMs, error.facts, error);
    return error;
  }
}

const unknownFate = (error: SvcError): FateUnknownError =>
  error instanceof FateUnknownError
    ? error
    : new FateUnknownError(`${error.what}, so it may have taken effect`, error.facts);
