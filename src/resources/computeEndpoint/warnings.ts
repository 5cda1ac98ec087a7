import type { EndpointRecord } from "../../client";
import { isSameName } from "../../contract/forms";
import { limitsOf } from "../../helpers/computeSizes";
import type { Changes, NewDeclaration, Look, Plan } from "../../runtime/lifecycle";
import { listed } from "../../contract/untrusted";
import { overwritten } from "../../runtime/overwritten";
import {
  declaration,
  type ComputeEndpointOutputs,
  type ComputeEndpointShape,
  type ComputeSettings,
} from "./computeEndpointDeclaration";
import { isUpdatable } from "./mapping";
import { differing, shownBy } from "./sending";
import { noLongerGiven, resumed, sentAgain } from "../shared/resumed";

/** Beyond this span, newer rules of the service refuse an autoscaling size. This is a warning, not an error. */
const WIDEST_SPAN_CU = 8;

export function computeReplacement({
  stored,
  news,
  deletesFirst,
}: Plan<ComputeEndpointShape, ComputeEndpointOutputs>): string {
  const endpoint = stored.outs.endpointId ?? stored.id;
  const { adopt = false } = news;
  const ignored = adopt === endpoint ? '; "adopt", which names the old one, has no effect then' : "";
  const adopts = adopt !== false && ignored === "" ? `; "adopt" ${takesOver(adopt, news.branchId)}` : "";
  const order = deletesFirst ? "it is deleted first" : "it is deleted last";
  return `${order}, and the new one has another id and another host${ignored}${adopts}`;
}

/** The arguments that restart an active compute. The messages of `computeWarnings` say so, too. */
const RESTARTING = ["size", "restartTriggers"] as const;

export function computeRestarts({ stored, changes }: Plan<ComputeEndpointShape, ComputeEndpointOutputs>): boolean {
  return stored.unfinished !== false || RESTARTING.some((name) => changes.changed.has(name));
}

/** Not documented by the service (docs/design/api.md, Compute states). */
const MOVE_DROPS = "expect open connections to be dropped";

/** What a change may do while its value is unknown. */
interface Possible {
  readonly may: string;
  readonly then?: string;
}

/**
 * A plan's effects on live connections, in messages that name the compute: `--diff` prints them without the resource.
 */
export function computeWarnings({
  stored,
  news,
  changes,
  label,
}: Plan<ComputeEndpointShape, ComputeEndpointOutputs>): string[] {
  const what = `compute ${stored.outs.endpointId ?? stored.id}${label}`;
  /** What a change does, or what it may do if its value becomes known only during the update. */
  const either = (name: keyof ComputeEndpointShape, does: string[], { may, then = "" }: Possible): string[] => {
    if (!changes.changed.has(name)) return [];
    return news[name] === undefined ? [`${what} may ${may}: its "${name}" is not known yet${then}`] : does;
  };
  const from = stored.outs.branchId ?? "its branch";
  const trigger = stored.managed.has("restartTriggers") ? "a changed restart trigger" : "a first restart trigger";
  const restarts = `restarts ${what} when it is active: open connections are dropped`;
  const mayRestart = { may: "restart, which drops open connections" };
  const warnings: string[] = [];
  if (stored.unfinished !== false) {
    const restart = "if an operation failed, the compute restarts and drops open connections";
    const isGiven = (name: string): boolean =>
      Object.hasOwn(news, name) || [...changes.changed].some((one) => one === name);
    warnings.push(resumed(what, stored, [...sentAgainOf(stored, changes, isGiven), restart]));
  }
  warnings.push(...either("size", [`a change of "size" ${restarts}`], mayRestart));
  if (changes.added.has("size") && !changes.changed.has("size")) {
    warnings.push(
      `"size" of ${what} is managed from now on: if the service has another size, ${what} restarts and drops open connections`,
    );
  }
  const moves = `${what} moves from ${from} to ${news.branchId}: it keeps its id and host, and serves the data of the other branch from then on; ${MOVE_DROPS}`;
  const mayMove = {
    may: `move from ${from}`,
    then: `. It keeps its id and host, and serves the data of the other branch then; ${MOVE_DROPS}`,
  };
  const maySuspend = { may: "be suspended, which drops open connections" };
  warnings.push(
    ...either("restartTriggers", [`${trigger} ${restarts}`], mayRestart),
    ...either("branchId", [moves], mayMove),
    ...either("disabled", news.disabled === true ? [suspends(what)] : [], maySuspend),
  );
  for (const part of droppedParts(stored.outs.settings, news.settings)) {
    warnings.push(`"settings.${part}" of ${what} is no longer managed: the value is unchanged`);
  }
  if (changes.changed.has("size")) warnings.push(...spanWarnings(what, news));
  return warnings;
}

/** What an update sends to continue an unfinished change: other differences at the service stay. */
function sentAgainOf(
  { sent, unfinished }: Pick<Plan<ComputeEndpointShape, ComputeEndpointOutputs>["stored"], "sent" | "unfinished">,
  { ignored }: Pick<Changes<ComputeEndpointShape>, "ignored">,
  isGiven: (name: string) => boolean,
): string[] {
  if (sent !== undefined) {
    const names = [...sent];
    return [
      ...sentAgain(names.filter(isGiven), ignored, " if the service shows another value"),
      ...noLongerGiven(names.filter((name) => !isGiven(name))),
    ];
  }
  return unfinished === "create"
    ? ["what differs from the program is sent again"]
    : [
        "the state does not say what the failed update sent, so this one fails if the service differs from the program in anything that the plan does not show",
      ];
}

const suspends = (what: string): string =>
  `"disabled" suspends ${what}: open connections are dropped, and no query wakes it`;

/** The parts of the settings that the program drops. If it drops all, another warning says so. */
function droppedParts(before: ComputeSettings | undefined, now: ComputeSettings | undefined): string[] {
  if (before === undefined || now === undefined) return [];
  const parts = goneFrom(before, now);
  const { preloadLibraries: libraries } = now;
  // Each part of the libraries is managed separately; the settings by name are managed as a whole.
  if (before.preloadLibraries !== undefined && libraries !== undefined) {
    parts.push(...goneFrom(before.preloadLibraries, libraries).map((part) => `preloadLibraries.${part}`));
  }
  return parts;
}

const goneFrom = (before: object, now: object): string[] =>
  Object.keys(before).filter((part) => !Object.hasOwn(now, part));

/** Remarks on a compute that is not in the stack yet. */
export function computeCreateWarnings({
  args,
  label,
  isNew,
  isReplacement,
}: NewDeclaration<ComputeEndpointShape>): string[] {
  if (!isNew) return [];
  const which = isReplacement || !isAdoption(args) ? "the new compute" : "the compute";
  return spanWarnings(`${which}${placeOf(args)}${label}`, args);
}

/** What an adoption may do to the compute that it finds. */
export function computeCreateEffects({
  args,
  label,
  isNew,
  isReplacement,
}: NewDeclaration<ComputeEndpointShape>): string[] {
  // A replacement does not take over the compute that it replaces, even if the program still names it; its other effects
  // are reported with its plan.
  if (!isNew || isReplacement || !isAdoption(args)) return [];
  const { adopt, branchId, disabled } = args;
  return [
    `ComputeEndpoint${label} ${takesOver(adopt, branchId)}`,
    ...(disabled === true ? [suspends(`the compute${placeOf(args)}${label}`)] : []),
  ];
}

type Adoption = Partial<ComputeEndpointShape> & { adopt: string | true };

/** The rules refuse `adopt: true` of a read replica. */
const isAdoption = (args: Partial<ComputeEndpointShape>): args is Adoption =>
  typeof args.adopt === "string" || (args.adopt === true && args.type !== "read_only");

const placeOf = ({ branchId }: Partial<ComputeEndpointShape>): string =>
  branchId === undefined ? "" : ` on ${branchId}`;

/** What an adoption does to the existing compute. `givenNames` includes unknown arguments. */
export function adoptionOf(
  endpoint: EndpointRecord,
  { args, givenNames }: Pick<Look<ComputeEndpointShape>, "args" | "givenNames">,
): string {
  const { id, branch_id, autoscaling_limit_min_cu, autoscaling_limit_max_cu } = endpoint;
  const { branchId, size, disabled } = args;
  const { min, max } = size === undefined ? {} : limitsOf(size);
  const isResized = min !== autoscaling_limit_min_cu || max !== autoscaling_limit_max_cu;
  const moves = branchId === undefined ? "it may move to another branch" : `it moves to ${branchId}`;
  const resizes = `${size === undefined ? "if its" : "its"} size differs from the program`;
  const hasWords = (name: string): boolean =>
    name === "branchId" || name === "size" || (name === "disabled" && disabled === true);
  const isOther = (name: string): boolean => isUpdatable(name) && !hasWords(name);
  const changed = differing(args, endpoint).filter(isOther);
  const open = [...givenNames].filter((name) => isOther(name) && Reflect.get(args, name) === undefined);
  const effects = [
    ...(branchId === undefined || !isSameName(branchId, branch_id) ? [moves] : []),
    ...(givenNames.has("size") && (size === undefined || isResized)
      ? [`${resizes}${size === undefined ? "," : ":"} it restarts when it is active, which drops open connections`]
      : []),
    ...(disabled === true ? ['"disabled" suspends it: open connections are dropped, and no query wakes it'] : []),
    ...(changed.length > 0 ? [`it gets ${quoted(changed)} of the program`] : []),
    ...clearedBy(args, endpoint),
    ...(open.length > 0 ? [`it may get ${quoted(open)}, which ${open.length === 1 ? "is" : "are"} not known yet`] : []),
    "destroying deletes it, unless retainOnDelete is set",
  ];
  return `pulumi up takes over ${id} on ${branch_id} instead of creating a compute: ${effects.join("; ")}`;
}

const quoted = (names: readonly string[]): string =>
  [...names]
    .sort()
    .map((name) => `"${name}"`)
    .join(", ");

/** What the adopted compute has and the program does not list. */
function clearedBy(args: Look<ComputeEndpointShape>["args"], endpoint: EndpointRecord): string[] {
  const { settings } = args;
  const shown = shownBy(args, endpoint);
  const about = { sent: { settings }, changed: new Set(["settings"]), stored: {}, shown };
  const { cleared } = overwritten(declaration.args, about);
  return cleared.length === 0
    ? []
    : [`${listed([...cleared].sort(), MOST_CLEARED)} ${cleared.length === 1 ? "is" : "are"} cleared`];
}

const MOST_CLEARED = 20;

function takesOver(adopt: string | true, branchId: string | undefined): string {
  const [which, moved] =
    adopt === true
      ? [`the primary compute of ${branchId ?? "its branch"}, if there is one,`, ""]
      : [
          adopt,
          `if it is on another branch, it moves${branchId === undefined ? "" : ` to ${branchId}`}: ${MOVE_DROPS}; `,
        ];
  return (
    `takes over ${which} instead of creating one: ${moved}` +
    "if its size differs from the program, it restarts and drops open connections; " +
    "it gets all arguments of the program, and Postgres settings that the program does not list are cleared if it lists any; " +
    "destroying deletes it, unless retainOnDelete is set"
  );
}

function spanWarnings(compute: string, { size }: Partial<ComputeEndpointShape>): string[] {
  if (typeof size !== "object" || size.max - size.min <= WIDEST_SPAN_CU) return [];
  return [
    `${compute} would scale over ${size.max - size.min} CU: newer rules of the service allow ${WIDEST_SPAN_CU} CU between min and max`,
  ];
}
