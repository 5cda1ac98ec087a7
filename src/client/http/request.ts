import type { Deadline } from "./deadline";
import * as errors from "./errors";
import { SvcError } from "./errors";
import { referencesIn } from "../../contract/references";
import { standInsIn } from "../../contract/standIns";
import type { Attempt } from "./transport";

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

/** For the files that send both in one way. */
export type AnyRequest = Omit<Request, "method"> & Pick<Attempt, "method">;

/** Path segments are encoded. A segment that would change the path (empty, dots) is refused. */
export function pathOf({ method, template, params }: AnyRequest): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? "";
    const odd = /^\.{0,2}$|\p{Cs}|\p{Cc}/u.test(value);
    if (odd) throw new SvcError(`${JSON.stringify(value)} cannot be a ${name}`, { method, path: template });
    return encodeURIComponent(value);
  });
}

/** @throws when the body holds a placeholder, or a reference that was not replaced by its value. */
export function refuseUnsendable({ method, template, body }: AnyRequest): void {
  const facts = { method, path: template };
  const [standIn] = standInsIn(body);
  if (standIn !== undefined) {
    const what = `${standIn} is a placeholder for a value that the service does not show: nothing was sent`;
    throw new errors.StandInError(what, facts);
  }
  const [reference] = referencesIn(body);
  if (reference !== undefined)
    throw new SvcError(`${reference} is a reference without a value: nothing was sent`, facts);
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NAMED = { project_id: "project", branch_id: "branch", endpoint_id: "compute" } as const;

/**
 * The objects that the path and the body name. Many bodies hold their fields in one object, such as `{ endpoint: {
 * branch_id } }`.
 */
export function namesIn({ params, body }: AnyRequest): string {
  const fields = isObject(body) ? body : {};
  const wrapped = Object.values(fields).filter(isObject);
  const all: Record<string, unknown> = Object.assign({}, ...wrapped, fields, params);
  const named = Object.entries(NAMED).filter(([field]) => typeof all[field] === "string");
  return named.map(([field, what]) => `${what} ${String(all[field])}`).join(", ");
}
