import { setTimeout as delay } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, MiddlewareHandler } from "hono";
import type { RequestFault } from "./faults";
import type { Env, Service } from "./service";
import { pathInApi, templateOf } from "./template";

/** Ends the connection in place of an answer. */
function drop(context: Context<Env>, how: NonNullable<RequestFault["drop"]>, real: string): Response {
  const { incoming, outgoing } = context.env;
  if (how === "reset") incoming.socket.resetAndDestroy();
  if (how === "cut") {
    const body = real === "" ? '{"request_id":"' : real;
    outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) + 64 });
    outgoing.write(body.slice(0, Math.ceil(body.length / 2)), () => incoming.socket.destroy());
  }
  return RESPONSE_ALREADY_SENT;
}

function faultAnswer(fault: RequestFault, status: number): Response {
  const { body = { request_id: "req-fault", code: "", message: "injected fault" } } = fault;
  const isText = typeof body === "string";
  const headers = {
    "content-type": fault.contentType ?? (isText ? "text/html" : "application/json"),
    ...fault.headers,
  };
  const hasNoBody = status === 204 || status === 304;
  return new Response(hasNoBody ? null : isText ? body : JSON.stringify(body), { status, headers });
}

/** Lets the first fault that matches stand in for the answer, or delay it. */
export const applyFaults =
  ({ faults, store }: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const fault = faults.takeForRequest(context.req.method, pathInApi(context), templateOf(context));
    if (fault === undefined) return next();

    const onlySlow = fault.status === undefined && fault.body === undefined && fault.drop === undefined;
    if (fault.effect === "done") {
      await next();
      // What comes after is no longer part of the request: it may never be answered.
      store.changed();
    }
    if (fault.delayMs > 0) await delay(fault.delayMs, undefined, { ref: false });
    if (onlySlow) return fault.effect === "done" ? undefined : next();
    const real = fault.effect === "done" ? context.res.clone() : undefined;
    const answer =
      fault.drop === undefined
        ? faultAnswer(fault, fault.status ?? real?.status ?? 200)
        : drop(context, fault.drop, (await real?.text()) ?? "");
    // Emptied first: Hono merges the headers of the answer it replaces into the new one.
    context.res = undefined;
    context.res = answer;
    return undefined;
  };
