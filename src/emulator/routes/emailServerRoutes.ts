import { z } from "zod";
import { jsonResponse, route, secretField } from "../http/bodies";
import { projectOf, type ApiRoute } from "../http/route";
import type { StoredEmailServer } from "../model/records";
import type { Service } from "../model/service";
import { findIntegration } from "../model/store";
import type { ResolvedOptions } from "../emulatorOptions";
import { email } from "./authIntegrationRoutes";

const smtp = {
  host: z.string().min(1),
  port: z.int().min(1).max(65_535),
  username: z.string().min(1),
  password: z.string().min(1),
  sender_email: email,
  sender_name: z.string().min(1),
};

/** A shared server keeps none of its other fields. */
export const emailServerBody = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("shared"), ...z.object(smtp).partial().shape }).transform(({ type }) => ({ type })),
  z.strictObject({ type: z.literal("standard"), ...smtp }),
]);

function view(options: ResolvedOptions, server: StoredEmailServer): object {
  if (server.type === "shared") return server;
  const { password, ...rest } = server;
  return { ...rest, ...secretField(options, "password", password) };
}

const TEMPLATE = "/projects/{project_id}/auth/email_server";

/**
 * docs/design/api.md, Email server. There is one configuration, shared until it is changed; a PATCH replaces all of it.
 */
export const emailServerRoutes = (service: Service): ApiRoute[] => [
  route({
    name: "getEmailServer",
    summary: "Show the e-mail server of a project",
    method: "GET",
    template: TEMPLATE,
    success: [200],
    handler: (context) => {
      const project = projectOf(service, context);
      findIntegration(project);
      return jsonResponse(service.options, view(service.options, project.email_server));
    },
  }),
  route({
    name: "setEmailServer",
    summary: "Replace the e-mail server of a project",
    method: "PATCH",
    template: TEMPLATE,
    body: emailServerBody,
    success: [200],
    handler: (context, sent) => {
      const project = projectOf(service, context);
      findIntegration(project);
      project.email_server = sent;
      return jsonResponse(service.options, view(service.options, sent));
    },
  }),
];
