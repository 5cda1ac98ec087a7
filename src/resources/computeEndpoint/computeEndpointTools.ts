import type { EndpointRecord } from "../../client";
import type { Properties } from "../../contract/hiddenKeys";
import { connectionUri, pooledHost } from "../../helpers/connectionUri";
import { type Asked, type Login, type Naming, PLACEHOLDERS, type ProjectObject, type Tools } from "../shared/tools";
import { leftoverCompute } from "./leftoverCompute";

export const computeEndpoint: Tools = {
  isListedFirst: true,
  list: async (asked) =>
    (await asked.client.computes.list(asked.projectId, asked.options)).map((record) => found(record, asked)),
  envSources: [
    { output: "host" },
    { output: "pooledHost", from: "host", by: pooledHost },
    { output: "connectionUri", from: "host", by: (host, login) => uri(host, login, false), isUri: true },
    { output: "pooledConnectionUri", from: "host", by: (host, login) => uri(host, login, true), isUri: true },
  ],
};

function found(record: EndpointRecord, asked: Asked): ProjectObject {
  const { id, type, branch_id, name, disabled, created_at } = record;
  const parts = [
    `${type} compute ${id} on ${branch_id}`,
    ...(name === undefined ? [] : [JSON.stringify(name)]),
    ...sizeText(record),
    ...(disabled === true ? ["disabled"] : []),
  ];
  const isPrimary = type === "read_write";
  return {
    kind: "ComputeEndpoint",
    id: `${asked.projectId}/${id}`,
    describe: parts.join(", "),
    // A branch has only one primary, so no id is needed.
    adopt: isPrimary ? "adopt: true" : `adopt: ${JSON.stringify(id)}`,
    identity: { branchId: branch_id, type, adopt: isPrimary ? true : id },
    names: (naming) => namesOf(record, isPrimary, naming),
    word: isPrimary ? "compute" : "replica",
    managed: settingsOf(record),
    createdAt: created_at,
    ...(isPrimary && { comesWithBranch: branch_id }),
    leftover: leftoverCompute(record, asked),
  };
}

function sizeText({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
}: Pick<EndpointRecord, "autoscaling_limit_min_cu" | "autoscaling_limit_max_cu">): string[] {
  if (min === undefined || max === undefined) return [];
  return [min === max ? `${max} CU` : `${min} to ${max} CU`];
}

function namesOf({ name = "", branch_id }: EndpointRecord, isPrimary: boolean, { kebab, branch }: Naming): string[] {
  const ofBranch = branch(branch_id);
  if (isPrimary) return [name, ofBranch];
  // Replicas of different branches often have the same name.
  const own = kebab(name) || "replica";
  return [`-${own}-`.startsWith(`-${ofBranch}-`) ? own : `${ofBranch}-${own}`];
}

/** The settings that are set: a read shows only those that are managed. */
function settingsOf({ settings = {} }: EndpointRecord): Properties {
  const { pg_settings: pg = {}, preload_libraries: libraries = {} } = settings;
  const preloadLibraries = {
    ...(libraries.use_defaults !== undefined && { useDefaults: true }),
    ...(libraries.enabled_libraries !== undefined && { enabledLibraries: [] }),
  };
  const managed = {
    ...(Object.keys(pg).length > 0 && { pgSettings: pg }),
    ...(Object.keys(preloadLibraries).length > 0 && { preloadLibraries }),
  };
  return Object.keys(managed).length > 0 ? { settings: managed } : {};
}

function uri(host: string, login: Login, pooled: boolean): string {
  const { role = PLACEHOLDERS.role, database = PLACEHOLDERS.database, password = PLACEHOLDERS.password } = login;
  const complete = connectionUri({ host, role, database, password, pooled });
  // The parameter of a gate (SVC_POSTGRES_GATE). A dotenv line cannot hold "&", and the gate is reached without it, too.
  return complete.replace("?sslmode=disable&", "?");
}
