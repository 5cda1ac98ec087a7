/** What previews may have left behind in a project, and what stays there nevertheless. */
import type { Client, ListOptions } from "../../client";
import { normalAddress, serviceOf } from "../../contract/address";
import { nameForm } from "../../contract/forms";
import { projectOf } from "../../contract/identifiers";
import { messageOf } from "../../contract/untrusted";
import type { ReadSetting } from "../../contract/settings";
import type { Session } from "../../runtime/session";
import { type FleetState, settingsOf } from "../fleet/states";
import { type Leftover, type ProjectObject, toolsOf } from "../../resources/tools";
import { gatherersOf } from "../declarations";
import { listProjectObjects } from "../projectObjects";
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

/** An object that matches. */
export interface FoundObject {
  readonly place: Place;
  readonly object: ProjectObject;
  readonly leftover: Leftover;
  /** Why it stays; undefined: nothing is known that keeps it. */
  readonly kept: string | undefined;
}

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

/** The objects that match, in the order of their lists. */
export async function findIn(
  place: Place,
  criteria: Criteria,
  named: NamedInStates,
  options: ListOptions,
): Promise<FoundObject[]> {
  const { client, projectId, authProvider } = place;
  const objects = await listProjectObjects({ client, projectId, authProvider, options });
  const branches = await client.projects.branches(projectId, options);
  return objects.flatMap((object): FoundObject[] => {
    const leftover = object.leftover?.({ objects, branches });
    if (leftover === undefined || !isMatch(criteria, leftover)) return [];
    return [{ place, object, leftover, kept: whyKept(object, leftover, { criteria, named }) }];
  });
}

const isMatch = ({ match }: Criteria, { names }: Leftover): boolean =>
  names === undefined || match.some((pattern) => names.some((name) => matchesGlob(pattern, name)));

function whyKept(
  { kind, id }: ProjectObject,
  { stays, usedAs, branchTexts, createdAt }: Leftover,
  { criteria, named }: { criteria: Criteria; named: NamedInStates },
): string | undefined {
  for (const gatherer of gatherersOf(kind)) {
    const stack = named.stackHolding(gatherer, projectOf(id));
    const { noun } = toolsOf(gatherer).gathers ?? {};
    if (stack !== undefined) return `the ${gatherer} in the state of ${stack} declares all ${noun} of the project`;
  }
  if (stays !== undefined) return stays;
  for (const { text, how = "names it" } of usedAs) {
    const stack = named.stackWith(text);
    if (stack !== undefined) return `the state of ${stack} ${how}`;
  }
  return openBranch(criteria, branchTexts) ?? tooYoung(criteria, createdAt);
}

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
