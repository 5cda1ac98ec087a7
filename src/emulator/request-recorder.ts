import type { MiddlewareHandler } from "hono";
import { withoutSecrets, type LoggedRequest } from "./request-log";
import type { Env, Service } from "./service";
import { pathInApi, templateOf } from "./template";

function parsedBody(text: string): unknown {
  if (text === "") return null;
  try {
    return withoutSecrets(JSON.parse(text));
  } catch {
    // Text that is not JSON may hold a secret just as well, so it is not kept.
    return "(not JSON)";
  }
}

/** Writes every API request down when it arrives, and its answer when it is known. */
export const logRequests =
  ({ log }: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const startedAt = Date.now();
    const entry: LoggedRequest = {
      at: new Date(startedAt).toISOString(),
      method: context.req.method,
      path: pathInApi(context),
      template: templateOf(context),
      query: context.req.query(),
      body: parsedBody(await context.req.text()),
      status: null,
      duration_ms: 0,
    };
    log.add(entry);
    await next();
    // A dropped connection has no status.
    entry.status = context.res.headers.has("x-hono-already-sent") ? null : context.res.status;
    entry.duration_ms = Date.now() - startedAt;
  };
