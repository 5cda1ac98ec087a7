import type { Context } from "hono";
import { pathParameter } from "../http/bodies";
import type { EndpointRecord, OperationAction, ProjectRecord } from "../model/records";
import type { Env, Route, Service } from "../model/service";
import { findEndpoint } from "../model/store";
import { WireError } from "../http/errors";
import { endpointAnswer, refuseWhenLocked } from "./endpoints";

type Plan = (project: ProjectRecord, endpoint: EndpointRecord) => OperationAction[];

const act =
  (service: Service, plan: Plan) =>
  (context: Context<Env>): Response => {
    const project = service.store.project(pathParameter(context, "project_id"));
    const endpoint = findEndpoint(project, pathParameter(context, "endpoint_id"));
    refuseWhenLocked(service, project);
    return endpointAnswer(service, endpoint, service.lifecycle.schedule(project, endpoint, plan(project, endpoint)));
  };

/** Restart is described, start and suspend are observed (docs/design/api.md, Compute routes). None of them takes a body. */
export const endpointActionRoutes = (service: Service): Route[] => [
  {
    method: "POST",
    template: "/projects/{project_id}/endpoints/{endpoint_id}/restart",
    handler: act(service, (_project, endpoint) => {
      if (endpoint.current_state !== "active") throw new WireError(412, "only an active endpoint can be restarted");
      return ["suspend_compute", "start_compute"];
    }),
  },
  {
    method: "POST",
    template: "/projects/{project_id}/endpoints/{endpoint_id}/start",
    completes: true,
    handler: act(service, (project, endpoint) => {
      if (endpoint.disabled) throw new WireError(412, "the endpoint is disabled");
      return service.lifecycle.willBeActive(project, endpoint) ? [] : ["start_compute"];
    }),
  },
  {
    method: "POST",
    template: "/projects/{project_id}/endpoints/{endpoint_id}/suspend",
    completes: true,
    handler: act(service, (project, endpoint) =>
      service.lifecycle.willBeActive(project, endpoint) ? ["suspend_compute"] : [],
    ),
  },
];
