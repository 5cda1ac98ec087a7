import { setTimeout as delay } from "node:timers/promises";
import { Hono, type MiddlewareHandler } from "hono";
import { guardControl, refuseForeignHosts, requireKey } from "./http/access";
import { applyFaults } from "./control/faultResponses";
import { limitRate } from "./http/rateLimit";
import { logRequests } from "./http/requestLog";
import { controlRoutes } from "./control/routes";
import { authIntegrationRoutes } from "./routes/authIntegration";
import { domainRoutes } from "./routes/domains";
import { emailServerRoutes } from "./routes/emailServer";
import { endpointActionRoutes } from "./routes/endpointActions";
import { endpointRoutes } from "./routes/endpoints";
import { oauthProviderRoutes } from "./routes/oauthProviders";
import { projectRoutes } from "./routes/projects";
import type { Env, Route, Service } from "./model/service";
import { API_ROOT } from "./http/route";
import { errorAnswer, notFound, WireError } from "./http/errors";

const addLatency =
  (latencyMs: number): MiddlewareHandler<Env> =>
  async (_context, next) => {
    if (latencyMs > 0) await delay(latencyMs, undefined, { ref: false });
    await next();
  };

const saveChanges =
  (service: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    await next();
    if (context.req.method !== "GET") service.store.changed();
  };

/** @public for the fault campaign, which leaves no route out */
export const allRoutes = (service: Service): Route[] => [
  ...authIntegrationRoutes(service),
  ...oauthProviderRoutes(service),
  ...domainRoutes(service),
  ...emailServerRoutes(service),
  ...endpointRoutes(service),
  ...endpointActionRoutes(service),
  ...projectRoutes(service),
];

export function createApp(service: Service): Hono<Env> {
  const { options } = service;
  const api = new Hono<Env>();
  api.use("*", logRequests(service), addLatency(options.latencyMs), requireKey(service));
  api.use("*", applyFaults(service), limitRate(options), saveChanges(service));

  const routes = allRoutes(service);
  const pathOf = ({ template }: Route): string => template.replace(/\{(\w+)\}/g, ":$1");
  for (const route of routes) {
    const missing = options.seedOnly && route.completes === true;
    api.on(route.method, pathOf(route), missing ? (context) => context.notFound() : route.handler);
  }
  for (const path of new Set(routes.filter((route) => !options.seedOnly || !route.completes).map(pathOf))) {
    api.all(path, () => errorAnswer(new WireError(405, "method not allowed")));
  }

  const app = new Hono<Env>();
  app.onError((error) => errorAnswer(error));
  app.notFound(() => errorAnswer(notFound("this route does not exist")));
  app.use("*", refuseForeignHosts(service));
  app.use("/_emulator/*", guardControl(service));
  app.route("/_emulator", controlRoutes(service));
  app.route(API_ROOT, api);
  return app;
}
