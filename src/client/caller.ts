import type { z } from "zod";
import { bodyOf, failureOf, isWebPage } from "./answers";
import type { Deadline } from "./deadline";
import {
  type ErrorFacts,
  FateUnknownError,
  inSeconds,
  LockedError,
  outOfTime,
  saying,
  SvcError,
  TimeoutError,
} from "./errors";
import { redactor, secretsOf } from "./redact";
import { type Verdict, verdictOn, whatHappened } from "./retry";
import type { Attempt, RawAnswer, Transport } from "./transport";
import { sleep } from "./within";

export interface Call {
  method: Attempt["method"];
  /** Path template, such as /projects/{project_id}/endpoints. */
  template: string;
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  /** See `CallOptions`. */
  secretsIn?: readonly unknown[] | undefined;
  /** @default true, but false for POST */
  repeatable?: boolean;
  /** False: one attempt and no more. @default true */
  retry?: boolean;
  /** False: a 423 is thrown at once, for a queue to deal with. @default true */
  retryLocked?: boolean;
  deadline: Deadline;
  onProgress?: ((text: string) => void) | undefined;
  /** Takes the error of each attempt that failed. */
  onTrouble?: (error: SvcError) => void;
}

/** `repeated`: an earlier attempt may have taken effect, so that this answer may tell but half of what is under way. */
export type Answer<T> = { value: T; repeated: boolean };

export interface CallerOptions {
  apiKey: string;
  attemptTimeoutMs: number;
  mutationAttemptTimeoutMs: number;
  baseDelayMs: number;
}

/** Path segments are encoded; one that would change the path (nothing, dots) is refused. */
function pathOf({ method, template, params = {}, query }: Call): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    const odd = /^\.{0,2}$|\p{Cs}|\p{Cc}/u.test(value);
    if (odd) throw new SvcError(`${JSON.stringify(value)} cannot be a ${name}`, { method, path: template });
    return encodeURIComponent(value);
  });
  return query === undefined ? path : `${path}?${query}`;
}

/** Makes calls: attempts, retries by what is known to have happened, answers checked against their shape. */
export class Caller {
  readonly #transport: Transport;
  readonly #options: CallerOptions;

  constructor(transport: Transport, options: CallerOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** A good answer with a body of this shape. */
  async json<S extends z.ZodType>(call: Call, shape: S): Promise<Answer<z.infer<S>>> {
    return this.#send(call, (raw, facts, redact) => {
      const body = bodyOf(raw, shape, facts, redact);
      if ("odd" in body) throw body.odd;
      return body.value;
    });
  }

  /** A good answer; undefined when its body is empty or something else. A web page is no good answer. */
  async maybe<S extends z.ZodType>(call: Call, shape: S): Promise<Answer<z.infer<S> | undefined>> {
    return this.#send(call, (raw, facts, redact) => {
      const body = bodyOf(raw, shape, facts, redact);
      if ("value" in body) return body.value;
      if (isWebPage(raw)) throw body.odd;
      return undefined;
    });
  }

  async #send<T>(call: Call, read: (raw: RawAnswer, facts: ErrorFacts, redact: Redact) => T): Promise<Answer<T>> {
    const { method, deadline, repeatable = method !== "POST" } = call;
    const redact = redactor([this.#options.apiKey, ...secretsOf([call.body, call.secretsIn])]);
    const facts = { method, path: call.template };
    const path = pathOf(call);
    let faults = 0;
    let repeated = false;
    let before: SvcError | undefined;
    for (let attempts = 1; ; attempts += 1) {
      if (deadline.expired) throw outOfTime(deadline.totalMs, facts, before);
      const { timeoutMs, isCut } = this.#limit(call, repeatable);
      try {
        const raw = await this.#transport.send({ ...call, path, repeatable, timeoutMs });
        const failure = failureOf(raw, facts, redact);
        if (failure !== undefined) throw failure;
        return { value: read(raw, facts, redact), repeated };
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        // An attempt that the deadline cut short tells less than the one before it, whichever timer was faster.
        const unanswered = error instanceof TimeoutError && error.status === undefined;
        if (isCut && unanswered) throw outOfTime(deadline.totalMs, facts, before);
        before = error;
        call.onTrouble?.(error);
        const happened = whatHappened(error);
        if (happened !== "held-off") faults += 1;
        repeated ||= happened === "unclear";
        if (call.retryLocked === false && error instanceof LockedError) throw error;
        const verdict = verdictOn({
          error,
          repeatable,
          attempts,
          faults: call.retry === false ? Number.POSITIVE_INFINITY : faults,
          remainingMs: deadline.remainingMs(),
          baseDelayMs: this.#options.baseDelayMs,
          random: Math.random(),
        });
        if (!verdict.retry) throw this.#final(error, verdict, deadline);
        if (call.retry === false) throw error;
        call.onProgress?.(`trying again: ${error.what}`);
        await sleep(verdict.delayMs);
      }
    }
  }

  /** How long an attempt may take. Not cut short by the deadline when cutting it would leave the fate of the request unknown. */
  #limit({ method, deadline }: Call, repeatable: boolean): { timeoutMs: number; isCut: boolean } {
    const { attemptTimeoutMs, mutationAttemptTimeoutMs } = this.#options;
    const longestMs = method === "GET" ? attemptTimeoutMs : mutationAttemptTimeoutMs;
    const leftMs = Math.max(1, deadline.remainingMs());
    return repeatable && leftMs < longestMs
      ? { timeoutMs: leftMs, isCut: true }
      : { timeoutMs: longestMs, isCut: false };
  }

  #final(error: SvcError, verdict: Verdict & { retry: false }, deadline: Deadline): SvcError {
    if (verdict.because === "unknown-fate") {
      return new FateUnknownError(`${error.what}, so it may have taken effect`, error.facts);
    }
    if (verdict.because === "too-late") {
      const asked = inSeconds(error.retryAfterMs ?? 0);
      return saying(
        error,
        `the service asks to wait ${asked}, more than the ${inSeconds(deadline.remainingMs())} left`,
        deadline.totalMs,
      );
    }
    if (verdict.because === "out-of-time") return outOfTime(deadline.totalMs, error.facts, error);
    return error;
  }
}

type Redact = (text: string, cap?: number) => string;
