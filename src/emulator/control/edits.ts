import { z } from "zod";
import { checked } from "../http/bodies";
import { jwksUrlOf } from "../http/keySet";
import { newEndpoint } from "../model/computes";
import { defined, newId, now, OPERATION_ACTIONS, type StoredProject } from "../model/records";
import { invalid, notFound } from "../model/refusal";
import type { Service } from "../model/service";
import { findBranch, findEndpoint } from "../model/store";
import { LONGEST_TIMER_MS } from "../emulatorOptions";
import { emailServerBody } from "../routes/emailServerRoutes";
import { operationView } from "../routes/projectRoutes";

type Fields = Record<string, unknown>;

interface EditPlace {
  service: Service;
  project: StoredProject;
}

/** One kind of record: how it is changed directly, without the API, and how the page shows it. */
interface Editor {
  // Each of these returns the record.
  set: (place: EditPlace, id: string | undefined, fields: Fields) => object;
  remove: (place: EditPlace, id: string | undefined) => object;
  create: (place: EditPlace, fields: Fields) => object;
  /** The records for the page, by id. `origin`: where the emulator is reached. */
  shown: (project: StoredProject, origin: string) => [id: string, record: object][];
}

/** The largest number of records that a message names. */
const MOST_NAMED = 10;
/** The page shows the latest operations; the control routes show all. */
const SHOWN_OPERATIONS = 200;

/** An editor for a list of records. Without an id it edits the only record of the list. */
function listEditor<T extends object, Creation extends z.ZodType>(list: {
  records: (project: StoredProject) => T[];
  idOf: (record: T) => string;
  /** Null removes a field; a missing field stays unchanged. */
  change: z.ZodType<object>;
  creation: Creation;
  /** Adds the record to its list. */
  create: (place: EditPlace, fields: z.output<Creation>) => T;
  /** @default takes the record out of its list */
  remove?: (place: EditPlace, record: T) => void;
  /** How the page shows it. @default as it is stored */
  view?: (record: T, origin: string) => object;
}): Editor {
  const find = (project: StoredProject, id: string | undefined): T => {
    const records = list.records(project);
    const record = id === undefined ? records[0] : records.find((candidate) => list.idOf(candidate) === id);
    if (record === undefined) {
      const ids = records.slice(0, MOST_NAMED).map(list.idOf).join(", ");
      const there = ids === "" ? "has none of this kind" : records.length > MOST_NAMED ? `has ${ids}, …` : `has ${ids}`;
      throw notFound(`the record to edit was not found: project ${project.id} ${there}`);
    }
    if (id === undefined && records.length > 1) throw invalid("there are several such records: give an id");
    return record;
  };
  const takeOut = ({ project }: EditPlace, record: T): void => {
    const records = list.records(project);
    records.splice(records.indexOf(record), 1);
  };
  return {
    set: ({ project }, id, fields) => {
      const record = find(project, id);
      const change = defined(checked(list.change, fields));
      Object.assign(record, change);
      for (const [key, value] of Object.entries(change)) if (value === null) Reflect.deleteProperty(record, key);
      return record;
    },
    remove: (place, id) => {
      const record = find(place.project, id);
      (list.remove ?? takeOut)(place, record);
      return record;
    },
    create: (place, fields) => list.create(place, checked(list.creation, fields)),
    shown: (project, origin) =>
      list.records(project).map((record) => [list.idOf(record), list.view?.(record, origin) ?? record]),
  };
}

function added<T>(records: T[], record: T): T {
  records.push(record);
  return record;
}

// Values are hardly validated: an operator or a fault may leave anything.
const text = z.string();
const moment = z.iso.datetime();

const endpointFields = z
  .strictObject({
    host: text,
    name: text,
    branch_id: text,
    autoscaling_limit_min_cu: z.number(),
    autoscaling_limit_max_cu: z.number(),
    region_id: text,
    type: z.enum(["read_write", "read_only"]),
    current_state: text,
    pending_state: text,
    settings: z.looseObject({ pg_settings: z.record(z.string(), z.string()).optional() }),
    pooler_enabled: z.boolean(),
    pooler_mode: text,
    disabled: z.boolean(),
    passwordless_access: z.boolean(),
    creation_source: text,
    created_at: moment,
    updated_at: moment,
    last_active: moment,
    suspended_at: moment,
    proxy_host: text,
    suspend_timeout_seconds: z.int(),
    provisioner: text,
  })
  .partial();

const endpoint = listEditor({
  records: ({ endpoints }) => endpoints,
  idOf: ({ id }) => id,
  change: endpointFields.extend({
    name: text.nullable().optional(),
    pending_state: text.nullable().optional(),
    last_active: moment.nullable().optional(),
    suspended_at: moment.nullable().optional(),
  }),
  creation: endpointFields.extend({
    id: text.startsWith("ep-").optional(),
    branch_id: text,
    type: endpointFields.shape.type.unwrap().default("read_write"),
  }),
  create: ({ project }, { id, branch_id, type, ...fields }) => {
    findBranch(project, branch_id);
    const record = newEndpoint({ project, branchId: branch_id, type, id });
    return added(project.endpoints, Object.assign(record, { current_state: "active" }, defined(fields)));
  },
  remove: ({ service, project }, { id }) => service.computes.remove(project, id),
});

const oauthType = z.enum(["shared", "standard"]);

const oauth_provider = listEditor({
  records: ({ oauth_providers }) => oauth_providers,
  idOf: ({ id }) => id,
  change: z.strictObject({
    type: oauthType.optional(),
    client_id: text.nullable().optional(),
    client_secret: text.nullable().optional(),
  }),
  creation: z.strictObject({
    id: text.min(1),
    type: oauthType.default("shared"),
    client_id: text.optional(),
    client_secret: text.optional(),
  }),
  create: ({ project }, { id, type, ...credentials }) =>
    added(project.oauth_providers, { id, type, ...defined(credentials), created_at: now() }),
});

const domain = listEditor({
  records: ({ domains }) => domains,
  idOf: ({ domain }) => domain,
  change: z.strictObject({ domain: text.optional() }),
  creation: z.strictObject({ domain: text.min(1) }),
  create: ({ service, project }, { domain }) =>
    added(project.domains, { domain, auth_provider: service.options.authProvider, created_at: now() }),
});

/** There is always one email server: creating it changes it, and deleting it restores the shared one. */
const email_server: Editor = {
  set: ({ project }, _id, fields) =>
    (project.email_server = checked(emailServerBody, { ...project.email_server, ...fields })),
  remove: ({ project }) => (project.email_server = { type: "shared" }),
  create: (place, fields) => email_server.set(place, undefined, fields),
  shown: ({ email_server: server }) => [["", server]],
};

/** Part of the address of its key set: a URL cannot contain half a surrogate pair. */
const authProjectId = text.regex(/^\P{Cs}+$/u, "must be text that a URL can carry");

const integration = listEditor({
  records: ({ integrations }) => integrations,
  idOf: ({ auth_provider }) => auth_provider,
  change: z.strictObject({
    auth_provider_project_id: authProjectId.optional(),
    branch_id: text.optional(),
    db_name: text.optional(),
    owned_by: text.optional(),
    jwks_url: text.nullable().optional(),
    created_at: moment.optional(),
  }),
  creation: z.strictObject({
    branch_id: text,
    database_name: text.default("svcdb"),
    role_name: text.default("svcdb_owner"),
  }),
  create: ({ service, project }, fields) =>
    service.auth.add(project, { auth_provider: service.options.authProvider, ...fields }),
  remove: ({ service, project }, { auth_provider }) => service.auth.remove(project, auth_provider),
  view: ({ transfer_token_hashes: _hashes, signing_keys: _keys, ...rest }, origin) => ({
    ...rest,
    jwks_url: jwksUrlOf(rest, origin),
  }),
});

const user = listEditor({
  records: ({ users }) => users,
  idOf: ({ id }) => id,
  change: z.strictObject({ email: text.optional(), name: text.nullable().optional() }),
  creation: z.strictObject({ id: text.optional(), email: text, name: text.optional() }),
  create: ({ project }, { id = newId(), email, name }) =>
    added(project.users, { id, email, ...defined({ name }), created_at: now() }),
});

const branch = listEditor({
  records: ({ branches }) => branches,
  idOf: ({ id }) => id,
  change: z.strictObject({ name: text.optional(), default: z.boolean().optional() }),
  creation: z.strictObject({
    id: text.startsWith("br-"),
    name: text.optional(),
    default: z.boolean().default(false),
  }),
  create: ({ project }, { id, name = id.slice("br-".length), default: isDefault }) =>
    added(project.branches, { id, name, default: isDefault, created_at: now() }),
  remove: ({ service, project }, { id: branchId }) => {
    project.branches = project.branches.filter(({ id }) => id !== branchId);
    const computes = project.endpoints.filter(({ branch_id }) => branch_id === branchId);
    for (const { id } of computes) service.computes.remove(project, id);
    const integrations = project.integrations.filter(({ branch_id }) => branch_id === branchId);
    for (const { auth_provider } of integrations) service.auth.remove(project, auth_provider);
  },
});

const newOperation = z.strictObject({
  endpoint_id: text,
  action: z.enum(OPERATION_ACTIONS).default("check_availability"),
  duration_ms: z.int().min(0).max(LONGEST_TIMER_MS).optional(),
});

const operation: Editor = {
  set: () => {
    throw invalid("an operation cannot be changed: use a fault");
  },
  remove: () => {
    throw invalid("an operation cannot be deleted");
  },
  create: ({ service, project }, fields) => {
    const { endpoint_id, action, duration_ms: durationMs } = checked(newOperation, fields);
    const target = findEndpoint(project, endpoint_id);
    const [started] = service.operations.schedule({ project, endpoint: target, actions: [action], durationMs });
    return started === undefined ? {} : operationView(started); // One action creates one operation.
  },
  shown: ({ operations }) =>
    operations.slice(-SHOWN_OPERATIONS).map(({ run, ...rest }) => [rest.id, { ...rest, started_ms: run.started_ms }]),
};

/** In the order of the page: a container before its contents. */
const EDITORS = { branch, endpoint, operation, integration, oauth_provider, domain, user, email_server };

const fields = z.record(z.string(), z.unknown());

export const editBody = z
  .strictObject({
    // The keys are those of the constant.
    kind: z.enum(Object.keys(EDITORS) as (keyof typeof EDITORS)[]),
    project_id: text,
    id: text.optional(),
    set: fields.optional(),
    delete: z.literal(true).optional(),
    create: fields.optional(),
  })
  .refine(
    (edit) => [edit.set, edit.delete, edit.create].filter((part) => part !== undefined).length === 1,
    "give exactly one of set, delete and create",
  );

/** Changes one record as somebody else would, without the rules of the API. Returns the record. */
export function applyEdit(service: Service, { kind, project_id, id, set, create }: z.output<typeof editBody>): object {
  const place = { service, project: service.store.project(project_id) };
  const editor: Editor = EDITORS[kind];
  const edited = (): object => {
    if (set !== undefined) return editor.set(place, id, set);
    return create === undefined ? editor.remove(place, id) : editor.create(place, create);
  };
  const record = edited();
  service.store.changed();
  return record;
}

/** Kind, id and record of a project's objects for the page. */
export const shownRecords = (
  project: StoredProject,
  origin: string,
): (readonly [kind: string, id: string, record: object])[] =>
  Object.entries<Editor>(EDITORS).flatMap(([kind, editor]) =>
    editor.shown(project, origin).map(([id, record]) => [kind, id, record] as const),
  );
