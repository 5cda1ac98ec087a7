import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { HttpError } from "./errorResponses";
import type { Env } from "./route";

/** Where the emulator is reached. Known when it listens. */
export interface Site {
  origin: string;
  /** Whether it listens on a loopback address, which only this machine reaches. */
  isLocal: boolean;
  /** Whether it listens on every address of the machine, so that none of its names is the one. */
  isEverywhere: boolean;
  /** What the emulator's own page sends, to tell it from other pages. It stands in the address that the emulator prints. */
  pageToken: string;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether only this machine reaches the address. A BlockList knows the IPv6 spelling of an IPv4 address, too. */
export function isThisMachine(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const isSame = (given: string | undefined, wanted: string): boolean =>
  timingSafeEqual(digest(given ?? ""), digest(wanted));

/** The one key that is accepted. */
export class AcceptedKey {
  private readonly listeners: (() => void)[] = [];

  constructor(private key: string) {}

  get current(): string {
    return this.key;
  }

  rotate(key: string): void {
    if (key === this.key) return;
    this.key = key;
    for (const listener of this.listeners) listener();
  }

  onRotation(listener: () => void): void {
    this.listeners.push(listener);
  }
}

const carriesKey = (context: Context<Env>, { current }: AcceptedKey): boolean =>
  isSame(context.req.header("authorization"), `Bearer ${current}`);

export const requireKey =
  (accepted: AcceptedKey): MiddlewareHandler<Env> =>
  async (context, next) => {
    if (!carriesKey(context, accepted)) throw new HttpError(401, "authentication failed");
    await next();
  };

/** An address as a URL writes it. */
export const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** In one spelling and without the port, which may be a forwarded one. */
function hostname(authority: string): string | undefined {
  try {
    return new URL(`http://${authority}`).hostname;
  } catch {
    return undefined;
  }
}

/**
 * The origin in what leads a client back to the emulator. Where it listens on every address, only the client knows by
 * which name it has come: its `Host` is answered to itself.
 */
export function originFor({ origin, isEverywhere }: Site, context: Context<Env>): string {
  const asked = `http://${context.req.header("host") ?? ""}`;
  return isEverywhere && URL.canParse(asked) ? new URL(asked).origin : origin;
}

/**
 * A web page whose own host name was pointed at this machine (DNS rebinding) sends that name as the host. On other
 * addresses the emulator cannot know its names, and every route requires the key, which such a page has only where it is
 * the default one: the command warns of that.
 * `givenHost` is the address that it was told to listen on.
 */
export const refuseForeignHosts =
  (site: Site, givenHost: string): MiddlewareHandler<Env> =>
  async (context, next) => {
    const asked = hostname(context.req.header("host") ?? "");
    const isOurs =
      asked !== undefined &&
      (asked === "localhost" ||
        isThisMachine(asked.replace(/^\[|\]$/g, "")) ||
        asked === hostname(bracketed(givenHost)));
    if (site.isLocal && !isOurs) {
      throw new HttpError(
        403,
        "the emulator listens on a loopback address, so the Host header must name localhost, a loopback address or the " +
          "name given with --host: use one of these, or start the emulator with --host 0.0.0.0",
      );
    }
    await next();
  };

/** New at each start, so that an address of an earlier one, in a history or a log, opens nothing. */
export const newPageToken = (): string => randomBytes(24).toString("base64url");

/** A header and no cookie: cookies ignore ports, so that another server on this machine would get and set them. */
const carriesPageToken = (context: Context<Env>, { pageToken }: Site): boolean =>
  isSame(context.req.header("svc-page-token"), pageToken);

/** Whether the request comes from no page, or from one of this host and port. A page cannot choose its Origin. */
const isOwnOrigin = (context: Context<Env>): boolean => {
  const origin = context.req.header("origin");
  return origin === undefined || origin === `http://${context.req.header("host")}`;
};

/** A page of another site. A browser tells its Origin, and where it sends none (an image, a link), the relation of the two. */
const isForeignPage = (context: Context<Env>): boolean =>
  !isOwnOrigin(context) || /^(cross|same)-site$/.test(context.req.header("sec-fetch-site") ?? "");

/**
 * Stands before the request log. Any web page can send requests here, and would push out what the log holds. Other clients
 * without the key are logged: that shows a mistake of theirs.
 */
export const refuseForeignPages =
  (accepted: AcceptedKey): MiddlewareHandler<Env> =>
  async (context, next) => {
    if (isForeignPage(context) && !carriesKey(context, accepted)) throw new HttpError(401, "authentication failed");
    await next();
  };

/**
 * The control routes are open to this machine, but not to the web pages that it shows: a browser adds an Origin to each
 * request by which a page can change something. The emulator's own page has the token besides. Where other machines reach
 * the emulator, the routes require the key.
 */
export function guardControl(site: Site, accepted: AcceptedKey): MiddlewareHandler<Env> {
  const withKey = requireKey(accepted);
  return async (context, next) => {
    if (!site.isLocal) return withKey(context, next);
    const fromPage = context.req.header("origin") !== undefined;
    if (fromPage && !(isOwnOrigin(context) && carriesPageToken(context, site))) {
      throw new HttpError(
        403,
        "the control routes refuse web pages, except the emulator's own with its token: send no Origin header",
      );
    }
    return next();
  };
}

/** What the page shows is for the page alone: a browser sends no Origin with a request that only reads. */
export function guardPage(site: Site, accepted: AcceptedKey): MiddlewareHandler<Env> {
  const withKey = requireKey(accepted);
  return async (context, next) => {
    if (!site.isLocal) return withKey(context, next);
    if (!(isOwnOrigin(context) && carriesPageToken(context, site))) {
      throw new HttpError(403, "the page needs the token of this start: open the address that the emulator prints");
    }
    return next();
  };
}
