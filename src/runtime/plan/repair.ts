/** What a repair of drift would do. */
import { labelOf } from "../../contract/identifiers";
import { protectionOf } from "../protection";
import type { Repair, RepairRequest } from "../requests";
import type { Hosted } from "../session";
import { planMessages } from "./messages";
import { planOfStates } from "./planOf";

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
  // The engine's plan of the repair shows what the program's options do.
  const plan = planOfStates(hosted, { urn, id, outs, news });
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
