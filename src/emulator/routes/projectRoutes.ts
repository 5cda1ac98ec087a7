import { z } from "zod";
import type { EmulatorOperation } from "../controlTypes";
import { jsonResponse, route } from "../http/bodies";
import { pathParameter, projectOf, type ApiRoute } from "../http/route";
import type { StoredBranch, StoredOperation, StoredProject } from "../model/records";
import { invalid, notFound } from "../model/refusal";
import type { Service } from "../model/service";

const operationsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().min(1).optional(),
});

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
  route({
    name: "listBranches",
    summary: "List the branches of a project",
    method: "GET",
    template: "/projects/{project_id}/branches",
    success: [200],
    completes: true,
    handler: (context) => {
      const project = projectOf(service, context);
      const branches = service.listed(project.branches).map((branch) => branchView(project, branch));
      return jsonResponse(service.options, { branches });
    },
  }),
  route({
    name: "listOperations",
    summary: "List the operations of a project, newest first",
    method: "GET",
    template: "/projects/{project_id}/operations",
    query: operationsQuery,
    success: [200],
    completes: true,
    handler: (context, _sent, { limit, cursor }) => {
      const project = projectOf(service, context);
      const newestFirst = project.operations.toReversed();
      const start = cursor === undefined ? 0 : newestFirst.findIndex(({ id }) => id === cursor) + 1;
      if (cursor !== undefined && start === 0) throw invalid("the cursor is unknown");
      const page = newestFirst.slice(start, start + limit);
      const last = page.at(-1);
      const more = last !== undefined && start + limit < newestFirst.length;
      return jsonResponse(service.options, {
        operations: page.map(operationView),
        ...(more ? { pagination: { cursor: last.id } } : {}),
      });
    },
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
