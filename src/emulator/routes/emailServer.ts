import { emailServerBody } from "./authChecks";
import { answer, pathParameter, readBody } from "../http/bodies";
import type { Route, Service } from "../model/service";
import { findIntegration } from "../model/store";
import { emailServerView } from "./views";

const TEMPLATE = "/projects/{project_id}/auth/email_server";

/** docs/design/api.md, Email server. There is one configuration, shared until it is changed; a PATCH replaces it as a whole. */
export const emailServerRoutes = (service: Service): Route[] => [
  {
    method: "GET",
    template: TEMPLATE,
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      return answer(service.options, emailServerView(service.options, project.email_server));
    },
  },
  {
    method: "PATCH",
    template: TEMPLATE,
    handler: async (context) => {
      const sent = await readBody(context, emailServerBody);
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      project.email_server = sent.type === "shared" ? { type: "shared" } : sent;
      return answer(service.options, emailServerView(service.options, project.email_server));
    },
  },
];
