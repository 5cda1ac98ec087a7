/** Inputs and results of a running emulator for tests, without types of other packages. */
import type { PagingFault } from "./model/pages";
import type {
  StoredBranch,
  StoredEmailServer,
  StoredEndpoint,
  StoredIntegration,
  StoredOAuthProvider,
  OperationAction,
  StoredOperation,
} from "./model/records";

/** Null removes a field. */
type Cleared<Fields, Name extends keyof Fields> = { [K in Name]?: Fields[K] | null };

type EndpointFields = Partial<Omit<StoredEndpoint, "id" | "project_id">>;
type Removable = "name" | "pending_state" | "last_active" | "suspended_at";

/** For each kind: the fields of `set` and `create`. */
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
  /** There is always one: creating it changes it, deleting it restores the shared one. */
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

/** A change by hand, as in `POST /_emulator/edit`. */
export type EmulatorEdit = {
  [K in keyof RecordEdits]: {
    readonly kind: K;
    readonly project_id: string;
    /** The record's id: the text of a domain, the provider of an integration. Optional if there is only one record. */
    readonly id?: string;
  } & (
    { readonly set: RecordEdits[K]["set"] } | { readonly create: RecordEdits[K]["create"] } | { readonly delete: true }
  );
}[keyof RecordEdits];

interface RequestFault {
  /** @default any */
  method?: string;
  /**
   * Relative to the API root: the actual path, or a template such as `/projects/{project_id}/endpoints`. @default any
   */
  path?: string;
  /** Only this page of a list: 1 is a GET without a cursor. @default any */
  page?: number;
  /** The number of requests that fail; 0: all, until the faults are cleared. @default 1 */
  times?: number;
  /** The number of matching requests that pass first. @default 0 */
  after?: number;
  status?: number;
  /** A text is sent unchanged, anything else as JSON. */
  body?: unknown;
  /** Merged into the real response; requires `effect: "done"`. */
  merge?: Record<string, unknown>;
  contentType?: string;
  headers?: Record<string, string>;
  delayMs?: number;
  /** `done`: the request is executed before the faulty response. @default "none" */
  effect?: "none" | "done";
  /** `reset`: before the response, `cut`: within it, `hang`: no response at all. */
  drop?: "reset" | "cut" | "hang";
  /**
   * The real page of a list, with a wrong cursor. `repeats`: that of the request, so that the second page comes for ever.
   * `endless`: after its end the list begins again, with new cursors.
   */
  paging?: PagingFault;
}

interface OperationFault {
  operation: { action?: OperationAction; status: "failed" | "error" | "cancelled"; error?: string; times?: number };
}

/** A compute whose start never finishes. */
interface StuckFault {
  stuck: true;
  times?: number;
}

/** A fault, as in `POST /_emulator/faults`. */
export type EmulatorFault = RequestFault | OperationFault | StuckFault;

/** A logged request of the API, with secrets as `sha256:<hex>`. */
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
  /** Null until a response is sent, and for a dropped connection. */
  status: number | null;
  /** The real status that a fault replaced, if the request was executed. */
  real_status?: number;
  duration_ms: number;
}

/** An operation as in the API. */
export type EmulatorOperation = Omit<StoredOperation, "run">;
