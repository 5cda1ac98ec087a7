/** The comparison of a program's inputs with the state, and what follows from it. */
import { settingForm } from "../../contract/forms";
import { type Properties, isUnknown } from "../../contract/hiddenKeys";
import { isUrn, labelOf, nameInUrn } from "../../contract/identifiers";
import { sameJson, specEntries, type ArgumentSpecs, type Comparison } from "../arguments";
import type { Plan } from "../lifecycle";
import { protectedReplacement } from "../protection";
import type { Compared, SecretValues } from "../references";
import { excludeEachOther } from "../replacement";
import type { DiffRequest, DiffResult } from "../requests";
import type { Hosted } from "../session";
import { compareWithValues, storedFrom } from "../state";
import { lookAtUpdate, isUnchanged } from "./planned";
import { warnOfStrayPaths } from "./check";
import { planMessages, warnOfStaying } from "./messages";
import { planOf, planOfStates } from "./planOf";
import { authProviderOf, valuesOf } from "./checkNews";

/** Compares the program's inputs with the state. A plan reports the differences. */
export async function diff<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  request: DiffRequest,
): Promise<DiffResult> {
  const { urn, id, outs, news, ignored } = request;
  const { claims, plans } = hosted.session.memory;
  if (urn !== undefined && ignored !== undefined) claims.noteIgnored(urn, ignored);
  const checked = urn === undefined ? undefined : claims.checked.get(urn);
  // A refresh compares too, but runs no program: nothing was checked, so nothing is reported or recorded.
  if (urn === undefined || checked === undefined) return resultOf(planOfStates(hosted, request), "inputs");
  // For a protocol that did not know the paths in `check`.
  warnOfStrayPaths(hosted, urn, "ignoreChanges", ignored ?? []);
  const comparison = await compareWithProgram(hosted, { ...request, urn }, checked.deletesFirst);
  const { replaces, deletesFirst } = comparison.plan;
  plans.noteComparedWith(urn, { id, outs, isReplaced: replaces.size > 0, deletesFirst });
  announce(hosted, { ...request, urn }, comparison);
  if (isUrn(urn)) hold(hosted, { ...request, urn }, comparison);
  if (checked.isPreview) await lookAtUpdate(hosted, { urn, plan: comparison.plan, news });
  return resultOf(comparison.plan, sameJson(checked.oldInputs, news) ? "outs" : "inputs");
}

/** `where`: what differs from the program if anything does. */
function resultOf<Args, Outputs>(
  { stored, changes, replaces, deletesFirst }: Plan<Args, Outputs>,
  where: "inputs" | "outs",
): DiffResult {
  return {
    changes: stored.unfinished !== false ? "outs" : isUnchanged(changes) ? "none" : where,
    names: [...changes.changed, ...changes.added, ...changes.dropped],
    replaces: [...replaces],
    deleteBeforeReplace: deletesFirst,
  };
}

type OfProgram = DiffRequest & { readonly urn: string };

interface ProgramComparison<Args, Outputs> {
  readonly plan: Plan<Args, Outputs>;
  /** What it is replaced with, in words, if its own arguments do not replace it. */
  readonly goesWith: string | undefined;
  /** What is said of single values. */
  readonly remarks: readonly { readonly path: string; readonly text: string }[];
  readonly livesIn: (object: string) => boolean;
}

async function compareWithProgram<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: OfProgram,
  deletesFirstByOption: boolean | undefined,
): Promise<ProgramComparison<Args, Outputs>> {
  const { resource, session } = hosted;
  const stored = storedFrom(resource, id, outs);
  const values = valuesOf(hosted);
  const byValue = await compareWithValues(hosted, stored, { urn, outs, news, values });
  const livesIn = (object: string): boolean => resource.container?.is(object, stored.id, stored.outs) === true;
  // A resource that the engine knows to depend on it was replaced before it was asked.
  const isTaken = byValue.changes.replaces.size === 0 && session.memory.plans.isReplaced(livesIn);
  const goesWith = isTaken ? resource.container?.name : undefined;
  const changes = goesWith === undefined ? byValue.changes : replacedWithContainer(resource.args, byValue.changes);
  const deletesFirst = deletesFirstByOption ?? excludeEachOther(resource, stored, news, authProviderOf(hosted));
  return {
    plan: planOf({ urn, stored, news, changes, deletesFirst }),
    goesWith,
    remarks: [...byValue.compared.remarks, ...missing(values, news, byValue)],
    livesIn,
  };
}

/** Says what the plan does. @throws when a protection forbids it. */
function announce<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { urn, id, news }: OfProgram,
  { plan, goesWith, remarks }: ProgramComparison<Args, Outputs>,
): void {
  const { stored, replaces } = plan;
  const subject = `${resource.kind} ${id}${labelOf(urn)}`;
  const ofPlan =
    goesWith === undefined
      ? planMessages(resource, plan, news)
      : [`${subject} is replaced, because ${goesWith} is replaced: it is deleted with it and created again`];
  const ofValues = remarks.map(({ path, text }) => `"${path}" of ${subject}: ${text}`);
  for (const text of [...ofPlan, ...ofValues]) session.warn(urn, text);
  const because = [...replaces].filter((name) => !isUnknown(news[name]));
  const refusal = protectedReplacement(resource.args, { subject, because, outs: stored.outs, news });
  if (refusal !== undefined) throw new Error(refusal);
}

/** The argument that names the container counts as the one that replaces. */
function replacedWithContainer<Args extends object>(
  specs: ArgumentSpecs<Args>,
  changes: Comparison<Args>,
): Comparison<Args> {
  const naming = specEntries(specs).flatMap(([name, { container }]) => (container === undefined ? [] : [name]));
  return {
    ...changes,
    changed: new Set([...changes.changed, ...naming]),
    replaces: new Set([...changes.replaces, ...naming]),
  };
}

/** A plan's messages about references without a value. One that `ignoreChanges` names is not sent. */
function missing(
  values: SecretValues,
  news: Properties,
  { needed, compared }: { needed: ReadonlySet<string>; compared: Compared },
) {
  return values.missingIn(news).flatMap(({ path, argument, text: what }) => {
    if (compared.ignored.has(settingForm(path))) return [];
    const text = `could not be compared: ${what}`;
    return [{ path, text: needed.has(argument) ? `${text}. pulumi up fails without it` : text }];
  });
}

/**
 * Records which objects a resource of the program has in its state and continues to manage, and where it stays.
 * @throws when another resource has one of them, too.
 */
function hold<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, stateUrn }: OfProgram,
  { plan, livesIn }: ProgramComparison<Args, Outputs>,
): void {
  const { resource } = hosted;
  const { ownership, plans } = hosted.session.memory;
  const { stored, changes, news, replaces, deletesFirst } = plan;
  const { id, outs } = stored;
  const isReplaced = replaces.size > 0;
  // The types are those of the arguments and outputs; an unknown argument counts with its stored value.
  const known = { ...outs, ...news } as Partial<Outputs & Args>;
  // A resource that is to be replaced no longer manages its object: the replacement may take it over.
  const objects = isReplaced ? [] : resource.objects(id, known);
  plans.notePlanned(resource.objects(id, outs), { urn, news, changed: changes.changed, replaces, deletesFirst });
  // The state may have an older URN, left by an alias.
  ownership.setStored(urn, objects, stateUrn);
  const other = objects.map((object) => ownership.otherOwner(object, urn)).find((owner) => owner !== undefined);
  if (other !== undefined)
    throw new Error(
      `${resource.kind} ${id} is managed by both "${nameInUrn(urn)}" and "${nameInUrn(other)}", which would undo each other's changes. ` +
        `Remove one of them from the program: pulumi up plans its deletion, but does not delete the object`,
    );
  plans.noteStaying(urn, (object) => !isReplaced && livesIn(object));
  if (isReplaced) warnOfStaying(hosted, { urn, id, objects: resource.objects(id, outs) });
}
