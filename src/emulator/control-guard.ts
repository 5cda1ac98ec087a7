import type { MiddlewareHandler } from "hono";
import type { Env, Service } from "./service";
import { WireError } from "./wire-errors";

const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

/** In one spelling and without the port, which may be a forwarded one. */
function hostname(authority: string): string | undefined {
  try {
    return new URL(`http://${authority}`).hostname;
  } catch {
    return undefined;
  }
}

/**
 * The control routes ask for no key, so a web page that happens to be open must not reach them: a browser adds an
 * Origin to what a page may change things with, and a page whose own host name was pointed here sends that name.
 */
export const refuseWebPages =
  ({ options }: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    if (context.req.header("origin") !== undefined) {
      throw new WireError(403, "the control routes are not for web pages: send no Origin header");
    }
    const given = options.host.includes(":") ? `[${options.host}]` : options.host;
    const asked = hostname(context.req.header("host") ?? "");
    if (asked === undefined || ![...LOOPBACK, hostname(given)].includes(asked)) {
      throw new WireError(403, "the control routes answer under a loopback host or the one given with --host only");
    }
    await next();
  };
