/** What a plan says of one resource. */
import { type Properties, containsUnknown } from "../../contract/hiddenKeys";
import { labelOf, nameInUrn } from "../../contract/identifiers";
import { specEntries } from "../arguments";
import type { Lifecycle, Plan } from "../lifecycle";
import { protectionOf } from "../protection";
import type { Hosted } from "../session";

/** The plan's messages about one resource. */
export function planMessages<Args extends object, Outputs extends object>(
  resource: Lifecycle<Args, Outputs>,
  plan: Plan<Args, Outputs>,
  news: Properties,
): string[] {
  const { stored, label, changes, replaces } = plan;
  const subject = `${resource.kind} ${stored.id}${label}`;
  const isOpen = (name: string): boolean => containsUnknown(news[name]);
  const certain = [...replaces].filter((name) => !isOpen(name));
  const open = specEntries(resource.args).filter(
    ([name, { replaces, container }]) =>
      (replaces ?? container) !== undefined && changes.changed.has(name) && isOpen(name),
  );
  const messages: string[] = [];
  if (certain.length > 0) {
    const change = certain.length === 1 ? "changes" : "change";
    messages.push(`${subject} is replaced, because ${quoted(certain)} ${change}: ${resource.replacement(plan)}`);
  } else if (open.length > 0) {
    const [names, are] = [open.map(([name]) => name), open.length === 1 ? "is" : "are"];
    messages.push(`${subject} may be replaced when ${quoted(names)} ${are} known: ${resource.replacement(plan)}`);
  }
  // A replacement is created from the program alone, so a dropped argument needs no warning.
  if (replaces.size > 0) return messages;
  const guard = protectionOf(resource.args, stored.outs);
  if (guard !== undefined && protectionOf(resource.args, { ...stored.outs, [guard]: undefined, ...news }) === undefined)
    messages.push(`"${guard}" of ${subject} is turned off: it can be deleted and replaced from then on`);
  messages.push(...(resource.warnings?.(plan) ?? []));
  for (const name of changes.dropped) {
    const { unreadable, local, protects } = resource.args[name];
    if (protects === true) continue;
    const what = `"${name}" of ${subject} is no longer managed`;
    const isShown = unreadable !== true && local !== true;
    messages.push(isShown ? `${what}: the value is unchanged, and drift is no longer detected` : what);
  }
  return messages;
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

/** Warns of the resources of the program that are lost with an object: they were compared before, and are to stay. */
export function warnOfStaying<Args extends object, Outputs extends object>(
  { resource, session }: Hosted<Args, Outputs>,
  { urn, id, objects }: { urn: string; id: string; objects: readonly string[] },
): void {
  const isPreview = session.memory.claims.checked.get(urn)?.isPreview === true;
  for (const other of session.memory.plans.stayingIn(objects, isPreview))
    session.warn(
      urn,
      `"${nameInUrn(other)}" of this program is in ${resource.kind} ${id} and is deleted with it, but was compared before and is not created again. ` +
        `Pass it an output of ${resource.kind}${labelOf(urn)}. If it is lost already, pulumi up --refresh creates it again`,
    );
}
