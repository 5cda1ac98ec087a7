import { setTimeout as delay } from "node:timers/promises";
import { Hono, type MiddlewareHandler } from "hono";
import { packageVersion } from "../contract/installation";
import { applyFaults } from "./control/faultResponses";
import { controlRoutes, type ControlParts } from "./control/controlRoutes";
import {
  guardControl,
  originFor,
  refuseForeignHosts,
  refuseForeignPages,
  requireKey,
  requireOwner,
  type Site,
} from "./http/access";
import { takeBody } from "./http/bodies";
import { errorResponse, HttpError } from "./http/errorResponses";
import { KEY_SET_PATH, serveKeySet } from "./http/keySet";
import { openApiDocument } from "./http/openApi";
import { limitRate } from "./http/rateLimit";
import { logContent, logRequests } from "./http/requestLog";
import { API_ROOT, honoPath, type Env, type ApiRoute } from "./http/route";
import type { Service } from "./model/service";
import { pageRoutes } from "./page/pageRoutes";
import { authIntegrationRoutes } from "./routes/authIntegrationRoutes";
import { domainRoutes } from "./routes/domainRoutes";
import { emailServerRoutes } from "./routes/emailServerRoutes";
import { endpointRoutes } from "./routes/endpointRoutes";
import { oauthProviderRoutes } from "./routes/oauthProviderRoutes";
import { projectRoutes } from "./routes/projectRoutes";
import { signInRoutes } from "./signIn/signInRoutes";
import { traceRequests } from "./trace";

const addLatency =
  (latencyMs: number): MiddlewareHandler<Env> =>
  async (_context, next) => {
    if (latencyMs > 0) await delay(latencyMs, undefined, { ref: false });
    await next();
  };

const saveChanges =
  ({ store }: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    await next();
    if (context.req.method === "GET") return;
    store.changed();
    await store.shown();
  };

/** @public for the tests, which compare it with the API document */
export const allRoutes = (service: Service, site: Site): ApiRoute[] => [
  ...authIntegrationRoutes(service, site),
  ...oauthProviderRoutes(service),
  ...domainRoutes(service),
  ...emailServerRoutes(service),
  ...endpointRoutes(service),
  ...projectRoutes(service),
];

/** The API, the control routes and the page in one HTTP application. */
export function createApp(control: ControlParts): Hono<Env> {
  const { service, faults, log, key, site } = control;
  const { options } = service;
  const api = new Hono<Env>();
  api.use("*", refuseForeignPages(key), logRequests(log), addLatency(options.latencyMs));
  api.use("*", requireKey(key, options.otherApiKeys), takeBody, logContent(log));
  api.use("*", applyFaults(faults, service), limitRate(options), saveChanges(service));

  const routes = allRoutes(service, site);
  for (const { method, template, handler, completes } of routes) {
    const missing = options.seedOnly && completes === true;
    if (missing) api.on(method, honoPath(template), (context) => context.notFound());
    else api.on(method, honoPath(template), requireOwner, handler);
  }
  const offered = routes.filter(({ completes }) => !options.seedOnly || !completes);
  for (const path of new Set(offered.map(({ template }) => honoPath(template)))) {
    api.all(path, () => errorResponse(new HttpError(405, "method not allowed")));
  }

  const app = new Hono<Env>();
  app.onError((error) => errorResponse(error));
  app.notFound(() => errorResponse(new HttpError(404, "this route does not exist")));
  if (options.log !== undefined) app.use("*", traceRequests(options.log));
  app.use("*", refuseForeignHosts(site, options.host));
  app.use("/_emulator/*", guardControl(site, key), takeBody);
  app.route("/_emulator", controlRoutes(control));
  app.get("/_emulator/openapi.json", (context) => {
    const server = originFor(site, context) + API_ROOT;
    return Response.json(openApiDocument(offered, server, packageVersion() ?? "unknown"));
  });
  app.get(KEY_SET_PATH, serveKeySet(service));
  app.route("/", signInRoutes(control));
  app.route("/", pageRoutes(control));
  app.route(API_ROOT, api);
  return app;
}
