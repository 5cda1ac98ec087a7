import { z } from "zod";
import { emptyResponse, jsonResponse, route } from "../http/bodies";
import { listRoute } from "../http/listRoute";
import { pathParameter, projectOf, type ApiRoute } from "../http/route";
import { isComputeSize, isSuspendTimeout, type ComputeResult } from "../model/computes";
import type { Service } from "../model/service";
import { findEndpoint } from "../model/store";
import { operationView } from "./projectRoutes";

const size = z.number().refine(isComputeSize, "is not a compute size on offer");

const settings = z.strictObject({
  pg_settings: z.record(z.string().min(1), z.string()).optional(),
  preload_libraries: z
    .strictObject({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() })
    .optional(),
});

const attributes = {
  name: z.string().min(1).max(64).optional(),
  settings: settings.optional(),
  autoscaling_limit_min_cu: size.optional(),
  autoscaling_limit_max_cu: size.optional(),
  provisioner: z.string().min(1).optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.literal("transaction").optional(),
  disabled: z.boolean().optional(),
  passwordless_access: z.boolean().optional(),
  suspend_timeout_seconds: z.int().refine(isSuspendTimeout, "must be 0, -1 or a number from 60 to 604800").optional(),
};

const branchId = z.string().startsWith("br-");

const createBody = z.strictObject({
  endpoint: z.strictObject({
    ...attributes,
    branch_id: branchId,
    type: z.enum(["read_write", "read_only"]),
    region_id: z.string().optional(),
  }),
});

const updateBody = z.strictObject({
  endpoint: z.strictObject({ ...attributes, branch_id: branchId.optional() }),
});

const LIST = "/projects/{project_id}/endpoints";
const ONE = "/projects/{project_id}/endpoints/{endpoint_id}";

/** docs/design/api.md, Compute routes. */
export function endpointRoutes(service: Service): ApiRoute[] {
  const { options, computes } = service;
  const changed = ({ endpoint, operations }: ComputeResult, status = 200): Response =>
    jsonResponse(options, { endpoint, operations: operations.map(operationView) }, status);

  /** Restart is documented, start and suspend were observed. None of them has a body. */
  const action = (name: "restart" | "start" | "suspend"): ApiRoute => ({
    name: `${name}Endpoint`,
    summary: `${name === "restart" ? "Restart" : name === "start" ? "Start" : "Suspend"} a compute`,
    method: "POST",
    template: `${ONE}/${name}`,
    success: [200],
    handler: (context) => changed(computes[name](projectOf(service, context), pathParameter(context, "endpoint_id"))),
  });

  return [
    route({
      name: "createEndpoint",
      summary: "Create a compute",
      method: "POST",
      template: LIST,
      body: createBody,
      success: [201],
      handler: (context, sent) => {
        return changed(computes.create(projectOf(service, context), sent.endpoint), 201);
      },
    }),
    listRoute({
      service,
      name: "listEndpoints",
      summary: "List the computes of a project",
      template: LIST,
      records: (context) => service.listed(projectOf(service, context).endpoints),
      body: (endpoints, pagination) => ({ endpoints, ...pagination }),
    }),
    route({
      name: "getEndpoint",
      summary: "Show a compute",
      method: "GET",
      template: ONE,
      success: [200],
      completes: true,
      handler: (context) => {
        const endpoint = findEndpoint(projectOf(service, context), pathParameter(context, "endpoint_id"));
        return jsonResponse(options, { endpoint });
      },
    }),
    route({
      name: "updateEndpoint",
      summary: "Change a compute",
      method: "PATCH",
      template: ONE,
      body: updateBody,
      success: [200],
      handler: (context, sent) => {
        return changed(
          computes.update(projectOf(service, context), pathParameter(context, "endpoint_id"), sent.endpoint),
        );
      },
    }),
    route({
      name: "deleteEndpoint",
      summary: "Delete a compute",
      method: "DELETE",
      template: ONE,
      success: [200, 204],
      handler: (context) => {
        const deleted = computes.delete(projectOf(service, context), pathParameter(context, "endpoint_id"));
        return deleted === undefined ? emptyResponse(204) : changed(deleted);
      },
    }),
    action("restart"),
    { ...action("start"), completes: true },
    { ...action("suspend"), completes: true },
  ];
}
