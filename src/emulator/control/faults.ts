import { validateHeaderName, validateHeaderValue } from "node:http";
import { z } from "zod";
import { isRecord } from "../http/bodies";
import { newId, OPERATION_ACTIONS, type OperationAction, type OperationOutcome } from "../model/records";
import { PAGING_FAULTS } from "../model/pages";
import { LONGEST_TIMER_MS } from "../emulatorOptions";

const times = z.int().min(0).default(1);

/** Validated by node:http, which sends them: the Headers class accepts control characters. */
function sendable(headers: Record<string, string>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

/**
 * Node refuses the first without trailers. The web server uses the second to mark responses that a handler has already
 * sent.
 */
const NOT_OF_AN_ANSWER = /^(trailer|x-hono-already-sent)$/i;

const requestFault = z
  .strictObject({
    method: z.string().optional(),
    path: z.string().startsWith("/").optional(),
    page: z.int().min(1).optional(),
    times,
    after: z.int().min(0).default(0),
    status: z.int().min(200).max(599).optional(),
    body: z.unknown().optional(),
    merge: z.record(z.string(), z.unknown()).optional(),
    contentType: z
      .string()
      .refine((type) => sendable({ "content-type": type }), "contains a character that HTTP headers do not allow")
      .optional(),
    headers: z
      .record(z.string(), z.string())
      .refine(sendable, "contains a name or value that HTTP headers do not allow")
      .refine(
        (headers) => !Object.keys(headers).some((name) => NOT_OF_AN_ANSWER.test(name)),
        "contains an HTTP header that the emulator cannot send: trailer or x-hono-already-sent",
      )
      .default({}),
    delayMs: z.int().min(0).max(LONGEST_TIMER_MS).default(0),
    effect: z.enum(["none", "done"]).default("none"),
    drop: z.enum(["reset", "cut", "hang"]).optional(),
    paging: z.enum(PAGING_FAULTS).optional(),
  })
  .refine(
    ({ status, body, merge, drop, paging, delayMs }) =>
      [status, body, merge, drop, paging].some((part) => part !== undefined) || delayMs > 0,
    "a fault needs a status, a body, a merge, a drop, a paging or a delayMs",
  )
  .refine(
    ({ status, body, merge, drop, paging }) =>
      paging === undefined || [status, body, merge, drop].every((part) => part === undefined),
    "a paging changes the cursor of the real response: it allows no status, body, merge or drop",
  )
  .refine(
    ({ merge, body, drop, effect }) =>
      merge === undefined || (body === undefined && drop === undefined && effect === "done"),
    'a merge changes the real response: it needs effect "done", and allows neither a body nor a drop',
  );

const operationFault = z.strictObject({
  operation: z.strictObject({
    action: z.enum(OPERATION_ACTIONS).optional(),
    status: z.enum(["failed", "error", "cancelled"]),
    error: z.string().optional(),
    times,
  }),
});

const stuckFault = z.strictObject({ stuck: z.literal(true), times });

export type CheckedRequestFault = z.infer<typeof requestFault>;
type FaultSpec = CheckedRequestFault | z.infer<typeof operationFault> | z.infer<typeof stuckFault>;

/**
 * The schema for a body of POST /_emulator/faults, chosen by its key: a union's error would only say that nothing
 * matches.
 */
export function faultSchemaFor(body: unknown): z.ZodType<FaultSpec> {
  if (isRecord(body) && "operation" in body) return operationFault;
  if (isRecord(body) && "stuck" in body) return stuckFault;
  return requestFault;
}

/** `left` counts down; Infinity = until cleared. `skip`: how many matching requests pass first. */
interface ActiveFault<Spec> {
  id: string;
  spec: Spec;
  left: number;
  skip: number;
}

interface AskedRequest {
  method: string;
  path: string;
  template: string | null;
  page: number | undefined;
}

const timesOf = (spec: FaultSpec): number => ("operation" in spec ? spec.operation.times : spec.times);

/** The configured faults in order: the first one that matches is used. */
export class Faults {
  private active: ActiveFault<FaultSpec>[] = [];
  private readonly listeners: (() => void)[] = [];

  add(spec: FaultSpec): string {
    const count = timesOf(spec);
    const skip = "after" in spec ? spec.after : 0;
    const fault = { id: newId(), spec, left: count === 0 ? Infinity : count, skip };
    this.active.push(fault);
    this.changed();
    return fault.id;
  }

  /** In the form of the requests that set them, with their remaining counts. */
  list(): ({ id: string; left: number | null; skip: number } & Record<string, unknown>)[] {
    return this.active.map(({ id, spec, left, skip }) => ({
      id,
      ...spec,
      left: left === Infinity ? null : left,
      skip,
    }));
  }

  clear(): void {
    this.active = [];
    this.changed();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The fault for a request, if any. `path` is relative to the API root; `page`: of a list, 1 without a cursor. */
  takeForRequest({ method, path, template, page }: AskedRequest): CheckedRequestFault | undefined {
    for (const fault of this.active) {
      const { spec } = fault;
      if ("operation" in spec || "stuck" in spec) continue;
      if (spec.method !== undefined && spec.method.toUpperCase() !== method) continue;
      if (spec.path !== undefined && spec.path !== path && spec.path !== template) continue;
      if (spec.page !== undefined && (method !== "GET" || spec.page !== page)) continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      this.use(fault);
      return spec;
    }
    return undefined;
  }

  /** The outcome of the next operation with that action, if a fault sets one. */
  takeOutcome(wanted: OperationAction): OperationOutcome | undefined {
    for (const fault of this.active) {
      const { spec } = fault;
      if ("stuck" in spec && wanted === "start_compute") {
        this.use(fault);
        return { status: "stuck" };
      }
      if ("operation" in spec && (spec.operation.action ?? wanted) === wanted) {
        this.use(fault);
        return { status: spec.operation.status, error: spec.operation.error };
      }
    }
    return undefined;
  }

  private use(fault: ActiveFault<FaultSpec>): void {
    fault.left -= 1;
    if (fault.left <= 0) this.active = this.active.filter((other) => other !== fault);
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}
