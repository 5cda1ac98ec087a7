/** A deletion, and what has to be granted before. */
import { Deadline, Granted, type ListOptions, type Permission, requireGranted } from "../../client";
import type { Properties } from "../../contract/hiddenKeys";
import { labelOf, nameInUrn } from "../../contract/identifiers";
import { warnOfStaying } from "../plan/messages";
import { asking } from "../plan/asking";
import { refuseProtectedDeletion } from "../protection";
import { SecretValues } from "../references";
import { claimsOfEntry, mayDeleteFirst } from "../replacement";
import type { DeleteRequest } from "../requests";
import { ManagedElsewhereError } from "../run/ownership";
import type { Guard } from "../run/plans";
import type { Hosted } from "../session";
import { marksOf, refuseEdited, storedFrom } from "../state";
import { timeoutMsOf, nothing, startCall } from "./call";
import { failure, timeoutAdvice, keyAdvice } from "./failures";

/** Deletes nothing that another resource of the program manages by now. */
export async function remove<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: DeleteRequest,
): Promise<void> {
  const { urn = "", id, outs } = request;
  const { ownership } = hosted.session.memory;
  const replacedAs = ownership.replacedUrn(urn);
  // If what replaces it is there already, it is a left-over.
  const replacing = { replacedAs, isLeftOver: replacedAs !== undefined && ownership.wasCreated(replacedAs) };
  try {
    await removeIfGranted(hosted, request, replacing);
  } catch (thrown) {
    if (thrown instanceof ManagedElsewhereError) tellOfManager(hosted, request, { ...replacing, owner: thrown.owner });
    else {
      const late = timeoutAdvice(thrown, "delete", timeoutMsOf(request, "delete"));
      const advice = late + keyAdvice(hosted, thrown, marksOf(outs));
      throw failure(hosted, { verb: "delete", urn: request.urn, id, thrown, advice });
    }
  }
}

/** A deletion that is one half of a replacement. */
interface ReplacedEntry {
  /** The URN of what replaces it. */
  readonly replacedAs: string | undefined;
  readonly isLeftOver: boolean;
}

async function removeIfGranted<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: DeleteRequest,
  { replacedAs, isLeftOver }: ReplacedEntry,
): Promise<void> {
  const { resource, session } = hosted;
  const { claims, ownership, plans } = session.memory;
  // For the memory; what is shown to a user needs to know that there is none.
  const { urn = "", id, outs } = request;
  refuseEdited(resource, outs);
  const stored = storedFrom(resource, id, outs);
  // From here on the memory covers the other processes of the run, which may manage the object by now.
  const { settings } = session.account(hosted.readSetting);
  const objects = resource.objects(id, stored.outs);
  const by = ownership.deleterOf(urn, objects);
  const ofContainer = plans.guardsOf((object) => resource.container?.is(object, id, stored.outs) === true);
  const leavesWithContainer = ofContainer.length > 0;
  // What leaves with its container is lost with it, whoever declares it.
  const own = leavesWithContainer ? [] : claimsOfEntry(resource, stored.outs, settings.authProvider);
  const mayDelete = (): Permission => ownership.mayDelete(objects, { urn, by, claims: own });
  ownership.removeStored(objects, by);
  requireGranted(mayDelete());
  // What leaves before its container may be compared only afterwards.
  if (!leavesWithContainer) requireGranted(ownership.mayDeleteUndeclared(urn));
  const news = isLeftOver ? undefined : claims.checked.get(replacedAs ?? "")?.newInputs;
  refuseLacking(hosted, news);
  // Checked last: an object that another resource manages is not deleted, so its protection does not matter.
  refuseProtectedDeletion(resource.args, { outs: stored.outs, isReplaced: news !== undefined, isLeftOver });
  const leaving = objects.filter((object) => ownership.deletionBlocker(object, by) === undefined);
  const deadline = new Deadline(timeoutMsOf(request, "delete"));
  const secrets = [stored.outs];
  const { call, finish } = startCall(hosted, { verb: "delete", urn: request.urn, by, deadline, secrets });
  const ofReplacement: Guard = (reading) =>
    mayDeleteFirst(resource, { ...call, ...asking(hosted), reading, stored, news: news ?? {} });
  const guards = [
    ...ofContainer.map((guard) => ({ guard, what: resource.container?.name ?? "" })),
    ...(news === undefined ? [] : [{ guard: ofReplacement, what: "what replaces it" }]),
  ];
  await session.memory.objects.whileReleasing({ objects: leaving, by, deletes: true }, () => {
    const reading = { deadline, onProgress: call.onProgress, since: performance.now() };
    return finish(requireReplaceable(guards, reading).then(() => resource.delete({ ...call, mayDelete }, stored)));
  });
  if (objects.length > 0) plans.noteDeleted(replacedAs ?? urn, id);
  if (request.urn !== undefined) warnOfStaying(hosted, { urn, id, objects: leaving });
}

/** @throws if what is deleted to be replaced might not come back. */
async function requireReplaceable(
  guards: readonly { guard: Guard; what: string }[],
  reading: ListOptions,
): Promise<void> {
  for (const { guard, what } of guards) {
    const permission = await guard(reading);
    if (!(permission instanceof Granted))
      throw new Error(`nothing is deleted, because ${what} might not come back: ${permission.error.message}`);
  }
}

/** Says why nothing was deleted: another resource manages the object. */
function tellOfManager<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { urn, id }: DeleteRequest,
  { replacedAs, isLeftOver, owner }: ReplacedEntry & { readonly owner: string },
): void {
  const subject = `${resource.kind} ${id}`;
  if (isLeftOver && replacedAs === owner) session.warn(owner, replacedByItself(subject, owner));
  else {
    const message = `${subject} is not deleted: "${nameInUrn(owner)}" of this program manages it now`;
    session.log({ severity: "info", message, urn, ephemeral: false });
  }
}

/** For a replacement that the engine creates first, and that has taken over what it was to replace. */
const replacedByItself = (subject: string, urn: string): string =>
  `${subject}${labelOf(urn)} was not replaced: what was to replace it has taken it over and applied the program's arguments to it. It is the same object as before, and is not deleted. ` +
  'To get a new one, set "deleteBeforeReplace: true" in the options of the resource for that run';

/**
 * A replacement that the engine plans by itself (`--replace`, `state taint`) looks like a new resource until the old
 * object is deleted. @throws if its creation would fail because a value is missing.
 */
function refuseLacking<Args extends object, Outputs extends object>(
  { resource }: Hosted<Args, Outputs>,
  replacement: Properties = {},
): void {
  const missing = new SecretValues(resource.args, nothing).missingIn(replacement);
  const needed = missing.map(({ path, text }) => `"${path}", but ${text}`);
  if (needed.length > 0) throw new Error(`its replacement needs ${needed.join("; ")}. Nothing is deleted`);
}
