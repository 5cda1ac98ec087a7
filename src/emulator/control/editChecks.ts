import { z } from "zod";

/** Bodies of the control routes. Values are hardly checked: an operator, or a fault, may leave anything behind. */
const text = z.string();
const moment = z.iso.datetime();

export const newProjectBody = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, "must be lower-case letters, digits and dashes")
    .optional(),
  name: text.min(1).optional(),
  region_id: text.min(1).optional(),
  branches: z
    .array(
      z.strictObject({
        id: text.startsWith("br-"),
        name: text.min(1).optional(),
        default: z.boolean().default(false),
        compute: z.boolean().default(false),
      }),
    )
    .min(1)
    .optional(),
});

export const EDIT_KINDS = [
  "endpoint",
  "oauth_provider",
  "domain",
  "email_server",
  "integration",
  "user",
  "branch",
  "operation",
] as const;

const fields = z.record(z.string(), z.unknown());

export const editBody = z
  .strictObject({
    kind: z.enum(EDIT_KINDS),
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

const endpointFields = {
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
};

/** Null takes an optional field away. */
export const endpointChange = z.strictObject({
  ...z.object(endpointFields).partial().shape,
  name: text.nullable().optional(),
  pending_state: text.nullable().optional(),
  last_active: moment.nullable().optional(),
  suspended_at: moment.nullable().optional(),
});

export const endpointCreation = z.strictObject({
  ...z.object(endpointFields).partial().shape,
  id: text.startsWith("ep-").optional(),
  branch_id: text,
  type: endpointFields.type.default("read_write"),
});

const oauthFields = { type: z.enum(["shared", "standard"]), client_id: text, client_secret: text };

export const oauthProviderChange = z.strictObject({
  type: oauthFields.type.optional(),
  client_id: text.nullable().optional(),
  client_secret: text.nullable().optional(),
});

export const oauthProviderCreation = z.strictObject({
  id: text.min(1),
  ...z.object(oauthFields).partial().shape,
  type: oauthFields.type.default("shared"),
});

export const domainChange = z.strictObject({ domain: text.optional() });
export const domainCreation = z.strictObject({ domain: text.min(1) });

export const integrationChange = z.strictObject({
  auth_provider_project_id: text.optional(),
  branch_id: text.optional(),
  db_name: text.optional(),
  owned_by: text.optional(),
  jwks_url: text.optional(),
  created_at: moment.optional(),
});
export const integrationCreation = z.strictObject({
  branch_id: text,
  database_name: text.default("svcdb"),
  role_name: text.default("svcdb_owner"),
});

export const userChange = z.strictObject({ email: text.optional(), name: text.nullable().optional() });
export const userCreation = z.strictObject({ id: text.optional(), email: text, name: text.optional() });

export const branchChange = z.strictObject({ name: text.optional(), default: z.boolean().optional() });
export const branchCreation = z.strictObject({
  id: text.startsWith("br-"),
  name: text.optional(),
  default: z.boolean().default(false),
});

export const operationCreation = z.strictObject({
  endpoint_id: text,
  action: z
    .enum(["create_compute", "start_compute", "suspend_compute", "apply_config", "check_availability"])
    .default("check_availability"),
  duration_ms: z.int().min(0).optional(),
});
