import type { Deadline } from "./deadline";
import type { Endpoint } from "./schemas";

/** One account at one service. */
export interface ClientOptions {
  /** The versioned API root. */
  baseUrl: string;
  /** Secret. */
  apiKey: string;
  userAgent?: string | undefined;
  /** How long one attempt of a read may take. @default 10_000 */
  attemptTimeoutMs?: number | undefined;
  /** How long one attempt of a change may take. @default attemptTimeoutMs where that is given, else 60_000 */
  mutationAttemptTimeoutMs?: number | undefined;
  /** How long a read may take in all. @default 30_000 */
  readDeadlineMs?: number | undefined;
  /** How long a change may take in all, its wait included. @default 600_000 */
  mutationDeadlineMs?: number | undefined;
  /** How long to look for what a request of unknown fate may have made; lists lag. @default 3_000 */
  lookMs?: number | undefined;
  /** The longest pause between two looks of a wait. @default 2_000 */
  pollCeilingMs?: number | undefined;
  /** The first retry's longest delay. @default 250 */
  baseDelayMs?: number | undefined;
}

export interface CallOptions {
  deadline?: Deadline | undefined;
  /** Takes one line on what is being waited for. */
  onProgress?: ((text: string) => void) | undefined;
  /**
   * What may hold secrets that the service knows already: arguments, records. No message repeats them, as none repeats
   * those of the request itself.
   */
  secretsIn?: readonly unknown[] | undefined;
}

export interface ReadOptions extends CallOptions {
  /** Asks the service, whatever list is kept. */
  fresh?: boolean | undefined;
}

export interface ListOptions<T> extends ReadOptions {
  /**
   * Whether the list shows what is looked for. One that does not is not believed before a later one says the same: lists
   * lag (service-notes.md, "Behaviour").
   */
  shows?: ((items: readonly T[]) => boolean) | undefined;
}

export interface CreateOptions<T> extends CallOptions {
  /** The list as it was before, to tell what a request of unknown fate has made. The client lists by itself when it is left out. */
  known?: readonly T[] | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** Called as soon as the service has accepted the change, before any waiting. */
  onAccepted?: ((endpoint: Endpoint) => void) | undefined;
  /** The compute may end up idle: it is disabled, or a read replica. */
  idleIsReady?: boolean | undefined;
}

export interface CreateEndpointOptions extends ChangeOptions {
  known?: readonly Endpoint[] | undefined;
}

/** What create and update send of a compute (service-notes.md, "Values"). */
export interface EndpointAttributes {
  branch_id?: string | undefined;
  type?: string | undefined;
  name?: string | undefined;
  region_id?: string | undefined;
  autoscaling_limit_min_cu?: number | undefined;
  autoscaling_limit_max_cu?: number | undefined;
  suspend_timeout_seconds?: number | undefined;
  settings?: Record<string, unknown> | undefined;
  pooler_enabled?: boolean | undefined;
  pooler_mode?: string | undefined;
  disabled?: boolean | undefined;
  passwordless_access?: boolean | undefined;
  provisioner?: string | undefined;
}

export interface IntegrationRequest {
  auth_provider: string;
  branch_id: string;
  database_name?: string | undefined;
  role_name?: string | undefined;
}

export interface UserRequest {
  auth_provider: string;
  email: string;
  name?: string | undefined;
}

export interface OAuthCredentials {
  client_id?: string | undefined;
  client_secret?: string | undefined;
}

export interface EmailServerRequest {
  type: string;
  host?: string | undefined;
  port?: number | undefined;
  username?: string | undefined;
  password?: string | undefined;
  sender_email?: string | undefined;
  sender_name?: string | undefined;
}
