/** What tests hand to a running emulator and get from it, without the types of any other package. */
import type {
  StoredBranch,
  StoredEmailServer,
  StoredEndpoint,
  StoredIntegration,
  StoredOAuthProvider,
  OperationAction,
  StoredOperation,
} from "./model/records";

/** Null takes a field away. */
type Cleared<Fields, Name extends keyof Fields> = { [K in Name]?: Fields[K] | null };

type EndpointFields = Partial<Omit<StoredEndpoint, "id" | "project_id">>;
type Removable = "name" | "pending_state" | "last_active" | "suspended_at";

/** Of each kind: the fields of `set`, and those of `create`. */
interface RecordEdits {
  endpoint: {
    set: Omit<EndpointFields, Removable> & Cleared<EndpointFields, Removable>;
    create: EndpointFields & { branch_id: string; id?: string };
  };
  oauth_provider: {
    set: { type?: StoredOAuthProvider["type"]; client_id?: string | null; client_secret?: string | null };
    create: { id: string; type?: StoredOAuthProvider["type"]; client_id?: string; client_secret?: string };
  };
  domain: { set: { domain?: string }; create: { domain: string } };
  /** There is always one: creating it changes it, deleting it brings the shared one back. */
  email_server: { set: Partial<StoredEmailServer>; create: StoredEmailServer };
  integration: {
    set: Partial<Omit<StoredIntegration, "auth_provider" | "role_name" | "jwks_url">> & { jwks_url?: string | null };
    create: { branch_id: string; database_name?: string; role_name?: string };
  };
  user: { set: { email?: string; name?: string | null }; create: { email: string; name?: string; id?: string } };
  branch: {
    set: Partial<Pick<StoredBranch, "name" | "default">>;
    create: { id: string; name?: string; default?: boolean };
  };
  operation: { set: never; create: { endpoint_id: string; action?: OperationAction; duration_ms?: number } };
}

/** One change by hand, as `POST /_emulator/edit` takes it. */
export type EmulatorEdit = {
  [K in keyof RecordEdits]: {
    readonly kind: K;
    readonly project_id: string;
    /** Of the record: for a domain its text, for an integration its provider. Optional where there is only one record. */
    readonly id?: string;
  } & (
    { readonly set: RecordEdits[K]["set"] } | { readonly create: RecordEdits[K]["create"] } | { readonly delete: true }
  );
}[keyof RecordEdits];

interface RequestFault {
  /** Any, if it is left out. */
  method?: string;
  /** Relative to the API root: as it is sent, or as a template such as `/projects/{project_id}/endpoints`. Any, if left out. */
  path?: string;
  /** How many requests it hits; 0: all, until the faults are cleared. @default 1 */
  times?: number;
  /** How many matching requests pass before. @default 0 */
  after?: number;
  status?: number;
  /** Text is sent as it is, anything else as JSON. */
  body?: unknown;
  /** Laid over the real response; needs `effect: "done"`. */
  merge?: Record<string, unknown>;
  contentType?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  /** `done`: the request is executed, and then answered with the fault. @default "none" */
  effect?: "none" | "done";
  /** `reset` before the answer, `cut` within it, or never an answer. */
  drop?: "reset" | "cut" | "hang";
}

interface OperationFault {
  operation: { action?: OperationAction; status: "failed" | "error" | "cancelled"; error?: string; times?: number };
}

/** A compute whose start never ends. */
interface StuckFault {
  stuck: true;
  times?: number;
}

/** A fault, as `POST /_emulator/faults` takes it. */
export type EmulatorFault = RequestFault | OperationFault | StuckFault;

/** A request of the API, as it was logged. Secrets are shown as `sha256:<hex>`. */
export interface EmulatorRequest {
  /** ISO 8601. */
  at: string;
  method: string;
  /** Relative to the API root. */
  path: string;
  /** The route's template, null for an unknown route. */
  template: string | null;
  query: Record<string, string>;
  body: unknown;
  /** Null as long as no response was sent, and for a connection that was dropped. */
  status: number | null;
  /** The response that a fault replaced, where the request was executed. */
  real_status?: number;
  duration_ms: number;
}

/** An operation, as the API shows it. */
export type EmulatorOperation = Omit<StoredOperation, "run">;
