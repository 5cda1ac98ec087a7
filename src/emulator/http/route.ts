import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { Env } from "../model/service";

/** The versioned root that every API path is relative to. */
export const API_ROOT = "/api/v2";

export const pathInApi = (context: Context<Env>): string => context.req.path.slice(API_ROOT.length);

/** The template of the route that answers a request, as the API document writes it; null when there is none. */
export function templateOf(context: Context<Env>): string | null {
  const route = matchedRoutes(context).findLast(({ path }) => !path.includes("*"));
  return route === undefined ? null : route.path.slice(API_ROOT.length).replace(/:(\w+)/g, "{$1}");
}
