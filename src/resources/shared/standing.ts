/** What stands where something is to be created, and what is said of it. */
import { ConflictError } from "../../client";
import type { Collection } from "../../client/reads/absence";
import type { Call } from "../../host/lifecycle";

/** Where something is to be created that the service takes once. */
interface Place<Item, Made> {
  readonly collection: Collection<Item>;
  readonly isIt: (item: Item) => boolean;
  /** Takes over what stands there, or refuses to. */
  readonly standing: (item: Item) => Promise<Made> | Made;
  readonly create: () => Promise<Made>;
  /** What to do where the service says that something stands there, and no list shows it. */
  readonly advice: string;
}

/** Creates; where the service says that something is in the way, which lists may not show yet, that is looked at. */
export async function createOrStanding<Item, Made>(
  call: Call<never>,
  { collection, isIt, standing, create, advice }: Place<Item, Made>,
): Promise<Made> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const found = await collection.pollWithinLag((items) => items.find(isIt), call);
    if (found !== undefined) return standing(found);
    throw new Error(`${error.message}. ${advice}`, { cause: error });
  }
}

/**
 * Takes what stands, or creates. What this run is deleting is waited for, and a list that shows it afterwards lags.
 * `objectOf`: the object that stands there, or would.
 */
export async function standingOrNew<Item, Made>(
  call: Call<never>,
  objectOf: (item: Item | undefined) => string,
  place: Place<Item, Made>,
): Promise<Made> {
  const listed = await place.collection.list({ ...call, since: performance.now() });
  const existing = listed.find(place.isIt);
  const wasDeleted = await call.run.untilFree(objectOf(existing));
  return existing !== undefined && !wasDeleted ? place.standing(existing) : createOrStanding(call, place);
}

/** The last of the ways to go on where something stands that the program declares. */
export const OR_ALIAS = "; or, if it is this program's own under another name, give it an alias (the option aliases)";

export const gone = (): Error =>
  new Error("it no longer exists. Run pulumi up --refresh, which plans to create it again");

export const unseen = (thing: string): string =>
  `But no list shows ${thing}. Lists can lag behind: run pulumi up again in a while, or delete it first`;

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/** `, created 3 minutes ago` from an ISO 8601 timestamp; nothing where there is none. */
export function madeAgo(createdAt = ""): string {
  const made = Date.parse(createdAt);
  if (Number.isNaN(made)) return "";
  const seconds = Math.max(0, Math.round((Date.now() - made) / 1_000));
  for (const [size, name] of UNITS) {
    const count = Math.floor(seconds / size);
    if (count > 0) return `, created ${count} ${name}${count === 1 ? "" : "s"} ago`;
  }
  return ", created just now";
}
