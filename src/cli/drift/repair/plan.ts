import { nameInUrn } from "../../../contract/identifiers";
import type { EventLog } from "../eventLog";
import { byUrn, type Drifted } from "../report";
import { dependenciesOf, type Registrable } from "./registration";
import type { Step } from "./report";

/** What the engine does with a resource that it gives another object. */
const REPLACING: ReadonlySet<string> = new Set(["replace", "create-replacement", "import-replacement"]);
/** What leaves the object and the state of a resource as they are. */
const HARMLESS: ReadonlySet<string> = new Set(["same", "read", "refresh"]);

const REPLACED =
  "the engine replaces it, because of an option of the resource or of pulumi state taint: what belongs to the present object is lost";

/**
 * What the repair does, as the engine plans it: that is more than a lifecycle knows (`replaceOnChanges`, `state taint`).
 * @throws where the engine would change anything beside what drifted.
 */
export function planOf(
  drift: readonly Drifted[],
  { steps }: Pick<EventLog, "steps">,
  all: ReadonlyMap<string, Registrable>,
): Step[] {
  const targets = new Set(drift.map(({ urn }) => urn));
  const others = steps.filter(({ urn, op }) => !targets.has(urn) && !HARMLESS.has(op));
  // A resource that the program does not declare is deleted: so is one that was not declared as the state has it.
  const leftovers = new Set(drift.filter(({ change }) => change === "leftover").map(({ urn }) => urn));
  others.push(...steps.filter(({ urn, op }) => op === "delete" && targets.has(urn) && !leftovers.has(urn)));
  if (others.length > 0) {
    const which = [...new Set(others.map(({ urn, op }) => `${nameInUrn(urn)} (${op})`))].join(", ");
    throw new Error(
      `nothing was changed: the engine would also change ${which}. Repair it with pulumi up --refresh, which deploys pending edits of the program too`,
    );
  }
  return drift.toSorted(byUrn).map(({ repair, ...one }) => {
    const isReplaced = one.change === "changed" && steps.some(({ urn, op }) => urn === one.urn && REPLACING.has(op));
    // The lifecycle has its own words for a replacement, and none for one that it does not ask for.
    const asPlanned =
      isReplaced && repair.action !== "replace"
        ? { action: "replace" as const, restarts: false, messages: [REPLACED] }
        : repair;
    const { action } = asPlanned;
    const isNew = action === "create" || action === "replace";
    const dependants = [...all.values()].filter(
      (other) => isNew && !targets.has(other.urn) && dependenciesOf(other).has(one.urn),
    );
    return {
      ...one,
      ...asPlanned,
      dependants: dependants.map(({ urn }) => urn),
    };
  });
}
