import type { MiddlewareHandler } from "hono";
import { hashed } from "../model/identifiers";
import type { Env, Service } from "../model/service";
import { carriesKey } from "./access";
import { isRecord, parsedJson } from "./bodies";
import { pathInApi, templateOf } from "./route";

export interface LoggedRequest {
  at: string;
  method: string;
  /** Relative to the API root. */
  path: string;
  /** The route's template, null for an unknown route. */
  template: string | null;
  query: Record<string, string>;
  body: unknown;
  /** Null while, or because, no answer was sent. */
  status: number | null;
  /** What would have been answered, where a fault answers after the request was executed. */
  real_status?: number;
  duration_ms: number;
}

const KEPT_REQUESTS = 10_000;
/** Also as somebody may misspell them: a body is logged before it is checked. */
const SECRET_FIELD = /^(client_?secret|password|secret_?server_?key)$/i;
const SETTINGS_FIELD = /^pg_?settings$/i;
/** Settings of Postgres: those with a dot are the user's own, and may hold anything. */
const SECRET_SETTING = /\.|secret|password|token|key|conninfo/i;

/** What was sent in place of a text may hold the secret as well: its JSON is hashed. */
const hidden = (secret: unknown): unknown =>
  secret === undefined || secret === null
    ? secret
    : hashed(typeof secret === "string" ? secret : JSON.stringify(secret));

/** Secrets are shown as hashes only, at any depth. */
export function withoutSecrets(value: unknown, secret = SECRET_FIELD): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secret));
  if (typeof value !== "object" || value === null) return value;
  const shown = (name: string, inner: unknown): unknown => {
    if (secret.test(name)) return hidden(inner);
    if (!SETTINGS_FIELD.test(name)) return withoutSecrets(inner, secret);
    return isRecord(inner) ? withoutSecrets(inner, SECRET_SETTING) : hidden(inner);
  };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(name, inner)]));
}

export class RequestLog {
  private requests: LoggedRequest[] = [];

  add(request: LoggedRequest): void {
    this.requests.push(request);
    if (this.requests.length > KEPT_REQUESTS) this.requests.shift();
  }

  list(method?: string, pathPrefix?: string): LoggedRequest[] {
    return this.requests.filter(
      (request) =>
        (method === undefined || request.method === method.toUpperCase()) &&
        (pathPrefix === undefined || request.path.startsWith(pathPrefix)),
    );
  }

  clear(): void {
    this.requests = [];
  }
}

function shownBody(text: string): unknown {
  if (text === "") return null;
  try {
    return withoutSecrets(parsedJson(text));
  } catch {
    // What cannot be read may hold a secret just as well, so it is not kept.
    return "(not readable)";
  }
}

/**
 * Writes every API request down when it arrives, and its answer when it is known. The body of a request without the key
 * is not read, and neither it nor the query is kept: anybody may send them.
 */
export const logRequests =
  (service: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const startedAt = Date.now();
    const hasKey = carriesKey(context, service);
    const entry: LoggedRequest = {
      at: new Date(startedAt).toISOString(),
      method: context.req.method,
      path: pathInApi(context),
      template: templateOf(context),
      query: hasKey ? context.req.query() : {},
      body: hasKey ? shownBody(await context.req.text()) : null,
      status: null,
      duration_ms: 0,
    };
    service.log.add(entry);
    context.set("logged", entry);
    await next();
    // A dropped connection has no status.
    entry.status = context.res.headers.has("x-hono-already-sent") ? null : context.res.status;
    entry.duration_ms = Date.now() - startedAt;
  };
