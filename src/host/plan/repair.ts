/** What a repair of drift would do. */
import { labelOf } from "../../contract/identifiers";
import { protectionOf } from "../protection";
import { excludeEachOther } from "../replacement";
import type { Repair, RepairRequest } from "../requests";
import type { Hosted } from "../session";
import { compareWith, storedFrom } from "../state";
import { authProviderOf } from "./checkNews";
import { planMessages } from "./messages";
import { planOf } from "./planOf";

/** What a plan would do and report after a refresh. Sends nothing. */
export function repair<Args extends object, Outputs extends object>(
  hosted: Hosted<Args, Outputs>,
  { urn, id, outs, news }: RepairRequest,
): Repair {
  const { resource } = hosted;
  if (outs === undefined) {
    // The inputs in the state have passed `check`.
    const declared = { args: news as Partial<Args>, label: labelOf(urn), isNew: true, isReplacement: false };
    const { kind, recreation } = resource;
    const again = recreation === undefined ? [] : [`${kind} ${id}${declared.label} is created again: ${recreation}`];
    const said = [...(resource.createEffects?.(declared) ?? []), ...(resource.createWarnings?.(declared) ?? [])];
    return { action: "create", restarts: false, messages: [...again, ...said] };
  }
  const stored = storedFrom(resource, id, outs);
  // Only the program knows an option: the engine's plan of the repair shows what it does.
  const deletesFirst = excludeEachOther(resource, stored, news, authProviderOf(hosted));
  const plan = planOf({ urn, stored, news, changes: compareWith(resource, stored, news), deletesFirst });
  const messages = planMessages(resource, plan, news);
  const isReplacement = plan.replaces.size > 0;
  // As a plan of the program, whose `check` says it.
  messages.push(
    ...(resource.createWarnings?.({ args: plan.news, label: plan.label, isNew: isReplacement, isReplacement }) ?? []),
  );
  if (isReplacement) {
    const guard = protectionOf(resource.args, news);
    if (guard !== undefined)
      messages.push(`pulumi up refuses that: "${guard}" of ${resource.kind} ${id}${plan.label} is on`);
    return { action: "replace", restarts: false, messages };
  }
  return { action: "update", restarts: resource.restarts?.(plan) ?? false, messages };
}
