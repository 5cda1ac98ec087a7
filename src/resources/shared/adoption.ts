/** Creates objects that may exist already, or takes the existing ones over. */
import { type Collection, ConflictError } from "../../client";
import type { Call } from "../../runtime/lifecycle";

/** An object that the service accepts only once. */
interface UniqueObject<Item extends object, Result> {
  readonly collection: Pick<Collection<Item>, "list" | "pollWithinLag">;
  readonly matches: (item: Item) => boolean;
  /** Takes over the existing object, or throws. */
  readonly useExisting: (item: Item) => Promise<Result> | Result;
  readonly create: () => Promise<Result>;
  /** What to do if the service reports a conflict and no list shows the object. */
  readonly advice: string;
}

/** Creates the object. After a 409 it looks up the existing one, which lists may not show yet. */
export async function createOrUseExisting<Item extends object, Result>(
  call: Call<never>,
  { collection, matches, useExisting, create, advice }: UniqueObject<Item, Result>,
): Promise<Result> {
  try {
    return await create();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const found = await collection.pollWithinLag((items) => items.find(matches), call);
    if (found !== undefined) return useExisting(found);
    throw new Error(`${error.message}. ${advice}`, { cause: error });
  }
}

/**
 * Uses the existing object, or creates one. Waits for a deletion in this run; a list that still shows the object
 * afterwards is out of date. `objectOf`: the name of the existing object, or of the one to be created.
 */
export async function useExistingOrCreate<Item extends object, Result>(
  call: Call<never>,
  objectOf: (item: Item | undefined) => string,
  unique: UniqueObject<Item, Result>,
): Promise<Result> {
  for (;;) {
    const listed = await unique.collection.list({ ...call, since: performance.now() });
    const existing = listed.find(unique.matches);
    const object = objectOf(existing);
    const isLeaving = call.run.release(object) !== undefined;
    const wasDeleted = await call.run.waitUntilFree(object);
    if (existing === undefined || wasDeleted) return createOrUseExisting(call, unique);
    // A deletion that failed may have taken effect after the list was read.
    if (!isLeaving) return unique.useExisting(existing);
  }
}
