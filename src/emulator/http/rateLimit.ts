import type { MiddlewareHandler } from "hono";
import type { ResolvedOptions } from "../emulatorOptions";
import { HttpError } from "./errorResponses";
import { templateOf, type Env } from "./route";

const MINUTE_MS = 60_000;

/** Refuses requests above the limits (docs/design/api.md, Limits). A refused request does not count. */
export function limitRate({
  ratePerSecond,
  ratePerMinute,
  variants: { noRetryAfter },
}: Pick<ResolvedOptions, "ratePerSecond" | "ratePerMinute" | "variants">): MiddlewareHandler<Env> {
  const tooMany = (retryAfterSeconds: number): HttpError =>
    new HttpError(429, "too many requests", noRetryAfter ? {} : { "retry-after": String(retryAfterSeconds) });
  let second = 0;
  let counts = new Map<string, number>();
  /** The times of the requests of the last minute. */
  let minute: number[] = [];
  return async (context, next) => {
    const now = Date.now();
    if (Math.floor(now / 1000) !== second) {
      second = Math.floor(now / 1000);
      counts = new Map();
    }
    const route = `${context.req.method} ${templateOf(context)}`;
    const count = (counts.get(route) ?? 0) + 1;
    counts.set(route, count);
    if (ratePerSecond > 0 && count > ratePerSecond) throw tooMany(1);
    if (ratePerMinute > 0) {
      minute = minute.filter((at) => at > now - MINUTE_MS);
      const [oldest = now] = minute;
      if (minute.length >= ratePerMinute) throw tooMany(Math.ceil((oldest + MINUTE_MS - now) / 1000));
      minute.push(now);
    }
    await next();
  };
}
