import { z } from "zod";
import { emptyResponse, jsonResponse, route } from "../http/bodies";
import { originFor, type Site } from "../http/access";
import { jwksUrlOf } from "../http/keySet";
import { listRoute } from "../http/listRoute";
import { pathParameter, projectOf, type ApiRoute } from "../http/route";
import { SCHEMA_NAME, TABLE_NAME } from "../model/auth";
import { defined, newId, now, type StoredIntegration, type StoredProject, type StoredUser } from "../model/records";
import { conflict, notFound } from "../model/refusal";
import type { Service } from "../model/service";
import { findIntegration } from "../model/store";

const integration = { project_id: z.string().min(1), auth_provider: z.string().min(1) };

const integrationBody = z.strictObject(integration);

const createBody = z.strictObject({
  ...integration,
  branch_id: z.string().startsWith("br-"),
  database_name: z.string().min(1).default("svcdb"),
  role_name: z.string().min(1).default("svcdb_owner"),
});

/** docs/design/api.md, Responses. */
const deleteBody = z.strictObject({ delete_data: z.boolean().optional() }).optional();

/** Lenient, as services are: `a@localhost` and international addresses are accepted. */
export const email = z.string().regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/u, "must be one e-mail address");

const createUserBody = z.strictObject({ ...integration, email, name: z.string().min(1).max(255).optional() });

const view = (record: StoredIntegration, origin: string): object => ({
  auth_provider: record.auth_provider,
  auth_provider_project_id: record.auth_provider_project_id,
  branch_id: record.branch_id,
  db_name: record.db_name,
  created_at: record.created_at,
  owned_by: record.owned_by,
  jwks_url: jwksUrlOf(record, origin),
});

/**
 * docs/design/api.md, Auth integration, and objects that can only be created: keys, users, transfers. The URL of a
 * transfer and the key set refer to the emulator, at `site`.
 */
export function authIntegrationRoutes(service: Service, site: Site): ApiRoute[] {
  const { options, store, auth } = service;

  /** The project in a body, checked for the service's auth provider. */
  const projectIn = ({ project_id, auth_provider }: z.output<typeof integrationBody>): StoredProject => {
    auth.requireSupportedProvider(auth_provider);
    return store.project(project_id);
  };

  /** A new key set, as in its only response. */
  const keysResponse = (project: StoredProject, record: StoredIntegration, origin: string): Response => {
    const { auth_provider_project_id } = record;
    const jwks_url = jwksUrlOf(record, origin);
    const keys = { ...auth.issueKeys(project, record), auth_provider_project_id, jwks_url };
    return jsonResponse(options, { ...keys, schema_name: SCHEMA_NAME, table_name: TABLE_NAME }, 201);
  };

  return [
    route({
      name: "createIntegration",
      summary: "Create the auth integration of a project, with a key set",
      method: "POST",
      template: "/projects/auth/create",
      body: createBody,
      success: [201],
      handler: (context, sent) => {
        const project = projectIn(sent);
        return keysResponse(project, auth.create(project, sent), originFor(site, context));
      },
    }),
    listRoute({
      service,
      name: "listIntegrations",
      summary: "List the auth integrations of a project",
      template: "/projects/{project_id}/auth/integrations",
      records: (context) => service.listed(projectOf(service, context).integrations),
      body: (page, pagination, context) => {
        const origin = originFor(site, context);
        return { data: page.map((record) => view(record, origin)), ...pagination };
      },
    }),
    route({
      name: "createKeys",
      summary: "Create a further key set of an integration",
      method: "POST",
      template: "/projects/auth/keys",
      body: integrationBody,
      success: [201],
      handler: (context, sent) => {
        const project = projectIn(sent);
        return keysResponse(project, findIntegration(project, sent.auth_provider), originFor(site, context));
      },
    }),
    route({
      name: "createUser",
      summary: "Create a user of an integration",
      method: "POST",
      template: "/projects/auth/user",
      body: createUserBody,
      success: [201],
      handler: (_context, sent) => {
        const project = projectIn(sent);
        const { auth_provider, email, name } = sent;
        findIntegration(project, auth_provider);
        const address = email.toLowerCase();
        if (project.users.some((other) => other.email.toLowerCase() === address)) {
          throw conflict("a user with this email exists already");
        }
        const user: StoredUser = { id: newId(), email, ...defined({ name }), created_at: now() };
        project.users.push(user);
        return jsonResponse(options, { id: user.id }, 201);
      },
    }),
    route({
      name: "deleteUser",
      summary: "Delete a user",
      method: "DELETE",
      template: "/projects/{project_id}/auth/users/{auth_user_id}",
      success: [204],
      handler: (context) => {
        const project = projectOf(service, context);
        findIntegration(project);
        const userId = pathParameter(context, "auth_user_id");
        if (!project.users.some(({ id }) => id === userId)) throw notFound("user not found");
        project.users = project.users.filter(({ id }) => id !== userId);
        return emptyResponse(204);
      },
    }),
    route({
      name: "transferOwnership",
      summary: "Begin the transfer of an auth project to an account of its user",
      method: "POST",
      template: "/projects/auth/transfer_ownership",
      body: integrationBody,
      success: [200],
      handler: (context, sent) => {
        const project = projectIn(sent);
        const token = auth.offerTransfer(findIntegration(project, sent.auth_provider));
        return jsonResponse(options, { url: `${originFor(site, context)}/_emulator/transfer/${token}` });
      },
    }),
    route({
      name: "deleteIntegration",
      summary: "Delete an integration with everything in it",
      method: "DELETE",
      template: "/projects/{project_id}/auth/integration/{auth_provider}",
      body: deleteBody,
      success: [200],
      handler: (context, sent) => {
        auth.delete(projectOf(service, context), pathParameter(context, "auth_provider"), sent?.delete_data === true);
        return emptyResponse(200);
      },
    }),
  ];
}
