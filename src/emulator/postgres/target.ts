/** Determines which compute a client requests, and whether it has access. */
import type { StoredEndpoint, StoredProject } from "../model/records";
import type { Store } from "../model/store";
import { KEEPER, SUPERUSER } from "./cluster";
import { SessionError } from "./protocol";

const FORM =
  "Give it in the connection string (?options=endpoint%3Dep-…), as the host name of a connection with TLS " +
  "(ep-….svc.localhost), or before the password (endpoint=ep-…;KEY) with TLS or on this machine.";
const POOLER = "-pooler";

/** The emulator's own roles. */
const OWN_ROLES: ReadonlySet<string> = new Set([SUPERUSER, KEEPER]);

export const noCompute = (): SessionError =>
  new SessionError("08004", "the connection does not say which compute it is for", FORM);

export interface GateTarget {
  /** Of the compute, or of its pooler. Undefined: the client has not named it yet. */
  readonly name: string | undefined;
  readonly user: string;
  readonly database: string;
  /** Parameters that are passed on to the server. */
  readonly startup: Readonly<Record<string, string>>;
}

/** Words separated by white space; a backslash escapes the next character. */
export const OPTION_WORDS = /(?:\\.|[^\s\\])+/gs;
const ENDPOINT = /^endpoint=(.*)$/s;
/** Its first word, whether it is the pooler's, and the rest. */
const HOST = /^([a-z0-9-]+?)(-pooler)?((?:\.[a-z0-9-]+)*)$/;
const OWN_DOMAIN = ".svc.localhost";

/** The compute that a host name is for: an id, or a pooled one. Undefined if it is for none. */
export function computeOfHost(store: Store, host: string): string | undefined {
  const [, first = "", pooler = "", rest = ""] = HOST.exec(host.toLowerCase()) ?? [];
  const endpoints = store.projects.flatMap((project) => project.endpoints);
  const found = endpoints.find((endpoint) => endpoint.host.toLowerCase() === first + rest);
  const id = found?.id ?? (rest.endsWith(OWN_DOMAIN) ? first : undefined);
  return id && id + pooler;
}

/**
 * Reads the compute from the parameters of a startup message.
 * @param byHost the compute for which the host name of the connection is
 * @throws SessionError
 */
export function targetOf(parameters: ReadonlyMap<string, string>, byHost?: string): GateTarget {
  const { user = "", database, options = "", replication = "false", ...others } = Object.fromEntries(parameters);
  if (user === "") throw new SessionError("28000", "no role is named in the startup message");
  if (OWN_ROLES.has(user)) throw new SessionError("28000", `role "${user}" does not exist`);
  if (!["false", "off", "no", "0"].includes(replication)) {
    throw new SessionError("0A000", "the emulator does not serve replication connections");
  }
  const words = options.match(OPTION_WORDS) ?? [];
  const named = new Set([byHost ?? "", ...words.map((word) => ENDPOINT.exec(word)?.[1] ?? "")]);
  named.delete("");
  const kept = words.filter((word) => !ENDPOINT.test(word)).join(" ");
  if (named.size > 1) {
    throw new SessionError("08004", `the connection names several computes: ${[...named].join(", ")}`, FORM);
  }
  const [name] = named;
  return {
    name,
    user,
    database: database === undefined || database === "" ? user : database,
    startup: { ...others, ...(kept !== "" && { options: kept }) },
  };
}

/** What a client has named. */
export function computeNamed(name: string): { readonly endpointId: string; readonly isPooled: boolean } {
  const isPooled = name.endsWith(POOLER);
  return { endpointId: isPooled ? name.slice(0, -POOLER.length) : name, isPooled };
}

export interface Compute {
  readonly project: StoredProject;
  readonly endpoint: StoredEndpoint;
}

export function findCompute({ projects }: Store, endpointId: string): Compute | undefined {
  for (const project of projects) {
    const endpoint = project.endpoints.find(({ id }) => id === endpointId);
    if (endpoint !== undefined) return { project, endpoint };
  }
  return undefined;
}

/**
 * The compute, if connections to it are possible.
 * @throws SessionError
 */
export function requireCompute(store: Store, endpointId: string): Compute {
  const compute = findCompute(store, endpointId);
  if (compute === undefined) {
    const wasDeleted = store.projects.some(({ deleted_endpoints }) => deleted_endpoints.includes(endpointId));
    throw new SessionError("08004", `the compute "${endpointId}" ${wasDeleted ? "was deleted" : "does not exist"}`);
  }
  if (compute.endpoint.disabled) {
    throw new SessionError("08004", `the compute ${endpointId} is disabled`, 'Set its "disabled" to false.');
  }
  return compute;
}
