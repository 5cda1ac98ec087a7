import { z } from "zod";
import { emptyResponse, route } from "../http/bodies";
import { listRoute } from "../http/listRoute";
import { projectOf, type ApiRoute } from "../http/route";
import { now } from "../model/records";
import { conflict, invalid } from "../model/refusal";
import type { Service } from "../model/service";
import { findIntegration } from "../model/store";

/**
 * The origin as the service stores it: lower case, without a default port. Null if it is invalid. A URL parser silently
 * corrects much (a backslash, control characters), so only case and default port may differ from the input.
 */
function normalisedOrigin(text: string): string | null {
  // Any port of a host, which no URL has.
  const [anyPort = ""] = /(?<=^https?:\/\/[^:]+):\*$/i.exec(text) ?? [];
  const address = text.slice(0, text.length - anyPort.length);
  // Visible ASCII: a host with other characters is sent in its xn-- form.
  if (!/^https?:\/\/[!-~]+$/i.test(address) || !URL.canParse(address)) return null;
  const { origin, protocol } = new URL(address);
  const spelt = [origin, `${origin}:${protocol === "https:" ? 443 : 80}`];
  return spelt.includes(address.toLowerCase()) ? origin + anyPort : null;
}

/** A service that accepts these presumably stores them unchanged. */
const isOfApp = (text: string): boolean => /^(?!(?:https?|javascript|data):)[a-z][a-z0-9+.-]*:\/\/[!-~]*$/i.test(text);

const auth_provider = z.string().min(1);
const addBody = z.strictObject({ domain: z.string(), auth_provider });
const deleteBody = z.strictObject({ auth_provider, domains: z.array(z.strictObject({ domain: z.string().min(1) })) });

const TEMPLATE = "/projects/{project_id}/auth/domains";

/** docs/design/api.md, Redirect domains. */
export const domainRoutes = (service: Service): ApiRoute[] => [
  listRoute({
    service,
    name: "listDomains",
    summary: "List the redirect domains of a project",
    template: TEMPLATE,
    records: (context) => {
      const project = projectOf(service, context);
      findIntegration(project);
      return service.listed(project.domains);
    },
    body: (page, pagination) => ({
      domains: page.map(({ domain, auth_provider }) => ({ domain, auth_provider })),
      ...pagination,
    }),
  }),
  route({
    name: "addDomain",
    summary: "Add a redirect domain",
    method: "POST",
    template: TEMPLATE,
    body: addBody,
    success: [201],
    handler: (context, sent) => {
      const isKnown = service.options.appDomains && isOfApp(sent.domain);
      const domain = isKnown ? sent.domain : normalisedOrigin(sent.domain);
      if (domain === null) throw invalid("domain: must be an http or https origin: scheme, host and port only");
      service.auth.requireSupportedProvider(sent.auth_provider);
      const project = projectOf(service, context);
      findIntegration(project);
      if (project.domains.some((other) => other.domain === domain)) throw conflict("the domain is listed already");
      project.domains.push({ ...sent, domain, created_at: now() });
      return emptyResponse(201);
    },
  }),
  route({
    name: "deleteDomains",
    summary: "Delete redirect domains; one that is not listed is ignored",
    method: "DELETE",
    template: TEMPLATE,
    body: deleteBody,
    success: [200],
    // Domains are deleted in the spelling of the list; a domain that is not listed is ignored.
    handler: (context, sent) => {
      service.auth.requireSupportedProvider(sent.auth_provider);
      const project = projectOf(service, context);
      findIntegration(project);
      const unwanted = new Set(sent.domains.map(({ domain }) => domain));
      project.domains = project.domains.filter(({ domain }) => !unwanted.has(domain));
      return emptyResponse(200);
    },
  }),
];
