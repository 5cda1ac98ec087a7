import type { MiddlewareHandler } from "hono";
import type { Env } from "../model/service";
import { templateOf } from "./template";
import { WireError } from "./wireErrors";

/** So many requests a second and route; the others are told to come back (docs/design/api.md, Limits). */
export function limitRate(ratePerSecond: number): MiddlewareHandler<Env> {
  let second = 0;
  let counts = new Map<string, number>();
  return async (context, next) => {
    const current = Math.floor(Date.now() / 1000);
    if (current !== second) {
      second = current;
      counts = new Map();
    }
    const route = `${context.req.method} ${templateOf(context)}`;
    const count = (counts.get(route) ?? 0) + 1;
    counts.set(route, count);
    if (ratePerSecond > 0 && count > ratePerSecond) {
      throw new WireError(429, "too many requests", "", { "retry-after": "1" });
    }
    await next();
  };
}
