/** A replacement that the engine has asked for: what it does, and why it is refused. */
import { Granted, Refused } from "../../client";
import type { Properties } from "../../contract/hiddenKeys";
import { labelOf } from "../../contract/identifiers";
import type { Problem } from "../arguments";
import { NOTHING, type Verdict } from "../lookAhead";
import { protectedReplacement } from "../protection";
import { mayDeleteFirst } from "../replacement";
import { REPLACE_ON_CHANGES, type Compared as Replaced } from "../run/plans";
import type { Hosted } from "../session";
import { compareWith, storedFrom } from "../state";
import { warnOfStaying } from "./messages";
import { planOf } from "./planOf";
import { valuesOf } from "./checkNews";
import { ask, asking } from "./asking";

/**
 * Once the engine has asked for the replacement of a resource: records it, and returns why it is not replaced, whatever
 * the service says.
 */
export function declareReplacement<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, news, known, authProvider }: { urn: string; news: Properties; known: Partial<Args>; authProvider: string },
): Problem[] {
  const { resource, session } = hosted;
  const { memory } = session;
  const { isPreview = false, retains = false } = memory.claims.checked.get(urn) ?? {};
  const problems: string[] = [];
  // Checked here: the old object would be deleted before the creation could fail because a value is missing. A door that
  // does not know what the call is for fails the plan, too. The name in a malformed reference is not shown: it may be
  // the secret.
  if (!isPreview)
    for (const { path, text } of valuesOf(hosted).missingIn(known))
      problems.push(`the replacement needs "${path}", but ${text}. Nothing is deleted`);
  const replaced = memory.plans.comparedWith(urn);
  if (replaced === undefined) return problems.map((reason) => ({ path: "", reason }));
  const { id, outs, isReplaced, deletesFirst } = replaced;
  const stored = storedFrom(resource, id, outs);
  const subject = `${resource.kind} ${id}${labelOf(urn)}`;
  memory.plans.noteReplaced(urn);
  if (!isReplaced) {
    const { changed } = compareWith(resource, stored, news);
    const refusal = protectedReplacement(resource.args, { subject, because: changed, outs: stored.outs, news });
    if (refusal !== undefined) problems.push(refusal);
    warnOfStaying(hosted, { urn, id, objects: resource.objects(id, stored.outs) });
  }
  if (deletesFirst) {
    memory.plans.noteGuard(urn, (reading) => {
      const { client } = session.account(hosted.readSetting);
      return mayDeleteFirst(resource, { ...asking(hosted), client, reading, authProvider, stored, news });
    });
    // What is in a container leaves with it.
    const goesWith = memory.plans.isReplaced((object) => resource.container?.is(object, id, stored.outs) === true);
    if (retains && !goesWith && Reflect.get(known, "adopt") !== true)
      problems.push(
        `${subject} cannot be replaced: the option "retainOnDelete" keeps it at the service, which does not accept another one beside it. ` +
          "Leave the option out, or undo the change that replaces it",
      );
  }
  return problems.map((reason) => ({ path: "", reason }));
}

/**
 * What a plan says of a replacement that the engine has asked for: what it does, if only an option of the program knew of
 * it, and why it would lose what it deletes first.
 */
export async function lookAtReplacement<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  {
    urn,
    news,
    known,
    replaced: { id, outs, isReplaced, deletesFirst },
  }: { urn: string; news: Properties; known: Partial<Args>; replaced: Replaced },
): Promise<Verdict> {
  const { resource } = hosted;
  const stored = storedFrom(resource, id, outs);
  const plan = planOf({ urn, stored, news, changes: compareWith(resource, stored, news), deletesFirst });
  const subject = `${resource.kind} ${id}${plan.label}`;
  const warnings = isReplaced
    ? []
    : [`${subject} is replaced, because the option "${REPLACE_ON_CHANGES}" asks for it: ${resource.replacement(plan)}`];
  if (!deletesFirst) return { ...NOTHING, warnings };
  const verdict = await ask(hosted, { urn, known, news }, async ({ client, reading, authProvider }) => {
    const permission = await mayDeleteFirst(resource, {
      ...asking(hosted),
      client,
      reading,
      authProvider,
      stored,
      news,
    });
    if (permission instanceof Granted) return [];
    const message = `${subject} is not replaced, because it would be deleted first and might not come back: ${permission.error.message}`;
    // An answer that is missing is asked for again right before the deletion.
    return [{ message, isObstacle: true, ...(permission instanceof Refused && { loses: true }) }];
  });
  return { ...verdict, warnings: [...warnings, ...verdict.warnings] };
}
