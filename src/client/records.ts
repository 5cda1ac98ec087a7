import { z } from "zod";

/*
 * The records of the service (docs/design/api.md), parsed tolerantly: unknown fields pass, and only what the client or
 * a resource needs is required. Nulls count as absent: they are dropped before. Also the attributes that are sent.
 */

/** A name that is used in paths, states and terminals: not only dots, no control characters, not too long. */
const identifier = z.string().regex(/^(?!\.{1,2}$)[^\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]{1,256}$/u);

/** What create and update send for a compute, and its record shows. */
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
  // Used only to plan waits and to report them.
  total_duration_ms: z.number().optional().catch(undefined),
  failures_count: z.number().optional().catch(undefined),
  retry_at: z.string().optional().catch(undefined),
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

const projectSchema = z.looseObject({ id: identifier, region_id: z.string().optional() });

/** The bodies of single routes. */
export const bodies = {
  keySet: keySetSchema,
  user: z.looseObject({ id: identifier }),
  transfer: z.looseObject({ url: z.string().min(1) }),
};

const endpointChangeSchema = z.looseObject({
  endpoint: endpointSchema,
  operations: z.array(operationSchema).optional(),
});
export type EndpointChange = z.infer<typeof endpointChangeSchema>;

export const PROJECT = "/projects/{project_id}";

/** A part of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next part. Undefined: this is the last one. */
  readonly next?: string | undefined;
}

/** A number is a cursor, too; any other value leaves open whether the list goes on. */
const cursor = z.union([z.string(), z.number().transform(String)]).optional();
type Pagination = { readonly next?: string | undefined; readonly cursor?: string | undefined } & Readonly<
  Record<string, unknown>
>;

/** The objects of one kind: their routes, and the response to a change of one. */
export interface RecordKind<Item extends object, Response> {
  /** The route of their list, below its project. */
  readonly path: string;
  /** The body of that list. An absent or null list is not an empty list; a single object is a list of one. */
  readonly page: z.ZodType<Page<Item>>;
  /** It grows for ever, the newest first, so it is read only as far back as somebody needs. */
  readonly isHistory?: true;
  /** Its objects live in an auth integration: a project without one has none of them. */
  readonly inIntegration?: true;
  /** What distinguishes an item from the others of its project, including one that had its name before. */
  readonly idOf: (item: Item) => string;
  /** For messages. */
  readonly thing: string;
  /** The lists that a change of one object affects. */
  readonly touches: readonly ListName[];
  /** The route of one object below its project, and the name of its id there. @default the route of the list */
  readonly one?: readonly [path: string, id: string];
  /** The body of an accepted change; omitted if its routes answer without one. */
  readonly response?: z.ZodType<Response>;
  /** Omitted if the response shows no object. */
  readonly itemOf?: (response: Response) => Item;
  /** For a kind whose ids the service assigns and never reuses. */
  readonly idOfResponse?: (response: Response) => string;
}

/** A page of a list, and the cursor of the next one. Services name the cursor in two ways (docs/design/api.md, Responses). */
const pages = {
  pagination: z.looseObject({ next: cursor, cursor }).optional(),
};

/** A list beside an error is not whole, nor is one that says that it goes on, and not where. */
function pageOf<Item>(
  items: readonly Item[],
  body: { readonly pagination?: Pagination | undefined } & Readonly<Record<string, unknown>>,
  context: z.RefinementCtx,
): Page<Item> {
  const { pagination = {} } = body;
  const next = [pagination.next, pagination.cursor].find((text) => text !== undefined && text !== "");
  const says = (name: string, { [name]: value }: Readonly<Record<string, unknown>> = body): boolean =>
    Boolean(Array.isArray(value) ? value.length : value);
  const isError = says("error") || says("errors") || (Object.hasOwn(body, "code") && Object.hasOwn(body, "message"));
  const goesOn = next === undefined && (says("has_more") || says("has_more", pagination));
  if (isError) context.addIssue({ code: "custom", path: ["error"] });
  if (goesOn) context.addIssue({ code: "custom", path: ["has_more"] });
  return { items, next };
}

const kind = <Item extends object, Response = never>(of: RecordKind<Item, Response>): RecordKind<Item, Response> => of;

const itself = <Item>(item: Item): Item => item;

/** The lists that are read and shared. */
export const RECORDS = {
  endpoints: kind({
    path: "/endpoints",
    one: ["/endpoints/{endpoint_id}", "endpoint_id"],
    page: z
      .looseObject({ endpoints: z.array(endpointSchema), ...pages })
      .transform((body, context) => pageOf(body.endpoints, body, context)),
    response: endpointChangeSchema,
    itemOf: ({ endpoint }) => endpoint,
    idOfResponse: ({ endpoint }) => endpoint.id,
    idOf: ({ id }) => id,
    thing: "the compute",
    touches: ["endpoints", "operations"],
  }),
  operations: kind({
    path: "/operations?limit=100",
    isHistory: true,
    page: z
      .looseObject({ operations: z.array(operationSchema), ...pages })
      .transform((body, context) => pageOf(body.operations, body, context)),
    idOf: ({ id }) => id,
    thing: "the operation",
    touches: [],
  }),
  // The project itself.
  project: kind({
    path: "",
    page: z.looseObject({ project: projectSchema }).transform(({ project }) => ({ items: [project] })),
    idOf: ({ id }) => id,
    thing: "the project",
    touches: [],
  }),
  branches: kind({
    path: "/branches",
    page: z
      .looseObject({ branches: z.array(branchSchema), ...pages })
      .transform((body, context) => pageOf(body.branches, body, context)),
    idOf: ({ id }) => id,
    thing: "the branch",
    touches: [],
  }),
  // Its creation has a route of its own and answers with keys. Its contents are created and deleted with it.
  integrations: kind({
    path: "/auth/integrations",
    one: ["/auth/integration/{auth_provider}", "auth_provider"],
    page: z
      .looseObject({ data: z.array(authIntegrationSchema), ...pages })
      .transform((body, context) => pageOf(body.data, body, context)),
    response: keySetSchema,
    idOfResponse: (keys) => keys.auth_provider_project_id,
    idOf: (item) => item.auth_provider_project_id,
    thing: "the integration",
    touches: ["integrations", "oauthProviders", "domains", "emailServer"],
  }),
  oauthProviders: kind({
    path: "/auth/oauth_providers",
    one: ["/auth/oauth_providers/{oauth_provider_id}", "oauth_provider_id"],
    inIntegration: true,
    page: z
      .looseObject({ providers: z.array(oauthProviderSchema), ...pages })
      .transform((body, context) => pageOf(body.providers, body, context)),
    response: oauthProviderSchema,
    itemOf: itself,
    idOf: ({ id }) => id,
    thing: "the OAuth provider",
    touches: ["oauthProviders"],
  }),
  domains: kind({
    path: "/auth/domains",
    inIntegration: true,
    page: z
      .looseObject({ domains: z.array(whitelistDomainSchema), ...pages })
      .transform((body, context) => pageOf(body.domains, body, context)),
    idOf: ({ domain, auth_provider = "" }) => `${auth_provider} ${domain}`,
    thing: "the domain",
    touches: ["domains"],
  }),
  emailServer: kind({
    path: "/auth/email_server",
    inIntegration: true,
    page: emailServerSchema.transform((server) => ({ items: [server] })),
    response: emailServerSchema,
    itemOf: itself,
    idOf: () => "",
    thing: "the e-mail server",
    touches: ["emailServer"],
  }),
};
export type ListName =
  "endpoints" | "operations" | "project" | "branches" | "integrations" | "oauthProviders" | "domains" | "emailServer";
type Kinds = typeof RECORDS;
export type ItemOf<What extends ListName> =
  Kinds[What] extends RecordKind<infer Item extends object, infer _> ? Item : never;
export type ResponseOf<What extends ListName> =
  Kinds[What] extends RecordKind<infer _ extends object, infer Response> ? Response : never;
