import { addDomainBody, deleteDomainsBody } from "./authChecks";
import { answer, emptyAnswer, listed, pathParameter, readBody } from "../http/bodies";
import { now } from "../model/identifiers";
import type { Route, Service } from "../model/service";
import { findIntegration } from "../model/store";
import { conflict } from "../http/errors";
import { requireSupportedProvider } from "./authIntegration";

const TEMPLATE = "/projects/{project_id}/auth/domains";

/** docs/design/api.md, Redirect domains. */
export const domainRoutes = (service: Service): Route[] => [
  {
    method: "GET",
    template: TEMPLATE,
    handler: (context) => {
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const domains = listed(service.options, project.domains).map(({ domain, auth_provider }) => ({
        domain,
        auth_provider,
      }));
      return answer(service.options, { domains });
    },
  },
  {
    method: "POST",
    template: TEMPLATE,
    handler: async (context) => {
      const sent = await readBody(context, addDomainBody);
      requireSupportedProvider(service, sent.auth_provider);
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      if (project.domains.some(({ domain }) => domain === sent.domain)) throw conflict("the domain is listed already");
      project.domains.push({ ...sent, created_at: now() });
      return emptyAnswer(201);
    },
  },
  {
    method: "DELETE",
    template: TEMPLATE,
    // Domains go in the spelling that the list shows; what is not listed is passed over.
    handler: async (context) => {
      const sent = await readBody(context, deleteDomainsBody);
      requireSupportedProvider(service, sent.auth_provider);
      const project = service.store.project(pathParameter(context, "project_id"));
      findIntegration(project);
      const unwanted = new Set(sent.domains.map(({ domain }) => domain));
      project.domains = project.domains.filter(({ domain }) => !unwanted.has(domain));
      return emptyAnswer(200);
    },
  },
];
