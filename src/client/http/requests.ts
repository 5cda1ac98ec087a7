import type { z } from "zod";
import { type Deadline, sleep } from "./deadline";
import * as errors from "./errors";
import { SvcError } from "./errors";
import type { Settings } from "../options";
import type { Redactor } from "./redact";
import { type Asked, type Content, contentOf, failureOf } from "./responses";
import { type Verdict, verdictOn, whatHappened } from "./retry";
import type { RawResponse, Transport } from "./transport";

export interface Request {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path template, such as /projects/{project_id}/endpoints. */
  template: string;
  params: Record<string, string>;
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
  /** Shared with whoever sends it again: whether an attempt may have taken effect. */
  fate?: { open: boolean };
  /** Called when the service holds a read off; the returned function when that is over. */
  onHeldOff?: () => () => void;
  /** Hears of each attempt that failed. */
  onTrouble?: (error: SvcError) => void;
}

/** A change that the service accepted. */
export interface Accepted<T> {
  /** Undefined: the response had no body. */
  value: T | undefined;
  /** An earlier attempt may have taken effect, so that the response may tell but half of what is under way. */
  repeated: boolean;
}

/** Path segments are encoded; one that would change the path (nothing, dots) is refused. */
function pathOf({ method, template, params }: Request): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    const odd = /^\.{0,2}$|\p{Cs}|\p{Cc}/u.test(value);
    if (odd) throw new SvcError(`${JSON.stringify(value)} cannot be a ${name}`, { method, path: template });
    return encodeURIComponent(value);
  });
}

const NAMED = { project_id: "project", branch_id: "branch", endpoint_id: "compute" } as const;

function namesIn({ params, body }: Request): string {
  const { endpoint, ...fields } = (body ?? {}) as { endpoint?: object };
  const all: Record<string, unknown> = { ...fields, ...endpoint, ...params };
  const named = Object.entries(NAMED).filter(([field]) => typeof all[field] === "string");
  return named.map(([field, what]) => `${what} ${String(all[field])}`).join(", ");
}

export class Requests {
  #refusedKey: errors.AuthenticationError | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly redactor: Redactor,
    private readonly settings: Settings,
  ) {}

  async read<S extends z.ZodType>(request: Request, shape: S): Promise<z.infer<S>> {
    const { value, odd } = await this.#send(request, shape);
    if (odd !== undefined) throw odd;
    if (value !== undefined) return value;
    throw new errors.BadResponseError("the response is empty", { method: request.method, path: request.template });
  }

  /**
   * A change (docs/design/rules.md, 1): a body of the route's shape, or none at all.
   * @throws FateUnknownError when it may have taken effect, or when a good status came with any other body.
   */
  async change<S extends z.ZodType>(request: Request, shape?: S): Promise<Accepted<z.infer<S>>> {
    const { value, odd, repeated } = await this.#send(request, shape);
    if (odd !== undefined) throw unknownFate(odd);
    return { value, repeated };
  }

  async #send<S extends z.ZodType>(
    request: Request,
    shape: S | undefined,
  ): Promise<Content<z.infer<S>> & { repeated: boolean }> {
    const { method, template, deadline, fate, repeatable = method !== "POST" } = request;
    this.redactor.learn(request.body);
    const asked = { method, path: template, names: namesIn(request) };
    const path = pathOf(request);
    const longestMs = method === "GET" ? this.settings.attemptTimeoutMs : this.settings.mutationAttemptTimeoutMs;
    const began = performance.now();
    let heldOffLeftMs = this.settings.heldOffMs;
    let faults = 0;
    let repeated = fate?.open ?? false;
    let before: SvcError | undefined;
    const late = (): SvcError => errors.outOfTime(deadline.totalMs, { method, path: template }, before);
    for (let attempts = 1; ; attempts += 1) {
      if (deadline.expired) throw late();
      await request.before?.();
      // Not cut short by the deadline where that would leave the fate of the request unknown.
      const leftMs = Math.max(1, deadline.remainingMs());
      const isCut = repeatable && leftMs < longestMs;
      const timeoutMs = isCut ? leftMs : longestMs;
      try {
        const raw = await this.transport.send({ ...request, path, repeatable, timeoutMs });
        const failure = this.#failureOf(raw, asked);
        if (failure !== undefined) throw failure;
        return { ...contentOf(raw, shape, asked, this.redactor), repeated };
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        // An attempt that the deadline cut short tells less than the one before it, whichever timer was faster.
        if (isCut && error instanceof errors.TimeoutError && error.status === undefined) throw late();
        before = error;
        request.onTrouble?.(error);
        const happened = whatHappened(error);
        if (happened !== "held-off") faults += 1;
        repeated ||= happened === "unclear";
        if (fate !== undefined) fate.open ||= repeated;
        if (request.retryLocked === false && error instanceof errors.LockedError) throw error;
        const heldOff = happened === "held-off" && method === "GET";
        const remainingMs = heldOff ? heldOffLeftMs : deadline.remainingMs();
        const verdict = verdictOn({
          error,
          repeatable,
          attempts,
          faults: request.retry === false ? Number.POSITIVE_INFINITY : faults,
          remainingMs,
          baseDelayMs: this.settings.baseDelayMs,
          random: Math.random(),
        });
        if (!verdict.retry) {
          // The last word is about the last attempt alone.
          if (repeated && happened !== "unclear" && method === "PATCH" && !(error instanceof errors.NotFoundError))
            throw new errors.FateUnknownError(`${error.what}; an earlier attempt may have taken effect`, error.facts);
          throw finalError(error, verdict, remainingMs, heldOff ? this.settings.heldOffMs : deadline.totalMs);
        }
        if (request.retry === false) throw error;
        const seconds = Math.round((performance.now() - began) / 1000);
        request.onProgress?.(`${heldOff ? "the service asks to wait" : "trying again"}: ${error.what}, ${seconds} s`);
        const goOn = heldOff ? request.onHeldOff?.() : undefined;
        if (heldOff) heldOffLeftMs -= verdict.delayMs;
        await sleep(verdict.delayMs);
        goOn?.();
      }
    }
  }

  /** One wrong key fails every call: what to do about it is said once. */
  #failureOf(raw: RawResponse, asked: Asked): SvcError | undefined {
    const failure = failureOf(raw, asked, this.redactor);
    if (!(failure instanceof errors.AuthenticationError)) return failure;
    if (this.#refusedKey !== undefined) return new errors.AuthenticationError(failure.what, failure.facts);
    return (this.#refusedKey = failure);
  }
}

function finalError(error: SvcError, verdict: Verdict & { retry: false }, leftMs: number, totalMs: number): SvcError {
  if (verdict.because === "unknown-fate") return unknownFate(error);
  if (verdict.because === "too-late") return errors.tooLate(error, leftMs, totalMs);
  if (verdict.because === "out-of-time") return errors.outOfTime(totalMs, error.facts, error);
  return error;
}

const unknownFate = ({ what, facts }: SvcError): errors.FateUnknownError =>
  new errors.FateUnknownError(`${what}, so it may have taken effect`, facts);
