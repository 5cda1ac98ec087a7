import type { Declared, Plan } from "../dynamic/lifecycle";
import type { ComputeEndpointOutputs, ComputeEndpointShape, ComputeSettings } from "../resources/ComputeEndpoint";

/** Beyond this span newer rules of the service refuse an autoscaling size (service notes): said, not refused. */
const WIDEST_SPAN_CU = 8;

/** What a plan does to live connections, in words that name the compute: `--diff` prints them without it. */
export function computeWarnings({
  stored,
  news,
  changes,
  replaces,
}: Plan<ComputeEndpointShape, ComputeEndpointOutputs>): string[] {
  const endpoint = stored.outs.endpointId ?? stored.id;
  if (replaces.size > 0) {
    const names = [...replaces].map((name) => `"${name}"`).join(", ");
    const ignored = news.adopt === endpoint ? '; "adopt", which names the old one, has no effect then' : "";
    return [
      `a change of ${names} replaces compute ${endpoint}: it is deleted first, and the new one has another id and another host${ignored}`,
    ];
  }
  const warnings: string[] = [];
  if (changes.changed.has("size")) {
    warnings.push(`a change of "size" restarts compute ${endpoint}: open connections are dropped`);
  }
  if (changes.changed.has("restartTriggers") && stored.managed.has("restartTriggers")) {
    warnings.push(
      `a changed restart trigger restarts compute ${endpoint} when it is active: open connections are dropped`,
    );
  }
  if (changes.changed.has("branchId")) {
    warnings.push(
      `compute ${endpoint} moves from ${stored.outs.branchId ?? "its branch"} to ${news.branchId ?? "another branch"}: it keeps its id and host, and serves the data of the other branch from then on`,
    );
  }
  if (changes.changed.has("disabled") && news.disabled === true) {
    warnings.push(`"disabled" suspends compute ${endpoint}: open connections are dropped, and no query wakes it`);
  }
  for (const part of droppedParts(stored.outs.settings, news.settings)) {
    warnings.push(`"settings.${part}" of compute ${endpoint} is no longer managed: it stays as it is at the service`);
  }
  if (changes.changed.has("size")) warnings.push(...spanWarnings(`compute ${endpoint}`, news));
  return warnings;
}

/** The parts of the settings that were managed. Where all of the settings went, that is said of them as a whole. */
function droppedParts(before: ComputeSettings | undefined, now: ComputeSettings | undefined): string[] {
  if (before === undefined || now === undefined) return [];
  return Object.keys(before).filter((part) => !Object.hasOwn(now, part));
}

/** What can be said of a compute before it is there: a plan of a creation compares nothing. */
export function computeRemarks({ args, isNew }: Declared<ComputeEndpointShape>): string[] {
  return isNew ? spanWarnings(`the new compute${args.branchId === undefined ? "" : ` on ${args.branchId}`}`, args) : [];
}

function spanWarnings(compute: string, { size }: Partial<ComputeEndpointShape>): string[] {
  if (typeof size !== "object" || size.max - size.min <= WIDEST_SPAN_CU) return [];
  return [
    `${compute} would scale over ${size.max - size.min} CU: newer rules of the service allow ${WIDEST_SPAN_CU} CU between min and max`,
  ];
}
