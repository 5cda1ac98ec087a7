import { z } from "zod";
import { DEEPEST, isDeeperThan } from "../../contract/untrusted";
import * as errors from "./errors";
import type { ErrorFacts, SvcError } from "./errors";
import type { Redactor } from "./redact";
import type { Refusal } from "./requestBudget";
import type { RawResponse } from "./transport";

const MEANINGS = new Map<number, [typeof SvcError, string]>([
  [401, [errors.AuthenticationError, "the API key is missing or wrong"]],
  [403, [errors.PermissionError, "the API key does not permit this"]],
  [404, [errors.NotFoundError, "not found"]],
  [407, [errors.BadRequestError, "a proxy in between requires a user name and a password"]],
  [408, [errors.TimeoutError, "the service timed out waiting for the request"]],
  [409, [errors.ConflictError, "it conflicts with an existing object"]],
  [410, [errors.NotFoundError, "gone"]],
  [423, [errors.LockedError, "the project has a running operation"]],
  [429, [errors.RateLimitError, "too many requests"]],
]);

function meaningOf(status: number): [typeof SvcError, string] {
  if (status >= 500) return [errors.ServiceError, "the service failed"];
  return MEANINGS.get(status) ?? [errors.BadRequestError, "the service refused the request"];
}

/** Seconds or an HTTP date (RFC 9110 10.2.3), as a time from `now`. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** By the service's clock, which a date in its response refers to; by ours if the response has no date. */
function serviceTime({ date = "" }: RawResponse): number {
  const told = Date.parse(date);
  return Number.isNaN(told) ? Date.now() : told;
}

/** The refusal of a 429. */
export const refusalOf = (raw: RawResponse): Refusal | undefined =>
  raw.status === 429 ? { retryAfterMs: retryAfterMs(raw.retryAfter, serviceTime(raw)) } : undefined;

export const isGoneStatus = (status: number): boolean => status === 404 || status === 410;

/**
 * The error body of the service: two strings. A gateway in front of it answers differently, such as with a numeric
 * code.
 */
export function isErrorBody(body: unknown): boolean {
  if (typeof body !== "object" || body === null || !("code" in body) || !("message" in body)) return false;
  return typeof body.code === "string" && typeof body.message === "string";
}

/**
 * Drops null fields, at any depth, in place from a body that was just parsed: copying a long list would be expensive.
 */
function dropNulls(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    if (field === null && !Array.isArray(value)) Reflect.deleteProperty(value, key);
    else if (typeof field === "object") dropNulls(field);
  }
}

/** Undefined if it is not JSON, or nested too deeply. */
function jsonOf(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return isDeeperThan(DEEPEST, json) ? undefined : json;
  } catch {
    return undefined;
  }
}

const text = z.string().min(1).optional().catch(undefined);
const refusal = z.object({ code: text, message: text, request_id: text }).catch({});

export interface RequestFacts extends ErrorFacts {
  /** The objects that its path and body name, such as `project prj-1, branch br-2`. */
  names: string;
}

/** A response, with the facts about its request. */
export interface Exchange {
  readonly raw: RawResponse;
  readonly request: RequestFacts;
  /** The account's redactor: texts of the service pass through it. */
  readonly redactor: Redactor;
}

function factsOf({ raw, request: { names: _names, ...facts }, redactor }: Exchange, body: unknown): ErrorFacts {
  const { code, message, request_id: requestId = raw.requestId } = refusal.parse(body);
  return {
    ...facts,
    status: raw.status,
    code: code && redactor.word(code),
    requestId: requestId && redactor.word(requestId),
    serviceMessage: message && redactor.message(message),
    retryAfterMs: retryAfterMs(raw.retryAfter, serviceTime(raw)),
  };
}

const messageOf = ({ serviceMessage = "" }: ErrorFacts): string => {
  const words = serviceMessage.replace(/[.\s]+$/, "");
  return words === "" ? "" : `: ${words}`;
};

/** The host that a redirect points to. The rest of the address may hold a token. */
function targetOf({ raw: { location }, redactor }: Exchange): string {
  if (location === undefined) return "";
  const here = "same-host.invalid";
  const host = URL.canParse(location, `http://${here}`) ? new URL(location, `http://${here}`).host : "";
  if (host === "") return "";
  // As it was written: the parsed host has no capitals and no escapes.
  const [, written = location] = /^[^/?#]*\/\/([^/?#]*)/.exec(location) ?? [];
  return host === here ? " to another path of the same host" : ` to ${redactor.word(host, written)}`;
}

/** The error of a response outside 2xx; undefined for a 2xx. */
export function errorOf(exchange: Exchange): SvcError | undefined {
  const { raw, request, redactor } = exchange;
  const { status } = raw;
  if (status >= 200 && status < 300) return undefined;
  const body = jsonOf(raw.text);
  redactor.learn(body);
  const facts = factsOf(exchange, body);
  if (status < 400) {
    const what = `the service answered with a redirect${targetOf(exchange)}, which is not followed`;
    const advice = "Check that the base URL is right, and whether a proxy or a login page is in between";
    return new errors.BadResponseError(what, facts, advice);
  }
  if (isGoneStatus(status) && !isErrorBody(body)) {
    const what = `the response (${status}) does not have the service's error format and may come from a proxy`;
    return new errors.BadResponseError(`${what}. Check that the base URL is right`, facts);
  }
  const [Meaning, what] = meaningOf(status);
  const which = isGoneStatus(status) && request.names !== "" ? ` (${request.names})` : "";
  return new Meaning(what + which + messageOf(facts), facts);
}

/** The content of a 2xx response: a body of the route's schema, something else, or nothing if there is no body. */
export interface Content<T> {
  value?: T;
  invalid?: SvcError;
}

/** `schema` undefined: the route answers without a body. */
export function parseContent<Body>(exchange: Exchange, schema: z.ZodType<Body> | undefined): Content<Body> {
  const { raw, redactor } = exchange;
  if (raw.text.trim() === "") return {};
  const json = jsonOf(raw.text);
  dropNulls(json);
  redactor.learn(json);
  const invalid = (what: string): { invalid: SvcError } => {
    const facts = factsOf(exchange, isErrorBody(json) ? json : undefined);
    return { invalid: new errors.BadResponseError(what + messageOf(facts), facts) };
  };
  if (/html/i.test(raw.contentType) || raw.text.trimStart().startsWith("<"))
    return invalid("the response is a web page, not JSON");
  if (json === undefined) return invalid("the response is not JSON");
  if (schema === undefined) return invalid("the response has a body, but this route has none");
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  // Only places and kinds: zod's own messages may quote what they found.
  const places = parsed.error.issues
    .slice(0, 3)
    .map(({ path, code }) => `${redactor.word(path.join(".")) || "body"} (${code})`);
  return invalid(`the response has an unexpected shape: ${places.join(", ")}`);
}
