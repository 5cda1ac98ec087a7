import type { z } from "zod";
import * as bodies from "./editChecks";
import { emailServerBody } from "../routes/authChecks";
import { checked, defined } from "../http/bodies";
import { newId, now } from "../model/identifiers";
import type { ProjectRecord } from "../model/records";
import { createEndpoint, sharedOAuthProviders } from "../model/seed";
import type { Service } from "../model/service";
import { newIntegration } from "../routes/authIntegration";
import { findBranch, findEndpoint, removeIntegration } from "../model/store";
import { operationView } from "../routes/views";
import { badRequest, notFound } from "../http/errors";

type Fields = Record<string, unknown>;

/** How one kind of record is changed behind the back of the API. Each answers the record. */
export interface Editor {
  set: (project: ProjectRecord, id: string | undefined, fields: Fields) => object;
  remove: (project: ProjectRecord, id: string | undefined) => object;
  create: (project: ProjectRecord, fields: Fields) => object;
}

/** Null takes a field away, a missing one is left alone. */
function overlay(record: object, change: object): void {
  const given = defined(change);
  Object.assign(record, given);
  for (const [key, value] of Object.entries(given)) if (value === null) Reflect.deleteProperty(record, key);
}

/** An editor of a list of records. Without an id it takes the only record there is. */
function listEditor<T extends object, Change extends z.ZodType, Creation extends z.ZodType>(list: {
  records: (project: ProjectRecord) => T[];
  idOf: (record: T) => string;
  change: Change;
  creation: Creation;
  make: (project: ProjectRecord, fields: z.output<Creation>) => T;
  removed?: (project: ProjectRecord, record: T) => void;
}): Editor {
  const find = (project: ProjectRecord, id: string | undefined): T => {
    const records = list.records(project);
    const record = id === undefined ? records[0] : records.find((candidate) => list.idOf(candidate) === id);
    if (record === undefined) throw notFound("the record to edit was not found");
    if (id === undefined && records.length > 1) throw badRequest("there are several such records: give an id");
    return record;
  };
  return {
    set: (project, id, fields) => {
      const record = find(project, id);
      const change: unknown = checked(list.change, fields);
      overlay(record, change as object); // every change schema describes an object
      return record;
    },
    remove: (project, id) => {
      const record = find(project, id);
      const records = list.records(project);
      records.splice(records.indexOf(record), 1);
      list.removed?.(project, record);
      return record;
    },
    create: (project, fields) => {
      const record = list.make(project, checked(list.creation, fields));
      list.records(project).push(record);
      return record;
    },
  };
}

const emailServerEditor: Editor = {
  set: (project, _id, fields) => {
    const merged = checked(emailServerBody, { ...project.email_server, ...fields });
    project.email_server = merged.type === "shared" ? { type: "shared" } : merged;
    return project.email_server;
  },
  remove: (project) => (project.email_server = { type: "shared" }),
  create: (project, fields) => emailServerEditor.set(project, undefined, fields),
};

function removeEndpoint({ lifecycle }: Service, project: ProjectRecord, endpointId: string): void {
  lifecycle.skipUnfinished(project, endpointId);
  project.deleted_endpoints.push(endpointId);
  project.endpoints = project.endpoints.filter(({ id }) => id !== endpointId);
}

export const editors = (service: Service): Record<(typeof bodies.EDIT_KINDS)[number], Editor> => ({
  endpoint: listEditor({
    records: (project) => project.endpoints,
    idOf: ({ id }) => id,
    change: bodies.endpointChange,
    creation: bodies.endpointCreation,
    make: (project, { id, branch_id, type, ...fields }) => {
      findBranch(project, branch_id);
      const endpoint = createEndpoint(project, branch_id, type, now(), id);
      return Object.assign(endpoint, { current_state: "active" }, defined(fields));
    },
    removed: (project, { id }) => removeEndpoint(service, project, id),
  }),
  oauth_provider: listEditor({
    records: (project) => project.oauth_providers,
    idOf: ({ id }) => id,
    change: bodies.oauthProviderChange,
    creation: bodies.oauthProviderCreation,
    make: (_project, { id, type, ...credentials }) => ({ id, type, ...defined(credentials), created_at: now() }),
  }),
  domain: listEditor({
    records: (project) => project.domains,
    idOf: ({ domain }) => domain,
    change: bodies.domainChange,
    creation: bodies.domainCreation,
    make: (_project, { domain }) => ({ domain, auth_provider: service.options.authProvider, created_at: now() }),
  }),
  email_server: emailServerEditor,
  integration: listEditor({
    records: (project) => project.integrations,
    idOf: ({ auth_provider }) => auth_provider,
    change: bodies.integrationChange,
    creation: bodies.integrationCreation,
    make: (project, { branch_id, database_name, role_name }) => {
      project.oauth_providers = sharedOAuthProviders();
      return newIntegration(service.options.authProvider, branch_id, database_name, role_name);
    },
    removed: (project, { auth_provider }) => removeIntegration(project, auth_provider),
  }),
  user: listEditor({
    records: (project) => project.users,
    idOf: ({ id }) => id,
    change: bodies.userChange,
    creation: bodies.userCreation,
    make: (_project, { id, email, name }) => ({ id: id ?? newId(), email, ...defined({ name }), created_at: now() }),
  }),
  branch: listEditor({
    records: (project) => project.branches,
    idOf: ({ id }) => id,
    change: bodies.branchChange,
    creation: bodies.branchCreation,
    make: (_project, { id, name, default: isDefault }) => ({
      id,
      name: name ?? id.slice("br-".length),
      default: isDefault,
      created_at: now(),
    }),
    removed: (project, branch) => {
      const lost = project.endpoints.filter(({ branch_id }) => branch_id === branch.id);
      for (const { id } of lost) removeEndpoint(service, project, id);
      const bound = project.integrations.filter(({ branch_id }) => branch_id === branch.id);
      for (const { auth_provider } of bound) removeIntegration(project, auth_provider);
    },
  }),
  operation: {
    set: () => {
      throw badRequest("an operation cannot be changed: use a fault");
    },
    remove: () => {
      throw badRequest("an operation cannot be deleted");
    },
    create: (project, fields) => {
      const { endpoint_id, action, duration_ms } = checked(bodies.operationCreation, fields);
      const [operation] = service.lifecycle.schedule(
        project,
        findEndpoint(project, endpoint_id),
        [action],
        duration_ms,
      );
      return operation === undefined ? {} : operationView(operation); // one action makes one operation
    },
  },
});
