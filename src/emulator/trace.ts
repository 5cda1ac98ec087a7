/** Lines about requests and connections, for a person who reads along: without bodies, headers, keys and queries. */
import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { EmulatorRequest } from "./controlTypes";
import type { Env } from "./http/route";
import type { ConnectionEvent } from "./postgres/connections";

/** An id that a fault gives may be anything. */
const REQUEST_ID = /^[\x21-\x7e]{1,100}$/;

async function requestIdOf(response: Response): Promise<string | undefined> {
  const ofHeader = response.headers.get("x-request-id");
  if (ofHeader !== null || response.status < 400) return ofHeader ?? undefined;
  try {
    return String(Reflect.get(Object(await response.clone().json()), "request_id"));
  } catch {
    return undefined; // It is not JSON.
  }
}

/** For requests of the API, path and query are those of the request log; for others the route, since paths have secrets. */
export const traceRequests =
  (show: (line: string) => void): MiddlewareHandler<Env> =>
  async (context, next) => {
    const cameAt = Date.now();
    await next();
    const { res, req } = context;
    const logged = context.get("logged") as EmulatorRequest | undefined; // only within the API
    const query = new URLSearchParams(logged?.query).toString();
    const route = matchedRoutes(context).findLast(({ path }) => !path.includes("*"))?.path;
    const path = logged === undefined ? (route ?? req.path) : req.path + (query === "" ? "" : `?${query}`);
    const isSent = !res.headers.has("x-hono-already-sent");
    const id = isSent ? ((await requestIdOf(res)) ?? "") : "";
    const ofService = REQUEST_ID.test(id) ? `, request ${id}` : "";
    const outcome = `${isSent ? res.status : "no response"}${ofService}, ${Date.now() - cameAt} ms`;
    show(`${new Date(cameAt).toISOString()} ${req.method} ${path} -> ${outcome}`);
  };

export function connectionLine(event: ConnectionEvent): string {
  const { what, since, endpoint_id, role, database, application_name, ms } = event;
  const client = [role ?? "", database === null ? "" : `on ${database}`, application_name ?? ""].filter(Boolean);
  const target = endpoint_id ?? "no compute";
  const why = what === "refused" ? ` with ${event.code}: ${event.message}` : "";
  return `${since} connection to ${target}${client.map((part) => ` ${part}`).join("")} -> ${what}${why}, ${ms} ms`;
}
