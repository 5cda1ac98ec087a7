import { hashed } from "./identifiers";

export interface LoggedRequest {
  at: string;
  method: string;
  /** Relative to the API root. */
  path: string;
  /** The route's template, null for an unknown route. */
  template: string | null;
  query: Record<string, string>;
  body: unknown;
  /** Null while, or because, no answer was sent. */
  status: number | null;
  duration_ms: number;
}

const KEPT_REQUESTS = 10_000;
const SECRET_FIELDS: ReadonlySet<string> = new Set(["client_secret", "password", "secret_server_key"]);

/** What was sent in place of a text may hold the secret as well: its JSON is hashed. */
const hidden = (secret: unknown): unknown =>
  secret === undefined || secret === null
    ? secret
    : hashed(typeof secret === "string" ? secret : JSON.stringify(secret));

/** Secrets are shown as hashes only, at any depth. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SECRET_FIELDS.has(key) ? hidden(inner) : withoutSecrets(inner)]),
  );
}

export class RequestLog {
  private requests: LoggedRequest[] = [];

  add(request: LoggedRequest): void {
    this.requests.push(request);
    if (this.requests.length > KEPT_REQUESTS) this.requests.shift();
  }

  list(method?: string, pathPrefix?: string): LoggedRequest[] {
    return this.requests.filter(
      (request) =>
        (method === undefined || request.method === method.toUpperCase()) &&
        (pathPrefix === undefined || request.path.startsWith(pathPrefix)),
    );
  }

  clear(): void {
    this.requests = [];
  }
}
