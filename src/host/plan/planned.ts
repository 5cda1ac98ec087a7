/** What only a preview says of a resource, with what the service shows. */
import type { Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import { resolveSettings } from "../../contract/settings";
import type { Changes, Plan } from "../lifecycle";
import { NOTHING } from "../lookAhead";
import { isOfProtectionAlone } from "../protection";
import type { DiffRequest, PlannedRequest, Wrong } from "../requests";
import type { Hosted } from "../session";
import { compareWithValues, storedFrom } from "../state";
import { planOf } from "./planOf";
import { limitsOf, checkNews, ofWhole, valuesOf } from "./checkNews";
import { ask } from "./asking";
import { lookAtReplacement } from "./replacements";

/**
 * What only a preview says of a resource that it declares: what the service shows that blocks its creation, or what the
 * creation would do (lookAhead.ts). Reports warnings, and returns what fails the plan.
 */
export async function planned<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn = "", news, declared, isNew, isSound }: PlannedRequest,
): Promise<readonly Wrong[]> {
  const { session, readSetting, resource } = hosted;
  const { kind } = resource;
  session.memory.claims.noteDeclared(kind, declared);
  if (isNew) session.memory.claims.noteCompared(kind, urn);
  const { args, known } = checkNews(hosted, news, limitsOf(hosted, []));
  const isReplacement = session.memory.claims.checked.get(urn)?.isReplacement === true;
  const mayLook = isNew && isSound;
  const replaced = isReplacement && isSound ? session.memory.plans.comparedWith(urn) : undefined;
  const ofReplacement =
    replaced === undefined ? NOTHING : await lookAtReplacement(hosted, { urn, news: args, known, replaced });
  if (urn !== "" && mayLook) {
    for (const { path, text } of valuesOf(hosted).missingIn(args))
      session.warn(urn, `${kind}${labelOf(urn)} needs "${path}", but ${text}. pulumi up fails without it`);
  }
  const { settings } = resolveSettings(readSetting);
  const { lookAhead } = resource;
  const ahead =
    mayLook && settings !== undefined && lookAhead ? await ask(hosted, { urn, known, news }, lookAhead) : NOTHING;
  const declaration = { args: known, label: labelOf(urn), isNew, isReplacement };
  const effects = urn === "" || ahead.hasLooked ? [] : (resource.createEffects?.(declaration) ?? []);
  [...ofReplacement.warnings, ...effects, ...ahead.warnings].forEach((text) => session.warn(urn, text));
  const settled = isNew ? await session.lookAhead.settle(kind) : [];
  return [...ofReplacement.failures, ...ahead.failures, ...settled].map(ofWhole);
}

/**
 * What only a preview says of an update, for a door that does not know in `diff` that it is one.
 * @throws if a strict plan fails.
 */
export async function plannedUpdate<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: DiffRequest & { readonly urn: string },
): Promise<void> {
  const stored = storedFrom(hosted.resource, id, outs);
  const { changes } = await compareWithValues(hosted, stored, { urn, outs, news, values: valuesOf(hosted) });
  await lookAtUpdate(hosted, { urn, plan: planOf({ urn, stored, news, changes, deletesFirst: false }), news });
}

/** Warns of what blocks an update at the service. @throws if a strict plan fails. */
export async function lookAtUpdate<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, plan, news }: { urn: string; plan: Plan<Args, Outputs>; news: Properties },
): Promise<void> {
  const { resource, session } = hosted;
  const { lookAtUpdate: look } = resource;
  const { stored, changes, replaces, news: known } = plan;
  session.memory.claims.noteCompared(resource.kind, urn);
  // Turning a protection on or off sends nothing.
  const isSent = !isUnchanged(changes) && !isOfProtectionAlone(resource.args, changes);
  const isUpdate = replaces.size === 0 && (stored.unfinished !== false || isSent);
  const ahead = isUpdate && look ? await ask(hosted, { urn, known, news }, (about) => look(about, plan)) : NOTHING;
  ahead.warnings.forEach((text) => session.warn(urn, text));
  const failures = [...ahead.failures, ...(await session.lookAhead.settle(resource.kind))];
  if (failures.length > 0) throw new Error(failures.join("; "));
}

export const isUnchanged = ({ changed, dropped, added }: Changes<never>): boolean =>
  changed.size + dropped.size + added.size === 0;
