import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import { notFound } from "../model/refusal";
import { HttpError } from "./errorResponses";
import type { Env } from "./route";

/** The emulator's addresses, known once it listens. */
export interface Site {
  origin: string;
  /** Whether it listens on a loopback address, which only this machine can reach. */
  isLocal: boolean;
  /** Whether it listens on all addresses of the machine, so that it has no single name. */
  isEverywhere: boolean;
  /** Sent by the emulator's own page, to distinguish it from other pages. It is part of the printed address. */
  pageToken: string;
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether only this machine can reach the address. A BlockList also matches the IPv6 form of an IPv4 address. */
export function isThisMachine(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const isSame = (given: string | undefined, wanted: string): boolean =>
  timingSafeEqual(digest(given ?? ""), digest(wanted));

/** The only key that is accepted, but for those of other accounts, to which no project belongs. */
export class AcceptedKey {
  private readonly listeners: (() => void)[] = [];

  constructor(private key: string) {}

  get current(): string {
    return this.key;
  }

  is(given: string | undefined): boolean {
    return isSame(given, this.key);
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
  (accepted: AcceptedKey, otherKeys: readonly string[] = []): MiddlewareHandler<Env> =>
  async (context, next) => {
    const isOwners = carriesKey(context, accepted);
    const isOther = otherKeys.some((key) => isSame(context.req.header("authorization"), `Bearer ${key}`));
    if (!isOwners && !isOther) throw new HttpError(401, "authentication failed");
    context.set("isOwners", isOwners);
    await next();
  };

/** A key of another account sees no project (docs/design/rules.md, 3). */
export const requireOwner: MiddlewareHandler<Env> = async (context, next) => {
  if (!context.get("isOwners")) throw notFound("project not found");
  await next();
};

/** An address in URL notation. */
export const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Normalised, without the port, which may be forwarded. */
function hostname(authority: string): string | undefined {
  try {
    return new URL(`http://${authority}`).hostname;
  } catch {
    return undefined;
  }
}

/**
 * The origin for URLs that lead a client back to the emulator. If the emulator listens on every address, only the
 * client knows the name that it used: the response repeats its own `Host`.
 */
export function originFor({ origin, isEverywhere }: Site, context: Context<Env>): string {
  const asked = `http://${context.req.header("host") ?? ""}`;
  return isEverywhere && URL.canParse(asked) ? new URL(asked).origin : origin;
}

/**
 * A web page whose own host name points at this machine (DNS rebinding) sends that name as the host. On other addresses
 * the emulator does not know its names, and every route requires the key, which such a page knows only if it is the
 * default key: the command warns about that.
 * `givenHost` is the configured address to listen on.
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

/** New at each start, so that an old address in a history or a log opens nothing. */
export const newPageToken = (): string => randomBytes(24).toString("base64url");

/** A header, not a cookie: cookies ignore ports, so another server on this machine could read and set them. */
const carriesPageToken = (context: Context<Env>, { pageToken }: Site): boolean =>
  isSame(context.req.header("svc-page-token"), pageToken);

/** Whether the request comes from no page, or from a page of this host and port. A page cannot choose its Origin. */
const isOwnOrigin = (context: Context<Env>): boolean => {
  const origin = context.req.header("origin");
  return origin === undefined || origin === `http://${context.req.header("host")}`;
};

/**
 * A page of another site. A browser sends its Origin, or without one (an image, a link) the relation of the two sites.
 */
const isForeignPage = (context: Context<Env>): boolean =>
  !isOwnOrigin(context) || /^(cross|same)-site$/.test(context.req.header("sec-fetch-site") ?? "");

/**
 * Runs before the request log: any web page can send requests, which would push out logged ones. Requests of other
 * clients without the key are logged, because they show a mistake.
 */
export const refuseForeignPages =
  (accepted: AcceptedKey): MiddlewareHandler<Env> =>
  async (context, next) => {
    if (isForeignPage(context) && !carriesKey(context, accepted)) throw new HttpError(401, "authentication failed");
    await next();
  };

/**
 * The control routes are open to this machine, but not to web pages shown on it: a browser adds an Origin to each
 * request by which a page can change something. The emulator's own page also has the token. If other machines can reach
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

/** Only the page may read its data: a browser sends no Origin with a request that only reads. */
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
