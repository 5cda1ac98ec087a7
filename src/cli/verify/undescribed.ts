import { EMAIL, type Exchange, type Exchanges, fieldOf, isFields, isGood, type List, listed } from "./exchanges";

/** The fields of each record in docs/design/api.md. */
export const DESCRIBED = {
  compute: [
    ...["id", "host", "proxy_host", "project_id", "branch_id", "region_id", "name", "type"],
    ...["autoscaling_limit_min_cu", "autoscaling_limit_max_cu", "suspend_timeout_seconds"],
    ...["current_state", "pending_state", "settings", "pooler_enabled", "pooler_mode", "disabled"],
    ...["passwordless_access", "provisioner", "creation_source", "created_at", "updated_at"],
    ...["last_active", "suspended_at"],
  ],
  operation: [
    ...["id", "project_id", "branch_id", "endpoint_id", "action", "status", "error", "retry_at"],
    ...["failures_count", "total_duration_ms", "created_at", "updated_at"],
  ],
  integration: [
    ...["auth_provider", "auth_provider_project_id", "branch_id", "db_name", "created_at", "owned_by", "jwks_url"],
  ],
  provider: ["id", "type", "client_id", "client_secret"],
  domain: ["domain", "auth_provider"],
  mail: ["type", "host", "port", "username", "password", "sender_email", "sender_name"],
} as const;

const IN_LIST = {
  endpoints: "compute",
  operations: "operation",
  integrations: "integration",
  providers: "provider",
  domains: "domain",
} as const satisfies Partial<Record<List, keyof typeof DESCRIBED>>;

/** The fields that the service shows and that are not described, as `compute.field`. Their values are not repeated. */
export function undescribedIn(exchanges: Exchanges): string[] {
  const found = exchanges.all.flatMap((exchange) =>
    recordsOf(exchange).flatMap(([what, record]) => {
      const known: readonly string[] = DESCRIBED[what];
      const names = Object.keys(record).filter((name) => !known.includes(name));
      // A free text is no name of a field.
      return names.filter((name) => /^\w{1,60}$/.test(name)).map((name) => `${what}.${name}`);
    }),
  );
  return [...new Set(found)].sort();
}

function recordsOf(exchange: Exchange): (readonly [keyof typeof DESCRIBED, object])[] {
  if (!isGood(exchange.status)) return [];
  // The keys of a table in this file.
  const inLists = (Object.keys(IN_LIST) as (keyof typeof IN_LIST)[]).flatMap((list) =>
    (listed(exchange, list) ?? []).map((record) => [IN_LIST[list], record] as const),
  );
  const endpoint = fieldOf(exchange.json, "endpoint");
  const isMail = exchange.template === EMAIL && isFields(exchange.json);
  return [
    ...inLists,
    ...(isFields(endpoint) ? [["compute", endpoint] as const] : []),
    ...(isMail && isFields(exchange.json) ? [["mail", exchange.json] as const] : []),
  ];
}
