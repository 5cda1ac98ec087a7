import type { z } from "zod";
import * as errors from "./errors";
import type { ErrorFacts, SvcError } from "./errors";
import { withoutNulls } from "./schemas";
import type { RawAnswer } from "./transport";

type Redact = (text: string, cap?: number) => string;

const KEY_ADVICE =
  "Refresh and destroy use the key that is stored with the stack: after a rotation run `pulumi up` first, or add --run-program. " +
  "The key can also be set by the environment variable SVC_API_KEY";

const MEANINGS = new Map<number, [typeof SvcError, string, string?]>([
  [401, [errors.AuthenticationError, "the API key is missing or wrong", KEY_ADVICE]],
  [403, [errors.PermissionError, "the API key does not permit this"]],
  [404, [errors.NotFoundError, "not found"]],
  [408, [errors.TimeoutError, "the service gave up waiting for the request"]],
  [409, [errors.ConflictError, "it conflicts with what is there"]],
  [410, [errors.NotFoundError, "gone"]],
  [423, [errors.LockedError, "the project has a running operation"]],
  [429, [errors.RateLimitError, "too many requests"]],
]);

function meaningOf(status: number): [typeof SvcError, string, string?] {
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

export function isWebPage({ contentType, text }: RawAnswer): boolean {
  return /html/i.test(contentType) || text.trimStart().startsWith("<");
}

function jsonOf(text: string): unknown {
  try {
    return withoutNulls(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function fieldOf(body: unknown, name: string): string | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const value: unknown = Reflect.get(body, name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

function factsOf(raw: RawAnswer, request: ErrorFacts, redact: Redact): ErrorFacts {
  const body = jsonOf(raw.text);
  const cleaned = (text: string | undefined, cap: number): string | undefined =>
    text === undefined ? undefined : redact(text, cap);
  return {
    ...request,
    status: raw.status,
    code: cleaned(fieldOf(body, "code"), 100),
    requestId: cleaned(fieldOf(body, "request_id") ?? raw.requestId, 100),
    serviceMessage: cleaned(fieldOf(body, "message"), 500),
    retryAfterMs: retryAfterMs(raw.retryAfter, Date.now()),
  };
}

/** The error that an answer outside 2xx stands for; undefined for a good one. */
export function failureOf(raw: RawAnswer, request: ErrorFacts, redact: Redact): SvcError | undefined {
  const { status } = raw;
  if (status >= 200 && status < 300) return undefined;
  const facts = factsOf(raw, request, redact);
  if (status < 400)
    return new errors.BadAnswerError("the service answered with a redirect, which is not followed", facts);
  // A proxy's page says nothing about the thing asked for: it must not read as "gone".
  if ((status === 404 || status === 410) && isWebPage(raw)) {
    return new errors.BadAnswerError("a web page came back. Is the base URL right", facts);
  }
  const [Meaning, what, advice] = meaningOf(status);
  const words = facts.serviceMessage?.replace(/[.\s]+$/, "");
  return new Meaning(words ? `${what}: ${words}` : what, facts, advice);
}

/** What a good answer holds, or what is odd about it. */
export function bodyOf<S extends z.ZodType>(
  raw: RawAnswer,
  shape: S,
  request: ErrorFacts,
  redact: Redact,
): { value: z.infer<S> } | { odd: SvcError } {
  const odd = (what: string): { odd: SvcError } => ({
    odd: new errors.BadAnswerError(what, factsOf({ ...raw, text: "" }, request, redact)),
  });
  if (raw.text.trim() === "") return odd("the answer is empty");
  if (isWebPage(raw)) return odd("a web page came back instead of JSON");
  const json = jsonOf(raw.text);
  if (json === undefined) return odd("the answer is not JSON");
  const parsed = shape.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  // Only places and kinds: zod's own messages may quote what they found.
  const places = parsed.error.issues.slice(0, 3).map(({ path, code }) => `${path.join(".") || "body"} (${code})`);
  return odd(`the answer is not what this route answers: ${redact(places.join(", "))}`);
}
