import type { MiddlewareHandler } from "hono";
import { mayBeSecret } from "../../contract/secretNames";
import { hashed } from "../model/records";
import type { EmulatorRequest } from "../controlTypes";
import { isRecord, parsedJson } from "./bodies";
import { pathInApi, templateOf, type Env } from "./route";

const KEPT_REQUESTS = 10_000;
/** The API's secret fields, whatever their value, even misspelt: a body is logged before it is validated. */
const SECRET_FIELD = /^(client_?secret|password|secret_?server_?key|private_?jwk)$/i;
const SETTINGS_FIELD = /^pg_?settings$/i;

/** A value that is not a string may also contain the secret, so its JSON is hashed. */
const hidden = (secret: unknown): unknown =>
  secret === undefined || secret === null
    ? secret
    : hashed(typeof secret === "string" ? secret : JSON.stringify(secret));

/** For a secret that the emulator itself does not store. */
const HASH = /^sha256:[0-9a-f]{64}$/;

/** The value with each secret hashed, at any depth. Postgres settings with a dot in the name may contain anything. */
export function withoutSecrets(value: unknown, isOfSettings = false, above = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isOfSettings, above));
  if (!isRecord(value)) return mayBeSecret(above, value) && !HASH.test(String(value)) ? hidden(value) : value;
  const shown = (name: string, inner: unknown): unknown => {
    if (SECRET_FIELD.test(name) || (isOfSettings && name.includes("."))) return hidden(inner);
    if (!isRecord(inner) && SETTINGS_FIELD.test(name)) return hidden(inner);
    return withoutSecrets(inner, isOfSettings || SETTINGS_FIELD.test(name), name);
  };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(name, inner)]));
}

export class RequestLog {
  private requests: EmulatorRequest[] = [];
  /** The number of requests logged before the first of these. */
  private earlier = 0;
  private readonly listeners: (() => void)[] = [];

  add(request: EmulatorRequest): void {
    this.requests.push(request);
    if (this.requests.length > KEPT_REQUESTS) {
      this.requests.shift();
      this.earlier += 1;
    }
    this.changed();
  }

  list(method?: string, pathPrefix?: string): EmulatorRequest[] {
    return this.requests.filter(
      (request) =>
        (method === undefined || request.method === method.toUpperCase()) &&
        (pathPrefix === undefined || request.path.startsWith(pathPrefix)),
    );
  }

  /** The newest requests, oldest first, each with its number; the first request since the start has number 0. */
  newest(count: number): [number: number, request: EmulatorRequest][] {
    const start = Math.max(0, this.requests.length - count);
    return this.requests.slice(start).map((request, index) => [this.earlier + start + index, request]);
  }

  clear(): void {
    this.earlier += this.requests.length;
    this.requests = [];
    this.changed();
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Call after changing a logged request. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function shownBody(text: string): unknown {
  if (text === "") return null;
  try {
    return withoutSecrets(parsedJson(text));
  } catch {
    // A body that cannot be parsed may contain a secret, so it is not kept.
    return "(not readable)";
  }
}

/** Logs every API request on arrival, and its status once known. */
export const logRequests =
  (log: RequestLog): MiddlewareHandler<Env> =>
  async (context, next) => {
    const startedAt = Date.now();
    const entry: EmulatorRequest = {
      at: new Date(startedAt).toISOString(),
      method: context.req.method,
      path: pathInApi(context),
      template: templateOf(context),
      query: {},
      body: null,
      status: null,
      duration_ms: 0,
    };
    log.add(entry);
    context.set("logged", entry);
    await next();
    // A dropped connection has no status.
    entry.status = context.res.headers.has("x-hono-already-sent") ? null : context.res.status;
    entry.duration_ms = Date.now() - startedAt;
    log.changed();
  };

/** Logs query and body. It runs after the check of the key, since anybody may send requests, and after takeBody. */
export const logContent =
  (log: RequestLog): MiddlewareHandler<Env> =>
  async (context, next) => {
    const entry = context.get("logged");
    entry.query = withoutSecrets(context.req.query()) as Record<string, string>; // it keeps the shape
    entry.body = shownBody(context.get("body"));
    log.changed();
    await next();
  };
