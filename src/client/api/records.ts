import { z } from "zod";

/*
 * What the service answers (docs/design/api.md), read tolerantly: unknown fields pass, and only what the client or a
 * resource cannot do without is required. A null counts as absent: it is dropped before. Beside it, what is sent.
 */

/** A name that goes into paths and states, and on to terminals: no dots alone, no control characters, no book. */
const identifier = z.string().regex(/^(?!\.{1,2}$)[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]{1,256}$/u);

/** What create and update send of a compute, and its record shows. */
const endpointAttributes = {
  branch_id: z.string().optional(),
  type: z.string().optional(),
  name: z.string().optional(),
  region_id: z.string().optional(),
  autoscaling_limit_min_cu: z.number().optional(),
  autoscaling_limit_max_cu: z.number().optional(),
  suspend_timeout_seconds: z.number().optional(),
  settings: z
    .looseObject({
      pg_settings: z.record(z.string(), z.unknown()).optional(),
      preload_libraries: z
        .looseObject({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() })
        .optional(),
    })
    .optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.string().optional(),
  disabled: z.boolean().optional(),
  passwordless_access: z.boolean().optional(),
  provisioner: z.string().optional(),
};
export type EndpointAttributes = z.infer<z.ZodObject<typeof endpointAttributes>>;

const endpointSchema = z.looseObject({
  ...endpointAttributes,
  id: identifier,
  host: z.string(),
  branch_id: z.string(),
  type: z.string(),
  current_state: z.string(),
  pending_state: z.string().optional(),
  creation_source: z.string().optional(),
  proxy_host: z.string().optional(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  last_active: z.string().optional(),
  suspended_at: z.string().optional(),
});
export type EndpointRecord = z.infer<typeof endpointSchema>;

const operationSchema = z.looseObject({
  id: identifier,
  action: z.string(),
  status: z.string(),
  endpoint_id: z.string().optional(),
  error: z.string().optional(),
  created_at: z.string().optional(),
  // Waits are planned with it, and nothing else.
  total_duration_ms: z.number().optional().catch(undefined),
});
export type OperationRecord = z.infer<typeof operationSchema>;

const authIntegrationSchema = z.looseObject({
  auth_provider: identifier,
  auth_provider_project_id: z.string(),
  branch_id: z.string(),
  db_name: z.string().optional(),
  created_at: z.string().optional(),
  owned_by: z.string().optional(),
  jwks_url: z.string().optional(),
});
export type AuthIntegrationRecord = z.infer<typeof authIntegrationSchema>;

export interface IntegrationRequest {
  auth_provider: string;
  branch_id: string;
  database_name?: string | undefined;
  role_name?: string | undefined;
}

const keySetSchema = z.looseObject({
  auth_provider_project_id: z.string(),
  pub_client_key: z.string().min(1),
  secret_server_key: z.string().min(1),
  jwks_url: z.string(),
  schema_name: z.string().optional(),
  table_name: z.string().optional(),
});
export type KeySetRecord = z.infer<typeof keySetSchema>;

export interface UserRequest {
  auth_provider: string;
  email: string;
  name?: string | undefined;
}

const oauthProviderSchema = z.looseObject({
  id: identifier,
  type: z.string(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});
export type OAuthProviderRecord = z.infer<typeof oauthProviderSchema>;

export interface OAuthCredentials {
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

const whitelistDomainSchema = z.looseObject({
  domain: z.string().min(1),
  auth_provider: z.string().optional(),
});
export type WhitelistDomainRecord = z.infer<typeof whitelistDomainSchema>;

const emailServerSchema = z.looseObject({
  type: z.string(),
  host: z.string().optional(),
  port: z.number().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  sender_email: z.string().optional(),
  sender_name: z.string().optional(),
});
export type EmailServerRecord = z.infer<typeof emailServerSchema>;

export type EmailServerRequest = Pick<
  EmailServerRecord,
  "type" | "host" | "port" | "username" | "password" | "sender_email" | "sender_name"
>;

const branchSchema = z.looseObject({
  id: identifier,
  name: z.string().optional(),
  default: z.boolean().optional(),
  current_state: z.string().optional(),
  created_at: z.string().optional(),
});
export type BranchRecord = z.infer<typeof branchSchema>;

/** The response bodies, one per shape; lists as their items. A list that is absent or null is no empty list. */
export const bodies = {
  endpoints: z.looseObject({ endpoints: z.array(endpointSchema) }).transform((body) => body.endpoints),
  endpointChange: z.looseObject({ endpoint: endpointSchema, operations: z.array(operationSchema).optional() }),
  operations: z.looseObject({ operations: z.array(operationSchema) }).transform((body) => body.operations),
  branches: z.looseObject({ branches: z.array(branchSchema) }).transform((body) => body.branches),
  integrations: z.looseObject({ data: z.array(authIntegrationSchema) }).transform((body) => body.data),
  keySet: keySetSchema,
  user: z.looseObject({ id: identifier }),
  transfer: z.looseObject({ url: z.string().min(1) }),
  oauthProviders: z.looseObject({ providers: z.array(oauthProviderSchema) }).transform((body) => body.providers),
  oauthProvider: oauthProviderSchema,
  domains: z.looseObject({ domains: z.array(whitelistDomainSchema) }).transform((body) => body.domains),
  emailServer: emailServerSchema,
  emailServers: emailServerSchema.transform((server) => [server]),
};

/** The lists that are read and shared: the path of each below its project, and its body. A single object is read as a list of one. */
export const LISTS = {
  endpoints: ["/endpoints", bodies.endpoints],
  operations: ["/operations?limit=100", bodies.operations],
  branches: ["/branches", bodies.branches],
  integrations: ["/auth/integrations", bodies.integrations],
  oauthProviders: ["/auth/oauth_providers", bodies.oauthProviders],
  domains: ["/auth/domains", bodies.domains],
  emailServer: ["/auth/email_server", bodies.emailServers],
} as const;
export type ListName = keyof typeof LISTS;
export type ItemOf<What extends ListName> = z.infer<(typeof LISTS)[What][1]>[number];
