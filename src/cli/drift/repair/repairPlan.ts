import { isSameName } from "../../../contract/forms";
import { nameInUrn, projectOf } from "../../../contract/identifiers";
import { kindOfEntry } from "../../../contract/pointer";
import { toolsOf } from "../../../resources/tools";
import { livesIn } from "../../declarations";
import type { EventLog, Step as EngineStep } from "../eventLog";
import { byUrn, type Drifted } from "../report";
import { dependenciesOf, type Registrable } from "./registration";
import type { Step } from "./report";

/** The engine's operations that replace a resource's object. */
const REPLACING: ReadonlySet<string> = new Set(["replace", "create-replacement", "import-replacement"]);
/** The operations that change neither object nor state of a resource. */
const HARMLESS: ReadonlySet<string> = new Set(["same", "read", "refresh"]);

const REPLACED =
  "the engine replaces it, because of an option of the resource or of pulumi state taint: what belongs to the present object is lost";

/**
 * What the repair does according to the engine's plan. It includes what a lifecycle does not know (`replaceOnChanges`,
 * `state taint`).
 * @throws if the engine would change anything besides what drifted.
 */
export function planOf(
  drift: readonly Drifted[],
  { steps, warnings }: Pick<EventLog, "steps" | "warnings">,
  all: ReadonlyMap<string, Registrable>,
): Step[] {
  const targets = new Set(drift.map(({ urn }) => urn));
  const others = steps.filter(({ urn, op }) => !targets.has(urn) && !HARMLESS.has(op));
  // The engine deletes a resource that the program does not declare, and one declared differently from the state.
  const leftovers = new Set(drift.filter(({ change }) => change === "leftover").map(({ urn }) => urn));
  others.push(...steps.filter(({ urn, op }) => op === "delete" && targets.has(urn) && !leftovers.has(urn)));
  const isReplaced = ({ urn, change }: Drifted): boolean =>
    (change === "changed" || change === "unfinished") &&
    steps.some((step) => step.urn === urn && REPLACING.has(step.op));
  if (others.length > 0) throw otherChanges(others, drift.filter(isReplaced), all);
  return drift.toSorted(byUrn).map(({ repair, ...one }) => {
    const isNewObject = isReplaced({ ...one, repair });
    // The lifecycle gives its own reason for a replacement, and no reason for one that it did not request.
    const asPlanned =
      isNewObject && repair.action !== "replace"
        ? { action: "replace" as const, restarts: false, messages: [REPLACED] }
        : repair;
    const { action } = asPlanned;
    const isNew = action === "create" || action === "replace";
    const dependants = [...all.values()].filter(
      (other) => isNew && !targets.has(other.urn) && dependenciesOf(other).has(one.urn),
    );
    const lost = action === "replace" ? livingIn(one, all) : [];
    const both = lost.find((urn) => targets.has(urn));
    if (both !== undefined) {
      throw new Error(
        `nothing was changed: ${nameInUrn(both)} lives in ${one.name}, which the repair replaces. Name ${one.name} alone, and run this again afterwards`,
      );
    }
    return {
      ...one,
      ...asPlanned,
      // Only the plan asks the service what a request overwrites.
      messages: [...new Set([...asPlanned.messages, ...(warnings.get(one.urn) ?? [])])],
      dependants: dependants.map(({ urn }) => urn).filter((urn) => !lost.includes(urn)),
      lost,
    };
  });
}

/** Why a plan that changes more than the drift is not carried out, and which command does all of it. */
function otherChanges(
  others: readonly EngineStep[],
  replaced: readonly Drifted[],
  all: ReadonlyMap<string, Registrable>,
): Error {
  const urns = [...new Set(others.map(({ urn }) => urn))].toSorted();
  const given = new Set(urns.flatMap((urn) => all.get(urn) ?? []).flatMap((one) => [...dependenciesOf(one)]));
  const causes = replaced.filter(({ urn }) => given.has(urn)).map(({ name }) => name);
  const opsOf = (urn: string): string => others.flatMap((one) => (one.urn === urn ? one.op : [])).join(", ");
  const which = urns.map((urn) => `${nameInUrn(urn)} (${opsOf(urn)})`).join(", ");
  if (causes.length === 0) {
    return new Error(
      `nothing was changed: the engine would also change ${which}. Repair it with pulumi up --refresh, which deploys pending edits of the program too`,
    );
  }
  const names = causes.toSorted();
  return new Error(
    `nothing was changed: to replace ${names.join(", ")}, the engine would also replace what uses its outputs: ${which}. ` +
      `pulumi up --refresh replaces all of it, and deploys pending edits of the program too. To keep what was found, run pulumi-svc drift --accept ${names.join(" ")}`,
  );
}

/** The URNs of a container's objects in the state: they are deleted with it, whether or not they depend on it. */
function livingIn({ kind, urn, id }: Pick<Drifted, "kind" | "urn" | "id">, all: ReadonlyMap<string, Registrable>) {
  const { contains } = toolsOf(kind);
  if (contains === undefined) return [];
  const project = projectOf(id);
  const container = all.get(urn)?.outputs ?? {};
  return [...all.values()].flatMap((other) => {
    const kindOfOther = kindOfEntry(other);
    if (kindOfOther === undefined || !livesIn(kindOfOther, kind)) return [];
    if (other.external || !isSameName(projectOf(other.id), project)) return [];
    return contains.isHome(container, other.outputs ?? {}) ? other.urn : [];
  });
}
