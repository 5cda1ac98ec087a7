import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Hono, type MiddlewareHandler } from "hono";
import { requireGate, type ControlParts } from "../control/controlRoutes";
import { guardPage } from "../http/access";
import { HttpError } from "../http/errorResponses";
import type { Env } from "../http/route";
import { findEndpoint } from "../model/store";
import { Feed } from "./feed";
import { shell } from "./shell";
import { snapshotOf } from "./snapshot";

/** Nothing external, nothing inline, no framing; and no text can become markup (trusted types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Applies to refusals as well. */
const secured: MiddlewareHandler<Env> = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
};

/** Beside this file, in dist as in src. Read on request: only the page needs it. */
const asset = (name: string, type: string) => (): Response =>
  new Response(readFileSync(join(__dirname, name)), { headers: { "content-type": `${type}; charset=utf-8` } });

/** page.mjs, and what it imports. */
const modules = (): string[] => readdirSync(__dirname).filter((name) => name.endsWith(".mjs"));

/** The page at `/`: a shell without data, its style and module, and the events that fill it. */
export function pageRoutes(control: ControlParts): Hono<Env> {
  const { service, faults, log, inbox, key, site, gate } = control;
  // Whether a connection is busy is not announced: that would cost something with each query.
  const feed = new Feed(
    () => snapshotOf(control),
    () => gate !== undefined && gate.connections.count > 0,
  );
  for (const source of [service.store, faults, log, inbox, gate?.connections]) source?.onChange(() => feed.changed());
  // Rotating the key ends streams opened with it. It cannot happen before the emulator listens, so isLocal is known.
  key.onRotation(() => (site.isLocal ? undefined : feed.end()));

  const page = new Hono<Env>();
  for (const path of ["/", "/_page/*"]) page.use(path, secured);
  page.get("/", (context) => context.html(shell));
  page.get("/_page/page.css", asset("page.css", "text/css"));
  for (const name of modules()) page.get(`/_page/${name}`, asset(name, "text/javascript"));
  page.get("/_page/events", guardPage(site, key), () => {
    if (feed.isFull) throw new HttpError(503, "too many pages are open: close one");
    return new Response(feed.stream(), { headers: { "content-type": "text/event-stream" } });
  });
  // Not a control route: it tells the API key, which no other program of this machine gets without asking its user.
  page.get("/_page/connection", guardPage(site, key), (context) => {
    const { project: projectId = "", id = "" } = context.req.query();
    const { connectionUri } = requireGate(control);
    return Response.json({ uri: connectionUri(findEndpoint(service.store.project(projectId), id)) });
  });
  return page;
}
