/** A compute as it stands (docs/design/api.md, Compute record), with what changes by itself. */
export interface ComputeEndpointResult {
  /** The project it belongs to. */
  projectId: string;
  /** The compute's id (`ep-…`). */
  endpointId: string;
  /** The branch it serves (`br-…`). */
  branchId: string;
  /** `read_write` for the branch's primary, `read_only` for a replica. */
  type: string;
  /** Its name at the service. */
  name?: string | undefined;
  /** Where to connect. */
  host: string;
  /** The same through the connection pooler. */
  pooledHost: string;
  /** The host name that `host` ends in: `<endpoint id>.<proxy host>`. */
  proxyHost?: string | undefined;
  /** The project's region. */
  regionId?: string | undefined;
  /** The smallest size in compute units (CU); equal to the largest for a fixed size. */
  autoscalingLimitMinCu?: number | undefined;
  /** The largest size in CU. */
  autoscalingLimitMaxCu?: number | undefined;
  /** After how many seconds without a query it is suspended. 0: the service's default of 300 s; -1: never. */
  suspendTimeoutSeconds?: number | undefined;
  /** Whether the connection pooler is on. */
  poolerEnabled?: boolean | undefined;
  /** How the pooler shares connections, such as `transaction`. */
  poolerMode?: string | undefined;
  /** A disabled compute is suspended, and no query wakes it. */
  disabled?: boolean | undefined;
  /** Whether it can be reached without a password, by the service's own means. */
  passwordlessAccess?: boolean | undefined;
  /** Which machinery of the service runs it. */
  provisioner?: string | undefined;
  /** What it was made with, such as `console`. */
  creationSource?: string | undefined;
  /** `init`, `active` or `idle`; the service may know more. */
  currentState: string;
  /** What it is on its way to. */
  pendingState?: string | undefined;
  /** When it was last used; absent as long as it never was. ISO 8601, UTC, as all times here. */
  lastActive?: string | undefined;
  /** Since when it is idle. */
  suspendedAt?: string | undefined;
  /** When it was made. */
  createdAt?: string | undefined;
  /** When it was last changed. */
  updatedAt?: string | undefined;
}
