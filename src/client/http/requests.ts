import type { z } from "zod";
import type { ApiKey } from "./apiKey";
import { type Deadline, sleep, withDeadline } from "./deadline";
import * as errors from "./errors";
import { SvcError } from "./errors";
import type { ClientTimings } from "../clientOptions";
import type { Redactor } from "./redact";
import { referencesIn } from "../../contract/references";
import { standInsIn } from "../../contract/standIns";
import type { Permit, RequestBudget, RequestKind, Refusal } from "./requestBudget";
import { type Content, type Exchange, parseContent, errorOf, refusalOf } from "./responses";
import { type RetryDecision, decideRetry, mayHaveTakenEffect, whatHappened } from "./retry";
import type { Attempt, RawResponse, Transport } from "./transport";

export interface Request {
  /** Deletions go through the gate: see `GatedRequest`. */
  method: Exclude<Attempt["method"], "DELETE">;
  template: Attempt["template"];
  params: Record<string, string>;
  readonly body?: unknown;
  /** @default true, but false for POST */
  repeatable?: boolean;
  /** False: only one attempt. @default true */
  retry?: boolean;
  /** False: a 423 is thrown at once, for a queue to handle. @default true */
  retryLocked?: boolean;
  deadline: Deadline;
  onProgress?: ((text: string) => void) | undefined;
  /** Runs before each attempt, which is sent in the same tick. If it throws, the call ends. */
  beforeAttempt?: (() => Promise<void> | void) | undefined;
  /** Replaces `body`: called in the tick in which an attempt is sent, so that it contains what `beforeAttempt` read. */
  currentBody?: (() => unknown) | undefined;
  /** Shared by the repetitions of a request: whether an attempt may have taken effect. */
  fate?: { open: boolean };
  /**
   * Called when the service (`byService`), or the configured share of its requests, makes a read wait; the returned
   * function is called when that wait ends.
   */
  onThrottled?: (byService: boolean) => () => void;
  /** How long a read may be throttled for those who wait for it now, if that is longer than for any read. */
  throttledMs?: () => number;
  /** Called in the tick in which an attempt is sent. */
  onSend?: () => void;
  /** Called with the error of each failed attempt. */
  onError?: ((error: SvcError) => void) | undefined;
}

declare class OfGate {
  private readonly isGated: true;
}

/** A request that may destroy something. Only gate.ts makes it, with what grants each attempt. */
export type GatedRequest = Omit<Request, "method"> & Pick<Attempt, "method"> & OfGate;

/** For this file, which sends both in one way. */
type AnyRequest = Omit<Request, "method"> & Pick<Attempt, "method">;

/** A response that accepts the request. */
export interface ChangeResponse<Body> {
  /** Undefined: it had no body. */
  value: Body | undefined;
  /** An earlier attempt may have taken effect, so the response may not list all operations. */
  repeated: boolean;
}

/** Path segments are encoded. A segment that would change the path (empty, dots) is refused. */
function pathOf({ method, template, params }: AnyRequest): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    const odd = /^\.{0,2}$|\p{Cs}|\p{Cc}/u.test(value);
    if (odd) throw new SvcError(`${JSON.stringify(value)} cannot be a ${name}`, { method, path: template });
    return encodeURIComponent(value);
  });
}

function refuseStandIns({ method, template, body }: AnyRequest): void {
  const [path] = standInsIn(body);
  if (path === undefined) return;
  const what = `${path} is a placeholder for a value that the service does not show: nothing was sent`;
  throw new errors.StandInError(what, { method, path: template });
}

/** Refuses a reference that was not replaced by its value: the service would store the reference itself. */
function refuseReferences({ method, template, body }: AnyRequest): void {
  const [path] = referencesIn(body);
  if (path !== undefined)
    throw new SvcError(`${path} is a reference without a value: nothing was sent`, { method, path: template });
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NAMED = { project_id: "project", branch_id: "branch", endpoint_id: "compute" } as const;

/**
 * The objects that the path and the body name. Many bodies hold their fields in one object, such as `{ endpoint: {
 * branch_id } }`.
 */
function namesIn({ params, body }: AnyRequest): string {
  const fields = isObject(body) ? body : {};
  const wrapped = Object.values(fields).filter(isObject);
  const all: Record<string, unknown> = Object.assign({}, ...wrapped, fields, params);
  const named = Object.entries(NAMED).filter(([field]) => typeof all[field] === "string");
  return named.map(([field, what]) => `${what} ${String(all[field])}`).join(", ");
}

/** How long a request waits for a permit before that is shown. */
const SHOWN_AFTER_MS = 1_000;

/** What all requests of an account share. */
interface RequestContext {
  readonly key: ApiKey;
  readonly redactor: Redactor;
  readonly settings: ClientTimings;
  readonly budget: RequestBudget;
  readonly trace?: ((line: string) => void) | undefined;
}

/** A finished attempt, for a trace: its response, or the error of an attempt without one. */
interface EndedAttempt {
  readonly attempt: number;
  readonly sentAt: number;
  readonly outcome: string | number;
  readonly requestId: string | undefined;
}

/** Reports the response, or that there is none, to the request budget. */
async function answered(sent: Promise<RawResponse>, onAnswer: (refusal?: Refusal) => void): Promise<RawResponse> {
  const raw = await sent.catch((error: unknown) => {
    onAnswer();
    throw error;
  });
  onAnswer(refusalOf(raw));
  return raw;
}

/**
 * How long the service makes a read wait (docs/design/rules.md, 6): in all as long as the settings say, or as long as a
 * change that waits for it has time.
 */
class Throttle {
  #usedMs = 0;
  /** How long a wait that has not ended has lasted. */
  #nowMs = (): number => 0;

  constructor(
    private readonly request: Pick<Request, "deadline" | "onThrottled" | "throttledMs">,
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

export class Requests {
  #refusedKey: errors.AuthenticationError | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly context: RequestContext,
  ) {}

  async read<Body>(request: Request, schema: z.ZodType<Body>): Promise<Body> {
    const { value } = await this.send(request, schema);
    if (value !== undefined) return value;
    throw new errors.BadResponseError("the response is empty", { method: request.method, path: request.template });
  }

  /**
   * Sends it, and retries if that helps. The response (docs/design/rules.md, 1) has a body of the route's schema, or
   * none at all.
   * @throws FateUnknownError when a change may have taken effect, or when a good status came with any other body.
   */
  async send<Body>(request: Request | GatedRequest, schema?: z.ZodType<Body>): Promise<ChangeResponse<Body>> {
    const { method, template, deadline, fate = { open: false }, repeatable = method !== "POST" } = request;
    refuseStandIns(request);
    refuseReferences(request);
    this.context.redactor.learn(request.body);
    const facts = { method, path: template, names: namesIn(request) };
    const path = pathOf(request);
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.context.settings;
    const began = performance.now();
    const throttle = new Throttle(request, this.context.settings.throttledMs);
    let faults = 0;
    const refusedKeys = new Set<string>();
    let lastError: SvcError | undefined;
    // An error about the last attempt alone, or about none, does not tell what an earlier one has done.
    const ofAll = (error: SvcError): SvcError =>
      fate.open && method === "PATCH" && !mayHaveTakenEffect(error) ? stillUnknown(error) : error;
    const lateError = (totalMs = deadline.totalMs, why?: SvcError): SvcError =>
      ofAll(errors.deadlineExceeded(totalMs, { method, path: template }, lastError ?? why));
    for (let attempts = 1; ; attempts += 1) {
      if (deadline.expired) throw lateError();
      const onAnswer = await this.#permitFor(request, throttle, lateError).catch((error: unknown) => {
        throw error instanceof SvcError ? ofAll(error) : error;
      });
      // The deadline does not cut it short if that would leave the fate of the request unknown.
      const leftMs = Math.max(1, deadline.remainingMs());
      const longestMs =
        method === "GET" ? Math.max(attemptTimeoutMs, deadline.attemptMs ?? 0) : mutationAttemptTimeoutMs;
      const isCut = repeatable && leftMs < longestMs;
      const timeoutMs = isCut ? leftMs : longestMs;
      let content: Content<Body>;
      const authorization = this.context.key.authorization();
      const ended = { attempt: attempts, sentAt: performance.now() };
      const hadNoEffect = method === "GET" ? undefined : deadline.changeSent();
      try {
        request.onSend?.();
        const body = request.currentBody === undefined ? request.body : request.currentBody();
        const raw = await answered(this.transport.send({ ...request, body, path, repeatable, timeoutMs }), onAnswer);
        const exchange = { raw, request: facts, redactor: this.context.redactor };
        const error = this.#errorOf(exchange);
        if (error !== undefined) throw error;
        content = parseContent(exchange, schema);
        this.#trace(request, { ...ended, outcome: raw.status, requestId: raw.requestId });
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        const happened = whatHappened(error);
        if (happened !== "unclear") hadNoEffect?.();
        const { status, reason, requestId } = error.facts;
        this.#trace(request, { ...ended, outcome: status ?? reason ?? "no response", requestId });
        // A request with a refused key was not executed, so repeating any such request is safe.
        const isRefused = error instanceof errors.AuthenticationError;
        if (isRefused && this.context.key.isRenewed(refusedKeys.add(authorization))) {
          this.#refusedKey = undefined;
          request.onProgress?.("the key was refused; trying again with the one that its file holds now");
          continue;
        }
        // The error of an attempt that the deadline cut short says less than the error before it.
        if (isCut && error instanceof errors.TimeoutError && error.status === undefined) {
          fate.open = true;
          throw lateError();
        }
        lastError = error;
        request.onError?.(error);
        if (happened !== "throttled") faults += 1;
        fate.open ||= happened === "unclear";
        if (request.retry === false) throw error;
        if (request.retryLocked === false && error instanceof errors.LockedError) throw error;
        const throttled = happened === "throttled" && method === "GET";
        const remainingMs = throttled ? throttle.leftMs : deadline.remainingMs();
        const verdict = decideRetry({
          error,
          repeatable,
          attempts,
          faults,
          remainingMs,
          baseDelayMs: this.context.settings.baseDelayMs,
          random: Math.random(),
        });
        if (!verdict.retry) {
          // This error is about the last attempt only.
          if (fate.open && happened !== "unclear" && method === "PATCH" && !(error instanceof errors.NotFoundError))
            throw stillUnknown(error);
          throw finalError(error, verdict, {
            leftMs: remainingMs,
            totalMs: throttled ? throttle.totalMs : deadline.totalMs,
          });
        }
        const seconds = Math.round((performance.now() - began) / 1000);
        request.onProgress?.(`${throttled ? "the service asks to wait" : "retrying"}: ${error.what}, ${seconds} s`);
        const goOn = throttled ? throttle.begin() : undefined;
        await withDeadline(deadline, sleep(verdict.delayMs), () => lateError()).finally(goOn);
        continue;
      }
      const { value, invalid } = content;
      if (invalid !== undefined) throw method === "GET" ? invalid : fateUnknown(invalid);
      return { value, repeated: fate.open };
    }
  }

  /** One attempt, whose response is returned as it is. Only a missing response is an error. */
  async probe(request: AnyRequest): Promise<RawResponse> {
    const { method, deadline, body } = request;
    this.context.redactor.learn(body);
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.context.settings;
    const isRead = method === "GET";
    const timeoutMs = isRead ? attemptTimeoutMs : mutationAttemptTimeoutMs;
    const attempt: Attempt = { ...request, path: pathOf(request), repeatable: isRead, timeoutMs };
    const throttle = new Throttle(request, this.context.settings.throttledMs);
    const onAnswer = await this.#permitFor(request, throttle, () => errors.deadlineExceeded(deadline.totalMs, {}));
    return answered(this.transport.send(attempt), onAnswer);
  }

  /** For an attempt that is sent in the same tick. Returns what to call with its response. */
  async #permitFor(
    request: AnyRequest,
    throttle: Throttle,
    lateError: (totalMs?: number, why?: SvcError) => SvcError,
  ): Promise<(refusal?: Refusal) => void> {
    const { method, template, beforeAttempt, deadline } = request;
    const kind: RequestKind = method === "GET" ? "read" : beforeAttempt === undefined ? "change" : "proven";
    for (;;) {
      const permit = this.context.budget.take(kind) ?? (await this.#waitForPermit(kind, request, throttle));
      if (permit === undefined) {
        const why = new errors.RateLimitError("too many requests", { method, path: template });
        throw lateError(method === "GET" ? throttle.totalMs : deadline.totalMs, why);
      }
      try {
        // After the wait, so that what it reads is still current.
        await beforeAttempt?.();
        if (deadline.expired) throw lateError();
      } catch (error) {
        permit.release();
        throw error;
      }
      const onAnswer = permit.leave();
      if (onAnswer !== undefined) return onAnswer;
    }
  }

  /**
   * The wait for the configured share is charged to no clock. A wait that the service's limit causes is charged like any
   * that the service asks for; undefined if it takes too long.
   */
  async #waitForPermit(kind: RequestKind, request: AnyRequest, throttle: Throttle): Promise<Permit | undefined> {
    const { method, deadline, onThrottled, onProgress } = request;
    const { budget } = this.context;
    const timer = setTimeout(() => onProgress?.(budget.progressText), SHOWN_AFTER_MS);
    const isRead = method === "GET";
    const byService = budget.isThrottled;
    // Behind other requests it is in our own queue.
    const throttled = (): (() => void) => throttle.begin(() => budget.pausedMs);
    const ends = !byService ? [deadline.pause(), onThrottled?.(false)] : isRead ? [throttled()] : [];
    const leftMs = (): number => {
      if (deadline.isInterrupted) return 0;
      if (!byService) return Number.POSITIVE_INFINITY;
      // Somebody who has more time may join the wait for a read.
      return isRead ? throttle.leftMs : deadline.remainingMs();
    };
    const unsubscribe = deadline.onExpire(() => budget.endLate());
    try {
      return await budget.wait(kind, leftMs);
    } finally {
      unsubscribe();
      clearTimeout(timer);
      ends.forEach((end) => end?.());
    }
  }

  /** After the body was read: the request id may repeat its secrets. */
  #trace({ method, template }: AnyRequest, { attempt, sentAt, outcome, requestId }: EndedAttempt): void {
    const { trace, redactor } = this.context;
    if (trace === undefined) return;
    const ms = Math.round(performance.now() - sentAt);
    const ofService = requestId === undefined ? "" : `request ${redactor.word(requestId)}, `;
    trace(`${method} ${template} -> ${outcome}, ${ofService}${ms} ms, attempt ${attempt}`);
  }

  /** A refused key fails every call: only the first error says where it was sent. */
  #errorOf(exchange: Exchange): SvcError | undefined {
    const error = errorOf(exchange);
    if (!(error instanceof errors.AuthenticationError)) return error;
    if (this.#refusedKey !== undefined) return new errors.AuthenticationError(error.what, error.facts);
    const advice = `The key was sent to ${this.transport.where}`;
    return (this.#refusedKey = new errors.AuthenticationError(error.what, error.facts, advice));
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

const fateUnknown = ({ what, facts, advice }: SvcError): errors.FateUnknownError =>
  new errors.FateUnknownError(`${what}; the request may have taken effect`, facts, advice);
