import type { MiddlewareHandler } from "hono";
import { carriesKey } from "./access";
import { parsedJson } from "./http";
import { withoutSecrets, type LoggedRequest } from "./request-log";
import type { Env, Service } from "./service";
import { pathInApi, templateOf } from "./template";

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
    await next();
    // A dropped connection has no status.
    entry.status = context.res.headers.has("x-hono-already-sent") ? null : context.res.status;
    entry.duration_ms = Date.now() - startedAt;
  };
