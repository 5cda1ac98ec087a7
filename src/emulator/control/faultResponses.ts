import { setTimeout as delay } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, MiddlewareHandler } from "hono";
import { isRecord } from "../http/bodies";
import { pathInApi, templateOf, type Env } from "../http/route";
import type { Service } from "../model/service";
import type { Faults, CheckedRequestFault } from "./faults";

/** The default body of a fault's error: the format of the service. */
const INJECTED = { request_id: "req-fault", code: "", message: "injected fault" };
const BODYLESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Ends the connection instead of a response. */
function drop(context: Context<Env>, how: NonNullable<CheckedRequestFault["drop"]>, real: string): Response {
  const { incoming, outgoing } = context.env;
  if (how === "reset") incoming.socket.resetAndDestroy();
  if (how === "cut") {
    const body = real === "" ? JSON.stringify(INJECTED) : real;
    outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    outgoing.write(body.slice(0, Math.ceil(body.length / 2)), () => incoming.socket.destroy());
  }
  return RESPONSE_ALREADY_SENT;
}

/** A JSON merge patch (RFC 7396): merges objects field by field, null removes a field, anything else is replaced. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const base = isRecord(target) ? target : {};
  const kept = Object.entries(base).filter(([key]) => !Object.hasOwn(patch, key));
  const given = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given.map(([key, value]) => [key, merged(base[key], value)])]);
}

const bodyOf = ({ body, merge }: CheckedRequestFault, status: number, real: string): unknown => {
  if (merge !== undefined) return merged(real === "" ? {} : JSON.parse(real), merge);
  return body ?? (status < 300 ? real : INJECTED);
};

/** A success without its own body keeps the real one: only the status differs. */
function faultResponse(fault: CheckedRequestFault, status: number, real: string): Response {
  const body = bodyOf(fault, status, real);
  const isText = typeof body === "string";
  const standardType = isText && fault.body !== undefined ? "text/html" : "application/json";
  const headers = { "content-type": fault.contentType ?? standardType, ...fault.headers };
  return new Response(BODYLESS.has(status) ? null : isText ? body : JSON.stringify(body), { status, headers });
}

/** Responds with the first matching fault, or delays the response. */
export const applyFaults =
  (faults: Faults, { store, pages }: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const fault = faults.takeForRequest({
      ...{ method: context.req.method, path: pathInApi(context), template: templateOf(context) },
      page: pages.numberOf(context.req.query("cursor")),
    });
    if (fault === undefined) return next();

    context.set("pagingFault", fault.paging);
    const { status, body, merge, drop: dropped } = fault;
    const onlySlow = [status, body, merge, dropped].every((part) => part === undefined);
    if (fault.effect === "done") {
      await next();
      context.get("logged").real_status = context.res.status;
      // Saved now, because the response may never be sent.
      store.changed();
    }
    if (fault.delayMs > 0) await delay(fault.delayMs, undefined, { ref: false });
    if (onlySlow) return fault.effect === "done" ? undefined : next();
    const [realStatus, real] =
      fault.effect === "done" ? [context.res.status, await context.res.clone().text()] : [200, ""];
    const response =
      fault.drop === undefined
        ? faultResponse(fault, fault.status ?? realStatus, real)
        : drop(context, fault.drop, real);
    // Reset first: Hono merges the headers of the replaced response into the new one.
    context.res = undefined;
    context.res = response;
    return undefined;
  };
