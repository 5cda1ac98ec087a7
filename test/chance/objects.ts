import { records, type Json } from "../support/emulator";
import { isDeepStrictEqual } from "node:util";
import type { World } from "../support/rules/world";
import type { Held } from "./player";

/* What stands at the service, and which of it a state holds. Nothing here uses the code under test. */

/** One object of the service. */
export interface Thing {
  readonly projectId: string;
  readonly list: "endpoints" | "integrations" | "oauth_providers" | "domains" | "users" | "email_server";
  /** Its name in its list. */
  readonly name: string;
  /** The auth project that it is in; empty for computes. */
  readonly home: string;
  readonly record: Json;
}

/** By a key that tells apart objects of the same name in two integrations. */
export type Things = ReadonlyMap<string, Thing>;

const NAMES = {
  endpoints: "id",
  integrations: "auth_provider_project_id",
  oauth_providers: "id",
  domains: "domain",
  users: "id",
} as const;
/** What a compute does by itself, and when something happened. */
const PASSING = [
  "created_at",
  "updated_at",
  "last_active",
  "suspended_at",
  "current_state",
  "pending_state",
  "signing_keys",
  "transfer_token_hashes",
];

export async function thingsAt(world: World): Promise<Things> {
  const projects = await world.projects();
  const all = projects.flatMap((project) => thingsIn(String(project["id"]), project));
  return new Map(all.map((thing) => [`${thing.projectId} ${thing.list} ${thing.home}/${thing.name}`, thing]));
}

function thingsIn(projectId: string, project: Json): Thing[] {
  const [integration] = records(project, "integrations");
  const home = String(integration?.["auth_provider_project_id"] ?? "");
  const listed = (["endpoints", "integrations", "oauth_providers", "domains", "users"] as const).flatMap((list) =>
    records(project, list).map((record): Thing => {
      const kept = Object.fromEntries(Object.entries(record).filter(([field]) => !PASSING.includes(field)));
      return {
        projectId,
        list,
        name: String(record[NAMES[list]]),
        home: list === "endpoints" ? "" : home,
        record: kept,
      };
    }),
  );
  // The emulator's state has this one record.
  const mail = project["email_server"] as Json;
  return home === "" ? listed : [...listed, { projectId, list: "email_server", name: "", home, record: mail }];
}

/** The differences between two moments. */
export interface Change {
  readonly what: "added" | "removed" | "changed";
  readonly key: string;
  readonly thing: Thing;
}

export function changesBetween(before: Things, after: Things): Change[] {
  const found: Change[] = [];
  for (const [key, thing] of before) {
    const now = after.get(key);
    if (now === undefined) found.push({ what: "removed", key, thing });
    else if (JSON.stringify(now.record) !== JSON.stringify(thing.record))
      found.push({ what: "changed", key, thing: now });
  }
  for (const [key, thing] of after) if (!before.has(key)) found.push({ what: "added", key, thing });
  return found;
}

/** Where the objects of a kind are. */
export const LISTS: Readonly<Record<string, Thing["list"]>> = {
  ComputeEndpoint: "endpoints",
  AuthIntegration: "integrations",
  OAuthProvider: "oauth_providers",
  WhitelistDomain: "domains",
  Whitelist: "domains",
  AuthUser: "users",
  EmailServer: "email_server",
};

/** Whether an entry of the state holds it. */
export function holds({ kind, id, outs }: Held, thing: Thing): boolean {
  if (LISTS[kind] !== thing.list) return false;
  const [projectId, rest = ""] = id.split(/\/(.*)/s);
  if (projectId !== thing.projectId) return false;
  const home = outs["authProviderProjectId"];
  if (kind === "AuthIntegration") return home === thing.name;
  // Known of most; the others are in whatever integration there is.
  if (thing.home !== "" && home !== undefined && home !== thing.home) return false;
  if (kind === "EmailServer") return true;
  if (kind === "Whitelist") return domainsIn(outs).includes(thing.name);
  return rest === thing.name;
}

/** The domains of a Whitelist, without the days of some. */
const domainsIn = ({ domains }: Readonly<Record<string, unknown>>): string[] =>
  (Array.isArray(domains) ? domains : []).map((one: unknown) => String(Object(one)["origin"] ?? one));

/** What an entry says of its object, as far as a list shows it: by argument, what is declared and what is there. */
export function differences(held: Held, things: Things): string[] {
  if (["AuthKeys", "AuthOwnershipTransfer"].includes(held.kind)) return [];
  const its = [...things.values()].filter((thing) => holds(held, thing));
  const [one] = its;
  const values = held.inputs;
  if (held.kind === "Whitelist") {
    // The origin is stored without a path.
    const declared = domainsIn(values)
      .map((domain) => domain.replace(/\/$/, ""))
      .toSorted();
    const all = [...things.values()].filter(
      ({ list, projectId }) => list === "domains" && projectId === held.id.split("/")[0],
    );
    const there = all.map(({ name }) => name).toSorted();
    return JSON.stringify(declared) === JSON.stringify(there)
      ? []
      : [`domains: declared ${declared.join()}, there ${there.join()}`];
  }
  if (held.kind === "OAuthProvider" && values["absent"] === true)
    return one === undefined ? [] : ["absent: it is there"];
  // No list shows users.
  if (one === undefined && held.kind === "AuthUser") return [];
  if (one === undefined) return held.kind === "EmailServer" ? ["no integration has it"] : ["it is not there"];
  return Object.entries(shown(one)).flatMap(([name, value]) => {
    const declared = values[name];
    const isSame = declared === undefined || isDeepStrictEqual(sized(declared), sized(value));
    return isSame ? [] : [`${name}: declared ${JSON.stringify(declared)}, there ${JSON.stringify(value)}`];
  });
}

/** A range of one size is that size. */
const sized = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || !("min" in value) || !("max" in value)) return value;
  return value.min === value.max ? value.min : value;
};

/** The value of an argument, or of a part of one, in a record; secrets as the emulator's state shows them. */
export function valueAt(thing: Thing, path: readonly string[]): unknown {
  const { record } = thing;
  const { pg_settings: pgSettings, preload_libraries: preloadLibraries } = Object(record["settings"]) as Json;
  const all: Json = {
    ...shown(thing),
    ...(thing.list === "endpoints" && { settings: { pgSettings, preloadLibraries } }),
    ...(thing.list === "oauth_providers" && { clientSecret: record["client_secret"] }),
    ...(thing.list === "email_server" && { password: record["password"] }),
  };
  return path.reduce<unknown>((value, key) => (key === "*" ? value : Object(value)[key]), all);
}

/** The record in the terms of the arguments. */
function shown({ list, record }: Thing): Record<string, unknown> {
  switch (list) {
    case "endpoints": {
      const [min, max] = [record["autoscaling_limit_min_cu"], record["autoscaling_limit_max_cu"]];
      return {
        branchId: record["branch_id"],
        type: record["type"],
        size: min === max ? min : { min, max },
        name: record["name"],
        disabled: record["disabled"],
        poolerEnabled: record["pooler_enabled"],
        passwordlessAccess: record["passwordless_access"],
      };
    }
    case "integrations":
      return { branchId: record["branch_id"], databaseName: record["db_name"] };
    case "oauth_providers":
      return { clientId: record["client_id"] };
    case "users":
      return { email: record["email"], name: record["name"] };
    case "email_server":
      return record["type"] === "standard"
        ? {
            type: "standard",
            host: record["host"],
            port: record["port"],
            username: record["username"],
            senderEmail: record["sender_email"],
            senderName: record["sender_name"],
          }
        : { type: record["type"] };
    case "domains":
      return { domain: record["domain"] };
  }
}
