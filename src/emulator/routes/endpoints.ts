import { isDeepStrictEqual } from "node:util";
import { createEndpointBody, sizingAfter, updateEndpointBody, type EndpointAttributes } from "./endpointChecks";
import { answer, defined, emptyAnswer, listed, pathParameter, readBody } from "../http/bodies";
import { now } from "../model/identifiers";
import type { EndpointRecord, OperationAction, OperationRecord, ProjectRecord } from "../model/records";
import { createEndpoint } from "../model/seed";
import type { Route, Service } from "../model/service";
import { findBranch, findEndpoint, isUnfinished, primaryOf } from "../model/store";
import { operationView } from "./views";
import { badRequest, conflict, notFound, WireError } from "../http/errors";

/** Nothing is executed while the project is locked, so the client may send again (docs/design/api.md, Operations). */
export function refuseWhenLocked(service: Service, project: ProjectRecord): void {
  if (service.options.lockProjects && project.operations.some(isUnfinished)) {
    throw new WireError(423, "project already has running operations, scheduling of new ones is prohibited");
  }
}

export const endpointAnswer = (
  { options }: Service,
  endpoint: EndpointRecord,
  operations: OperationRecord[],
  status = 200,
): Response => answer(options, { endpoint, operations: operations.map(operationView) }, status);

function refuseSecondPrimary(project: ProjectRecord, branchId: string): void {
  if (primaryOf(project, branchId) !== undefined) throw conflict("the branch already has a read_write endpoint");
}

/** What a running compute takes over by an operation; the rest is mere bookkeeping. */
const NEEDS_APPLYING = [
  "branch_id",
  "autoscaling_limit_min_cu",
  "autoscaling_limit_max_cu",
  "suspend_timeout_seconds",
  "pooler_enabled",
  "pooler_mode",
  "provisioner",
  "settings",
] as const;

/** Lays the sent attributes over the compute; tells whether a running one must apply them. */
function applyAttributes(endpoint: EndpointRecord, sent: EndpointAttributes): boolean {
  const before = { ...endpoint };
  const { settings, ...plain } = sent;
  const sizing = sizingAfter(endpoint, sent);
  Object.assign(endpoint, defined(plain), sizing);
  if (settings !== undefined) endpoint.settings = { ...endpoint.settings, ...defined(settings) };
  return NEEDS_APPLYING.some((field) => !isDeepStrictEqual(before[field], endpoint[field]));
}

export const endpointRoutes = (service: Service): Route[] => [
  {
    method: "POST",
    template: "/projects/{project_id}/endpoints",
    handler: async (context) => {
      const { endpoint: sent } = await readBody(context, createEndpointBody);
      const project = service.store.project(pathParameter(context, "project_id"));
      const { type, region_id, branch_id, ...attributes } = sent;
      findBranch(project, branch_id);
      if (region_id !== undefined && region_id !== project.region_id) {
        throw badRequest("region_id must be the region of the project");
      }
      const endpoint = createEndpoint(project, branch_id, type, now());
      applyAttributes(endpoint, attributes);
      refuseWhenLocked(service, project);
      if (type === "read_write") refuseSecondPrimary(project, branch_id);
      project.endpoints.push(endpoint);
      const rests = (type === "read_only" && !service.options.startReplicas) || endpoint.disabled;
      if (rests) endpoint.current_state = "idle";
      const operations = rests ? [] : service.lifecycle.schedule(project, endpoint, ["start_compute"]);
      return endpointAnswer(service, endpoint, operations, 201);
    },
  },
  {
    method: "GET",
    template: "/projects/{project_id}/endpoints",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      return answer(service.options, { endpoints: listed(service.options, project.endpoints) });
    },
  },
  {
    method: "GET",
    template: "/projects/{project_id}/endpoints/{endpoint_id}",
    completes: true,
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      return answer(service.options, { endpoint: findEndpoint(project, pathParameter(context, "endpoint_id")) });
    },
  },
  {
    method: "PATCH",
    template: "/projects/{project_id}/endpoints/{endpoint_id}",
    handler: async (context) => {
      const { endpoint: sent } = await readBody(context, updateEndpointBody);
      const project = service.store.project(pathParameter(context, "project_id"));
      const endpoint = findEndpoint(project, pathParameter(context, "endpoint_id"));
      refuseWhenLocked(service, project);
      if (sent.branch_id !== undefined && sent.branch_id !== endpoint.branch_id) {
        findBranch(project, sent.branch_id);
        if (endpoint.type === "read_write") refuseSecondPrimary(project, sent.branch_id);
      }
      const matters = applyAttributes(endpoint, sent);
      endpoint.updated_at = now();
      const active = service.lifecycle.willBeActive(project, endpoint);
      const applying: OperationAction[] = service.options.restartToApply
        ? ["apply_config", "suspend_compute", "start_compute"]
        : ["apply_config"];
      const wanted: OperationAction[] = endpoint.disabled ? ["suspend_compute"] : applying;
      const actions = active && (endpoint.disabled || matters) ? wanted : [];
      return endpointAnswer(service, endpoint, service.lifecycle.schedule(project, endpoint, actions));
    },
  },
  {
    method: "DELETE",
    template: "/projects/{project_id}/endpoints/{endpoint_id}",
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      const endpointId = pathParameter(context, "endpoint_id");
      if (project.deleted_endpoints.includes(endpointId)) {
        if (service.options.goneEndpointDelete === 204) return emptyAnswer(204);
        throw notFound("endpoint not found");
      }
      const endpoint = findEndpoint(project, endpointId);
      refuseWhenLocked(service, project);
      const runs = endpoint.current_state === "active" || endpoint.pending_state === "active";
      service.lifecycle.skipUnfinished(project, endpointId);
      delete endpoint.pending_state;
      project.endpoints = project.endpoints.filter((other) => other !== endpoint);
      project.deleted_endpoints.push(endpointId);
      const operations = runs ? service.lifecycle.schedule(project, endpoint, ["suspend_compute"]) : [];
      return endpointAnswer(service, endpoint, operations);
    },
  },
];
