import type { z } from "zod";
import type { ApiKey } from "./apiKey";
import * as errors from "./errors";
import { SvcError } from "./errors";
import type { ClientTimings } from "../clientOptions";
import type { Redactor } from "./redact";
import { type AnyRequest, type GatedRequest, pathOf, refuseUnsendable, type Request } from "./request";
import type { Permit, RequestBudget, RequestKind, Refusal } from "./requestBudget";
import { type Content, type Exchange, parseContent, errorOf, refusalOf } from "./responses";
import { whatHappened } from "./retry";
import { type FailedAttempt, fateUnknown, Sending } from "./sending";
import type { Attempt, RawResponse, Transport } from "./transport";

/** A response that accepts the request. */
export interface ChangeResponse<Body> {
  /** Undefined: it had no body. */
  value: Body | undefined;
  /** An earlier attempt may have taken effect, so the response may not list all operations. */
  repeated: boolean;
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

/** Call it with the refusal of the response, or with nothing. */
type OnAnswer = (refusal?: Refusal) => void;

/** Reports the response, or that there is none, to the request budget. */
async function answered(sent: Promise<RawResponse>, onAnswer: OnAnswer): Promise<RawResponse> {
  const raw = await sent.catch((error: unknown) => {
    onAnswer();
    throw error;
  });
  onAnswer(refusalOf(raw));
  return raw;
}

/** @throws when the response was good and its body is not. */
function accepted<Body>(sending: Sending, { value, invalid }: Content<Body>): ChangeResponse<Body> {
  if (invalid !== undefined) throw sending.isRead ? invalid : fateUnknown(invalid);
  return { value, repeated: sending.isUnclear };
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
    refuseUnsendable(request);
    this.context.redactor.learn(request.body);
    const path = pathOf(request);
    const sending = new Sending(request, this.context.settings);
    const refusedKeys = new Set<string>();
    for (;;) {
      if (request.deadline.expired) throw sending.lateError();
      const onAnswer = await this.#permitFor(sending).catch((error: unknown) => {
        throw error instanceof SvcError ? sending.ofAllAttempts(error) : error;
      });
      const authorization = this.context.key.authorization();
      const outcome = await this.#attempt(sending, { path, onAnswer, schema });
      if ("content" in outcome) return accepted(sending, outcome.content);
      // A request with a refused key was not executed, so repeating any such request is safe.
      const isRefused = outcome.error instanceof errors.AuthenticationError;
      if (isRefused && this.context.key.isRenewed(refusedKeys.add(authorization))) {
        this.#refusedKey = undefined;
        request.onProgress?.("the key was refused; trying again with the one that its file holds now");
      } else {
        await sending.goOnAfter(outcome);
      }
    }
  }

  /** One attempt, in the tick in which it is permitted. Throws nothing of the service or the network. */
  async #attempt<Body>(
    sending: Sending,
    { path, onAnswer, schema }: { path: string; onAnswer: OnAnswer; schema: z.ZodType<Body> | undefined },
  ): Promise<FailedAttempt | { content: Content<Body> }> {
    const { request, repeatable, facts, isRead } = sending;
    const { attempt, timeoutMs, isCut } = sending.begin();
    const ended = { attempt, sentAt: performance.now() };
    const hadNoEffect = isRead ? undefined : request.deadline.changeSent();
    try {
      request.onSend?.();
      const body = request.currentBody === undefined ? request.body : request.currentBody();
      const raw = await answered(this.transport.send({ ...request, body, path, repeatable, timeoutMs }), onAnswer);
      const exchange = { raw, request: facts, redactor: this.context.redactor };
      const error = this.#errorOf(exchange);
      if (error !== undefined) throw error;
      const content = parseContent(exchange, schema);
      this.#trace(request, { ...ended, outcome: raw.status, requestId: raw.requestId });
      return { content };
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      if (whatHappened(error) !== "unclear") hadNoEffect?.();
      const { status, reason, requestId } = error.facts;
      this.#trace(request, { ...ended, outcome: status ?? reason ?? "no response", requestId });
      return { error, isCut };
    }
  }

  /** One attempt, whose response is returned as it is. Only a missing response is an error. */
  async probe(request: AnyRequest): Promise<RawResponse> {
    this.context.redactor.learn(request.body);
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.context.settings;
    const sending = new Sending(request, this.context.settings);
    const timeoutMs = sending.isRead ? attemptTimeoutMs : mutationAttemptTimeoutMs;
    const attempt: Attempt = { ...request, path: pathOf(request), repeatable: sending.isRead, timeoutMs };
    const onAnswer = await this.#permitFor(sending);
    return answered(this.transport.send(attempt), onAnswer);
  }

  /** For an attempt that is sent in the same tick. Returns what to call with its response. */
  async #permitFor(sending: Sending): Promise<OnAnswer> {
    const { request, isRead, throttle } = sending;
    const { method, template, beforeAttempt, deadline } = request;
    const kind: RequestKind = isRead ? "read" : beforeAttempt === undefined ? "change" : "proven";
    for (;;) {
      const permit = this.context.budget.take(kind) ?? (await this.#waitForPermit(kind, sending));
      if (permit === undefined) {
        const why = new errors.RateLimitError("too many requests", { method, path: template });
        throw sending.lateError(isRead ? throttle.totalMs : deadline.totalMs, why);
      }
      try {
        // After the wait, so that what it reads is still current.
        await beforeAttempt?.();
        if (deadline.expired) throw sending.lateError();
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
  async #waitForPermit(kind: RequestKind, { request, isRead, throttle }: Sending): Promise<Permit | undefined> {
    const { deadline, onThrottled, onProgress } = request;
    const { budget } = this.context;
    const timer = setTimeout(() => onProgress?.(budget.progressText), SHOWN_AFTER_MS);
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
