/** Determines which compute a client requests, and whether it has access. */
import type { StoredEndpoint, StoredProject } from "../model/records";
import type { Store } from "../model/store";
import { SessionError } from "./protocol";

const FORM = "Give it in the connection string: ?sslmode=disable&options=endpoint%3Dep-…";
const POOLER = "-pooler";

/** The owner of a branch's databases if no integration names another role. */
const STANDARD_ROLE = "svcdb_owner";

export interface GateTarget {
  readonly endpointId: string;
  readonly user: string;
  readonly database: string;
  /** Parameters that are passed on to the server. */
  readonly startup: Readonly<Record<string, string>>;
}

/** Words separated by white space; a backslash escapes the next character. */
const OPTION_WORDS = /(?:\\.|[^\s\\])+/gs;
const ENDPOINT = /^endpoint=(.*)$/s;

/**
 * Reads the compute from the parameters of a startup message.
 * @throws SessionError
 */
export function targetOf(parameters: ReadonlyMap<string, string>): GateTarget {
  const { user = "", database, options = "", replication = "false", ...others } = Object.fromEntries(parameters);
  if (user === "") throw new SessionError("28000", "no role is named in the startup message");
  if (!["false", "off", "no", "0"].includes(replication)) {
    throw new SessionError("0A000", "the emulator does not serve replication connections");
  }
  const words = options.match(OPTION_WORDS) ?? [];
  const named = words.flatMap((word) => ENDPOINT.exec(word)?.[1] ?? []);
  const kept = words.filter((word) => !ENDPOINT.test(word)).join(" ");
  const [endpointId = ""] = named;
  if (endpointId === "" || named.length > 1) {
    const problem = named.length > 1 ? "names several computes" : "does not say which compute it is for";
    throw new SessionError("08004", `the connection ${problem}`, FORM);
  }
  if (endpointId.endsWith(POOLER)) {
    throw new SessionError(
      "08004",
      `the emulator has no pooler: "${endpointId}" cannot be connected to`,
      `Connect to the compute itself: options=endpoint%3D${endpointId.slice(0, -POOLER.length)}`,
    );
  }
  return {
    endpointId,
    user,
    database: database === undefined || database === "" ? user : database,
    startup: { ...others, ...(kept !== "" && { options: kept }) },
  };
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

/** The roles that a client of a branch can use. */
const rolesOf = ({ integrations }: StoredProject, branchId: string): string[] => [
  STANDARD_ROLE,
  ...integrations.filter(({ branch_id }) => branch_id === branchId).map(({ role_name }) => role_name),
];

/** @throws SessionError */
export function requireRole({ project, endpoint }: Compute, user: string): void {
  const roles = [...new Set(rolesOf(project, endpoint.branch_id))];
  if (roles.includes(user)) return;
  throw new SessionError(
    "28000",
    `role "${user}" does not exist on the branch ${endpoint.branch_id}`,
    `Its roles: ${roles.join(", ")}.`,
  );
}
