import { z } from "zod";
import { emptyResponse, jsonResponse, readBody } from "../http/bodies";
import { pathParameter, projectOf, type Route } from "../http/route";
import { isComputeSize, isSuspendTimeout, type ComputeResult } from "../model/computes";
import type { Service } from "../model/service";
import { findEndpoint } from "../model/store";
import { operationView } from "./projects";

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
export function endpointRoutes(service: Service): Route[] {
  const { options, computes } = service;
  const changed = ({ endpoint, operations }: ComputeResult, status = 200): Response =>
    jsonResponse(options, { endpoint, operations: operations.map(operationView) }, status);

  /** Restart is described, start and suspend are observed. None of them takes a body. */
  const action = (name: "restart" | "start" | "suspend"): Pick<Route, "method" | "template" | "handler"> => ({
    method: "POST",
    template: `${ONE}/${name}`,
    handler: (context) => changed(computes[name](projectOf(service, context), pathParameter(context, "endpoint_id"))),
  });

  return [
    {
      method: "POST",
      template: LIST,
      handler: async (context) => {
        const { endpoint: sent } = await readBody(context, createBody);
        return changed(computes.create(projectOf(service, context), sent), 201);
      },
    },
    {
      method: "GET",
      template: LIST,
      handler: (context) => jsonResponse(options, { endpoints: service.listed(projectOf(service, context).endpoints) }),
    },
    {
      method: "GET",
      template: ONE,
      completes: true,
      handler: (context) => {
        const endpoint = findEndpoint(projectOf(service, context), pathParameter(context, "endpoint_id"));
        return jsonResponse(options, { endpoint });
      },
    },
    {
      method: "PATCH",
      template: ONE,
      handler: async (context) => {
        const { endpoint: sent } = await readBody(context, updateBody);
        return changed(computes.update(projectOf(service, context), pathParameter(context, "endpoint_id"), sent));
      },
    },
    {
      method: "DELETE",
      template: ONE,
      handler: (context) => {
        const deleted = computes.delete(projectOf(service, context), pathParameter(context, "endpoint_id"));
        return deleted === undefined ? emptyResponse(204) : changed(deleted);
      },
    },
    action("restart"),
    { ...action("start"), completes: true },
    { ...action("suspend"), completes: true },
  ];
}
