import { z } from "zod";
import { answer, checked, pathParameter } from "../http/bodies";
import type { Route, Service } from "../model/service";
import { branchView, operationView, projectView } from "./views";
import { badRequest, notFound } from "../http/errors";

const operationsQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().min(1).optional(),
});

/** Routes that complete the picture: project, branches, operations (docs/design/api.md, Projects and branches). */
export const projectRoutes = (service: Service): Route[] => [
  {
    method: "GET",
    template: "/projects/{project_id}",
    completes: true,
    handler: (context) =>
      answer(service.options, {
        project: projectView(service.store.project(pathParameter(context, "project_id"))),
      }),
  },
  {
    method: "GET",
    template: "/projects/{project_id}/branches",
    completes: true,
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      return answer(service.options, { branches: project.branches.map((branch) => branchView(project, branch)) });
    },
  },
  {
    method: "GET",
    template: "/projects/{project_id}/operations",
    completes: true,
    handler: (context) => {
      const { limit, cursor } = checked(operationsQuery, context.req.query());
      const project = service.store.project(pathParameter(context, "project_id"));
      const newestFirst = project.operations.toReversed();
      const start = cursor === undefined ? 0 : newestFirst.findIndex(({ id }) => id === cursor) + 1;
      if (cursor !== undefined && start === 0) throw badRequest("the cursor is unknown");
      const page = newestFirst.slice(start, start + limit);
      const last = page.at(-1);
      const more = last !== undefined && start + limit < newestFirst.length;
      return answer(service.options, {
        operations: page.map(operationView),
        ...(more ? { pagination: { cursor: last.id } } : {}),
      });
    },
  },
  {
    method: "GET",
    template: "/projects/{project_id}/operations/{operation_id}",
    completes: true,
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      const wanted = pathParameter(context, "operation_id");
      const operation = project.operations.find(({ id }) => id === wanted);
      if (operation === undefined) throw notFound("operation not found");
      return answer(service.options, { operation: operationView(operation) });
    },
  },
];
