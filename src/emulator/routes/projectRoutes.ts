import type { EmulatorOperation } from "../controlTypes";
import { jsonResponse, route } from "../http/bodies";
import { listRoute } from "../http/listRoute";
import { pathParameter, projectOf, type ApiRoute } from "../http/route";
import type { StoredBranch, StoredOperation, StoredProject } from "../model/records";
import { notFound } from "../model/refusal";
import type { Service } from "../model/service";

/** Operations have always been listed in pages (docs/design/api.md, Operations). */
const OPERATIONS_IN_A_PAGE = 100;

const projectView = ({ id, name, region_id, created_at }: StoredProject): object => ({
  id,
  name,
  region_id,
  created_at,
  updated_at: created_at,
});

const branchView = (project: StoredProject, branch: StoredBranch): object => ({
  id: branch.id,
  project_id: project.id,
  name: branch.name,
  default: branch.default,
  current_state: "ready",
  created_at: branch.created_at,
  updated_at: branch.created_at,
});

export function operationView({ run, ...operation }: StoredOperation): EmulatorOperation {
  const elapsed =
    operation.status === "running" ? Date.now() - (run.started_ms ?? Date.now()) : operation.total_duration_ms;
  return { ...operation, total_duration_ms: elapsed };
}

/** Additional routes: project, branches, operations (docs/design/api.md, Projects and branches). */
export const projectRoutes = (service: Service): ApiRoute[] => [
  route({
    name: "getProject",
    summary: "Show a project",
    method: "GET",
    template: "/projects/{project_id}",
    success: [200],
    completes: true,
    handler: (context) => jsonResponse(service.options, { project: projectView(projectOf(service, context)) }),
  }),
  listRoute({
    service,
    name: "listBranches",
    summary: "List the branches of a project",
    template: "/projects/{project_id}/branches",
    completes: true,
    records: (context) => service.listed(projectOf(service, context).branches),
    // Another form of the cursor: real services have both.
    body: (page, { pagination }, context) => {
      const project = projectOf(service, context);
      const next = pagination && { next: pagination.cursor, sort_by: "created_at", sort_order: "asc" };
      return { branches: page.map((branch) => branchView(project, branch)), ...(next && { pagination: next }) };
    },
  }),
  listRoute({
    service,
    name: "listOperations",
    summary: "List the operations of a project, newest first",
    template: "/projects/{project_id}/operations",
    completes: true,
    records: (context) => projectOf(service, context).operations,
    newestFirst: true,
    wholeSize: OPERATIONS_IN_A_PAGE,
    body: (page, pagination) => ({ operations: page.map(operationView), ...pagination }),
  }),
  route({
    name: "getOperation",
    summary: "Show an operation",
    method: "GET",
    template: "/projects/{project_id}/operations/{operation_id}",
    success: [200],
    completes: true,
    handler: (context) => {
      const project = projectOf(service, context);
      const wanted = pathParameter(context, "operation_id");
      const operation = project.operations.find(({ id }) => id === wanted);
      if (operation === undefined) throw notFound("operation not found");
      return jsonResponse(service.options, { operation: operationView(operation) });
    },
  }),
];
