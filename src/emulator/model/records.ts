import { createHash, randomBytes, randomUUID, type JsonWebKey } from "node:crypto";

/**
 * The emulator's records. Field names are those of the API (docs/design/api.md); a comment marks a field that no
 * response shows.
 */
export interface StoredBranch {
  id: string;
  name: string;
  default: boolean;
  created_at: string;
}

export interface EndpointSettings {
  pg_settings?: Record<string, string> | undefined;
  preload_libraries?: { use_defaults?: boolean | undefined; enabled_libraries?: string[] | undefined } | undefined;
}

export interface StoredEndpoint {
  id: string;
  host: string;
  name?: string;
  project_id: string;
  branch_id: string;
  autoscaling_limit_min_cu: number;
  autoscaling_limit_max_cu: number;
  region_id: string;
  type: "read_write" | "read_only";
  /** Free text only after an edit by hand: clients must handle an undocumented state. */
  current_state: string;
  pending_state?: string;
  settings: EndpointSettings;
  pooler_enabled: boolean;
  pooler_mode: string;
  disabled: boolean;
  passwordless_access: boolean;
  creation_source: string;
  created_at: string;
  updated_at: string;
  last_active?: string;
  suspended_at?: string;
  proxy_host: string;
  suspend_timeout_seconds: number;
  provisioner: string;
}

export type OperationStatus =
  "scheduling" | "running" | "cancelling" | "finished" | "skipped" | "failed" | "error" | "cancelled";

export const OPERATION_ACTIONS = [
  "create_compute",
  "start_compute",
  "suspend_compute",
  "apply_config",
  "check_availability",
] as const;
export type OperationAction = (typeof OPERATION_ACTIONS)[number];

/** The outcome of an operation, decided when it is scheduled. */
export type OperationOutcome =
  | { status: "finished" }
  | { status: "failed" | "error" | "cancelled"; error?: string | undefined }
  | { status: "stuck" };

export interface StoredOperation {
  id: string;
  project_id: string;
  branch_id: string;
  endpoint_id: string;
  action: OperationAction;
  status: OperationStatus;
  error?: string;
  failures_count: number;
  created_at: string;
  updated_at: string;
  total_duration_ms: number;
  /** Not in responses: its duration, start and outcome. */
  run: { duration_ms: number; started_ms?: number; outcome: OperationOutcome };
}

export interface StoredIntegration {
  auth_provider: string;
  auth_provider_project_id: string;
  branch_id: string;
  db_name: string;
  role_name: string;
  created_at: string;
  owned_by: string;
  /** Set by an edit or an earlier version; otherwise the emulator's own (http/keySet.ts). */
  jwks_url?: string;
  /** Not in responses: oldest first. Created on first use (signingKeys.ts). */
  signing_keys?: StoredSigningKey[];
  /** Not in responses: hashes of the tokens in the URLs issued for an ownership transfer. */
  transfer_token_hashes?: string[];
}

export const SIGNING_ALGORITHMS = ["RS256", "ES256"] as const;

/** A key that signs tokens of users. */
export interface StoredSigningKey {
  kid: string;
  alg: (typeof SIGNING_ALGORITHMS)[number];
  private_jwk: JsonWebKey;
  created_at: string;
}

/** The secret server key is returned once and stored only as a hash. */
export interface StoredKeySet {
  auth_provider: string;
  pub_client_key: string;
  secret_server_key: string;
  created_at: string;
}

export interface StoredOAuthProvider {
  id: string;
  type: "shared" | "standard";
  client_id?: string;
  client_secret?: string;
  created_at: string;
}

export interface StoredDomain {
  domain: string;
  auth_provider: string;
  created_at: string;
}

export interface StoredUser {
  id: string;
  email: string;
  name?: string;
  created_at: string;
}

export type StoredEmailServer =
  | { type: "shared" }
  | {
      type: "standard";
      host: string;
      port: number;
      username: string;
      password: string;
      sender_email: string;
      sender_name: string;
    };

/** The lists of a project. */
export interface ProjectLists {
  branches: StoredBranch[];
  endpoints: StoredEndpoint[];
  /** Ids of deleted computes: deleting one again has another response than an id that never existed. */
  deleted_endpoints: string[];
  /** Oldest first. */
  operations: StoredOperation[];
  integrations: StoredIntegration[];
  key_sets: StoredKeySet[];
  oauth_providers: StoredOAuthProvider[];
  domains: StoredDomain[];
  users: StoredUser[];
  /** `branch/database` pairs whose svc_auth schema outlived its integration. */
  kept_schemas: string[];
}

/** The initial lists of a project. The data file must have each of them. */
export const emptyLists = (): ProjectLists => ({
  branches: [],
  endpoints: [],
  deleted_endpoints: [],
  operations: [],
  integrations: [],
  key_sets: [],
  oauth_providers: [],
  domains: [],
  users: [],
  kept_schemas: [],
});

export interface StoredProject extends ProjectLists {
  id: string;
  name: string;
  region_id: string;
  created_at: string;
  email_server: StoredEmailServer;
}

export const newId = (): string => randomUUID();

export const newSecret = (prefix: string): string => `${prefix}_${randomBytes(24).toString("base64url")}`;

export const now = (): string => new Date().toISOString();

/** When the initial objects were created: long ago, so that a lagging list contains them. */
export const SEEDED_AT = "2025-01-01T00:00:00.000Z";

/** A hashed secret: a test can verify that the right one arrived, and nobody can use it. */
export const hashed = (value: string): string => `sha256:${createHash("sha256").update(value).digest("hex")}`;

/** Removes undefined keys, so that the change can be assigned to a record. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  // The type of fromEntries loses the relation of keys and values.
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
