/** What previews may have left behind in a project, and what stays there nevertheless. */
import { domainToUnicode } from "node:url";
import type { AuthIntegrationRecord, BranchRecord, Client, ListOptions } from "../../client";
import { normalAddress, serviceOf } from "../../contract/address";
import { isSameName, nameForm } from "../../contract/forms";
import { projectOf } from "../../contract/identifiers";
import { messageOf } from "../../contract/untrusted";
import type { ReadSetting } from "../../contract/settings";
import type { Session } from "../../host/session";
import { type FleetState, settingsOf } from "../fleet/states";
import { listProjectObjects, type ProjectObject } from "../projectObjects";
import type { NamedInStates } from "./backend";
import { isNamedAfter, matchesGlob } from "./matching";

/** `state`: the last `pulumi up` stored it. Otherwise it may be that of another service than the states are about. */
export type AddressSource = "state" | "configuration" | "environment";

/** A project, and how it is reached. */
export interface Place {
  /** The service's address: another service may have a project with the same id. */
  readonly address: string;
  readonly addressFrom: AddressSource;
  readonly client: Client;
  readonly projectId: string;
  readonly authProvider: string;
}

/** What is looked for. */
export interface Criteria {
  readonly match: readonly string[];
  /** Branches that are open: of git, or of the service. */
  readonly keep: readonly string[];
  readonly olderThanMs: number;
  readonly now: Date;
}

type Compute = Extract<ProjectObject, { kind: "ComputeEndpoint" }>;
type Domain = Extract<ProjectObject, { kind: "WhitelistDomain" }>;

interface Common {
  readonly place: Place;
  /** Why it stays; undefined: nothing is known that keeps it. */
  readonly kept: string | undefined;
}

/** A compute that matches. `branch`: undefined if the service does not list it. */
export interface FoundCompute extends Common {
  readonly object: Compute;
  readonly branch: BranchRecord | undefined;
}

/** A redirect domain that matches. `integration`: undefined if none of its auth provider is listed. */
export interface FoundDomain extends Common {
  readonly object: Domain;
  readonly origin: string;
  readonly authProvider: string;
  readonly integration: AuthIntegrationRecord | undefined;
}

export type FoundObject = FoundCompute | FoundDomain;

/**
 * The projects in which a state holds something of its own.
 * @throws if a stack's settings are incomplete.
 */
export function placesOf(states: readonly FleetState[], session: Session): Place[] {
  const places = new Map<string, Place>();
  const shares = new Map<Client, number>();
  for (const of of states) {
    for (const { id = "", provider = "", external } of of.resources) {
      // What a program only looks up does not make the project one of the backend's.
      if (id === "" || external === true) continue;
      const place = ofStack(of.stack.name, () =>
        placeOf(projectOf(id), { read: settingsOf(of, provider), stored: "state" }, session, shares),
      );
      const key = JSON.stringify([serviceOf(place.address), nameForm(place.projectId)]);
      // What a state stores counts before what only the environment says.
      const before = places.get(key)?.addressFrom;
      if (before === undefined || (before !== "state" && place.addressFrom === "state")) places.set(key, place);
    }
  }
  for (const [client, share] of shares) client.limitRequests(share);
  return [...places.values()];
}

/**
 * `stored`: what the settings are read from before the environment. `shares`: the smallest share of each account, since its
 * stacks use it together.
 */
export function placeOf(
  projectId: string,
  { read, stored }: { readonly read: ReadSetting; readonly stored: "state" | "configuration" },
  session: Session,
  shares = new Map<Client, number>(),
): Place {
  const { client, settings } = session.account(read);
  const addressFrom = (read("baseUrl") ?? "").trim() === "" ? "environment" : stored;
  const share = Math.min(settings.maxRequestsPerMinute ?? Infinity, shares.get(client) ?? Infinity);
  if (share !== Infinity) shares.set(client, share);
  const { baseUrl, authProvider } = settings;
  return { address: baseUrl, addressFrom, client, projectId, authProvider };
}

/** The addresses that the states store, for the providers of this package's resources. */
export function storedAddresses(states: readonly FleetState[]): ReadonlySet<string> {
  const addresses = states.flatMap(({ state, resources }) =>
    resources.map(({ provider = "" }) => (state.settingsOf(provider)("baseUrl") ?? "").trim()),
  );
  // As the settings clean it. One that is none is an error where it is used.
  const clean = addresses.flatMap((address) => (URL.canParse(address) ? normalAddress(address) : []));
  return new Set(clean);
}

function ofStack(name: string, place: () => Place): Place {
  try {
    return place();
  } catch (error) {
    throw new Error(`nothing was deleted: how to reach the projects of ${name} is not known: ${messageOf(error)}`);
  }
}

/** The computes and redirect domains that match, in the order of their lists. */
export async function findIn(
  place: Place,
  criteria: Criteria,
  named: NamedInStates,
  options: ListOptions,
): Promise<FoundObject[]> {
  const { client, projectId, authProvider: configured } = place;
  const objects = await listProjectObjects(client, projectId, configured, options);
  const listed = await client.projects.branches(projectId, options);
  const branches = listed ?? [];
  return objects.flatMap((object): FoundObject[] => {
    if (object.kind === "ComputeEndpoint") {
      const branch = branches.find(({ id }) => isSameName(id, object.record.branch_id));
      const names = [object.record.name, branch?.name].flatMap((name) => name ?? []);
      // Where branches are not listed, it may be its branch that matches.
      if (listed !== undefined && !isMatch(criteria, names)) return [];
      return [{ place, object, branch, kept: keptCompute(object, branch, branches, { criteria, named }) }];
    }
    if (object.kind !== "WhitelistDomain") return [];
    const origin = object.id.slice(projectId.length + 1);
    if (!isMatch(criteria, [origin])) return [];
    const authProvider = object.record.auth_provider ?? configured;
    const integration = integrationOf(objects, authProvider);
    const kept = keptDomain(origin, { projectId, integration }, { criteria, named });
    return [{ place, object, origin, authProvider, integration, kept }];
  });
}

const isMatch = ({ match }: Criteria, names: readonly string[]): boolean =>
  match.some((pattern) => names.some((name) => matchesGlob(pattern, name)));

function integrationOf(objects: readonly ProjectObject[], authProvider: string): AuthIntegrationRecord | undefined {
  const integrations = objects.flatMap((one) => (one.kind === "AuthIntegration" ? one.record : []));
  return integrations.find((one) => isSameName(one.auth_provider, authProvider));
}

interface Known {
  readonly criteria: Criteria;
  readonly named: NamedInStates;
}

function keptCompute(
  { record }: Compute,
  branch: BranchRecord | undefined,
  branches: readonly BranchRecord[],
  { criteria, named }: Known,
): string | undefined {
  // What is on the default branch was never a preview, whatever its name.
  if (branch?.default === true) return "it is on the default branch";
  if (!branches.some((one) => one.default === true)) return "it is not known which branch is the default one";
  if (branch === undefined) return `its branch ${record.branch_id} is not listed`;
  return (
    heldBy(named.stackWith(record.id)) ??
    // Whoever makes a branch gets its compute with it, or uses it without naming it.
    heldBy(named.stackWith(branch.id), `names its branch ${branch.id}`) ??
    openBranch(criteria, [record.name, branch.name, branch.id]) ??
    tooYoung(criteria, record.created_at)
  );
}

function keptDomain(
  origin: string,
  { projectId, integration }: { projectId: string; integration: AuthIntegrationRecord | undefined },
  { criteria, named }: Known,
): string | undefined {
  const whitelist = named.stackWithWhitelist(projectId);
  if (whitelist !== undefined) return `the Whitelist in the state of ${whitelist} declares all domains of the project`;
  if (integration === undefined) return "its auth integration is not listed";
  const hosts = hostsOf(origin);
  const stack = hosts.map((host) => named.stackWith(host)).find((name) => name !== undefined);
  return heldBy(stack) ?? openBranch(criteria, [origin, ...hosts]) ?? tooYoung(criteria, undefined);
}

/** What a state may call it: the scheme, a default port and the letters of the host may be spelled differently. */
function hostsOf(origin: string): string[] {
  const [, host, port = ""] = /^https?:\/\/(?:[^/?#]*@)?([^/?#]*?)(:\d+|:\*)?(?:[/?#]|$)/.exec(origin) ?? [];
  if (host === undefined || host === "") return [origin];
  return [host, domainToUnicode(host) || host].map((one) => (port === ":*" ? one : one + port));
}

const heldBy = (stack: string | undefined, how = "names it"): string | undefined =>
  stack && `the state of ${stack} ${how}`;

function openBranch({ keep }: Criteria, names: readonly (string | undefined)[]): string | undefined {
  const branch = keep.find((one) => names.some((name = "") => name === one || isNamedAfter(name, one)));
  return branch === undefined ? undefined : `it is named after the open branch ${branch}`;
}

/** 0 is any age, known or not. */
function tooYoung({ olderThanMs, now }: Criteria, createdAt: string | undefined): string | undefined {
  if (olderThanMs === 0) return undefined;
  const ageMs = now.getTime() - Date.parse(createdAt ?? "");
  if (Number.isNaN(ageMs)) return "its age is not known";
  return ageMs >= olderThanMs ? undefined : "it is younger";
}
