export interface ConnectionUriOptions {
  /** `host` of a compute; with `pooled` its pooled form is derived, unless it is one already. */
  readonly host: string;
  readonly database: string;
  readonly role: string;
  /** Secret: the result holds it. Wrap the result in `pulumi.secret`. */
  readonly password?: string;
  /** Through the connection pooler (up to 10,000 client connections, service.md 8.1). @default false */
  readonly pooled?: boolean;
  /** @default 5432 */
  readonly port?: number;
  /** @default "require" */
  readonly sslMode?: "disable" | "require" | "verify-full";
}

/** `postgresql://role:password@host:5432/database?sslmode=require`, each part escaped. */
export function connectionUri(options: ConnectionUriOptions): string {
  const { host, database, role, password, pooled = false, port = 5432, sslMode = "require" } = options;
  const user = encode(role) + (password === undefined ? "" : `:${encode(password)}`);
  return `postgresql://${user}@${pooled ? pooledHost(host) : host}:${port}/${encode(database)}?sslmode=${sslMode}`;
}

/** `<endpoint id>-pooler.<proxy host>` of `<endpoint id>.<proxy host>` (service notes). */
export function pooledHost(host: string): string {
  return host.replace(/^([^.]+?)(-pooler)?(?=\.|$)/, "$1-pooler");
}

/** What `encodeURIComponent` leaves alone but a strict reader of URIs may not. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
