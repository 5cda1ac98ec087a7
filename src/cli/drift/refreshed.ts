import { datesIn, isExpired } from "../../contract/expiry";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { nameInUrn } from "../../contract/identifiers";
import { withIgnoredChanges } from "../../contract/ignoredChanges";
import { type Kind, kindOfEntry } from "../../contract/pointer";
import { segmentsOf } from "../../contract/propertyPath";
import { changedSinceFirst, isTransferOf, transfersIn, withoutTransfer } from "../../contract/watched";
import { marksOf } from "../../host/state";
import { load } from "../../provider";
import type { StackState, StoredResource } from "../stack/state";
import { differences, isAtOrBelow, masked, shown, withFound } from "./differences";
import { keyOf, type RefreshResult } from "./eventLog";
import { type Drifted, type ExpiredDomain, type Ignored, isLeftToProgram, type Property, SECRET } from "./report";

/** One of our resources, as a refresh found it. */
export interface Refreshed {
  readonly urn: string;
  readonly kind: Kind;
  readonly id: string;
  /** The reference to its provider: URN and id. */
  readonly provider: string;
  /** For kinds with this argument: the value that was deployed. */
  readonly authProvider: string | undefined;
  /** False if a replacement has deleted it: an object with this id belongs to somebody else. */
  readonly isHeld: boolean;
  /** Undefined if the resource is as declared. */
  readonly drift: Drifted | undefined;
  /** Differences that the program's `ignoreChanges` accepts. */
  readonly ignored: Ignored | undefined;
  /** Its redirect domains whose day has come. The service has them. */
  readonly expiredDomains: readonly ExpiredDomain[];
  /** For a resource whose arguments differ. */
  readonly comparison?: Comparison;
}

/** The values that the drift of a resource was computed from. */
export interface Comparison {
  /** The found arguments, without secrets. */
  readonly found: Property["found"];
  /** Whether a change that `pulumi up` started has also not finished. */
  readonly isUnfinished: boolean;
  /** How the drift is repaired if the properties at these paths stay as found. */
  repairWithout(paths: readonly string[]): Drifted["repair"];
}

/**
 * Our resources among the results of a refresh. An event log contains neither `ignoreChanges` nor the resources that a
 * replacement deleted without creating the new one: only the state does.
 */
export function refreshedBy(results: readonly RefreshResult[], state?: StackState): Refreshed[] {
  // A refresh with targets reports only these.
  const all = [...(state?.resources ?? []), ...results.map(({ type, old }) => ({ type, id: old?.id }))];
  const transfers = transfersIn(all);
  return results.flatMap((result) => toRefreshed(result, state?.find(keyOf(result)), transfers) ?? []);
}

function toRefreshed(
  result: RefreshResult,
  stored: StoredResource | undefined,
  transfers: readonly string[],
): Refreshed | undefined {
  const { urn, type, provider, old, new: found } = result;
  const kind = kindOfEntry({ type, custom: stored?.custom });
  const declared = visible(old?.inputs ?? {});
  // A resource without arguments is only read (`get`): the program declares nothing about it.
  if (kind === undefined || old === undefined || old === null || Object.keys(declared).length === 0) return undefined;
  const { pendingReplacement = false } = stored ?? {};
  const before = old.outputs ?? {};
  const deployedWith = before["authProvider"];
  const named = { urn, kind, name: nameInUrn(urn), id: old.id };
  const asDeclared: Refreshed = {
    urn,
    kind,
    id: old.id,
    provider: provider ?? "",
    authProvider: typeof deployedWith === "string" ? deployedWith : undefined,
    isHeld: !pendingReplacement,
    drift: undefined,
    ignored: undefined,
    expiredDomains: [],
  };
  const isGone = found === undefined || found === null;
  if (old.delete === true) return isGone ? asDeclared : { ...asDeclared, drift: { ...named, ...LEFTOVER } };
  if (pendingReplacement || isGone)
    return { ...asDeclared, drift: deletedDrift(named, { declared, before, isUnreplaced: pendingReplacement }) };
  const pair: Pair = {
    named,
    declared,
    before,
    ignoreChanges: stored?.ignoreChanges ?? [],
    found: { inputs: visible(found.inputs ?? {}), outs: found.outputs ?? {} },
    differing: Object.keys(result.detailedDiff ?? {}),
    isTransferred: transfers.some((transfer) => isTransferOf(transfer, old.id)),
    // Beside a plan, the engine calls every result "refresh".
    isUpdate: result.op === "update",
  };
  return { ...asDeclared, ...comparedPair(pair) };
}

type Named = Pick<Drifted, "urn" | "kind" | "name" | "id">;

function deletedDrift(
  named: Named,
  { declared, before, isUnreplaced }: { declared: Properties; before: Properties; isUnreplaced: boolean },
): Drifted {
  const repair = load(named.kind).repair(named.id, undefined, masked(declared, []));
  const unfinished = marked(before);
  const messages = [
    ...(isUnreplaced ? [UNREPLACED] : []),
    ...repair.messages,
    ...(isLeftToProgram({ unfinished }) ? [LEFT_TO_PROGRAM] : []),
  ];
  const drift: Drifted = { ...named, change: "deleted", properties: [], repair: { ...repair, messages } };
  return { ...drift, ...(unfinished && { unfinished }) };
}

/** A resource in the state and at the service. */
interface Pair {
  readonly named: Named;
  readonly declared: Properties;
  /** The outs in the state. */
  readonly before: Properties;
  readonly ignoreChanges: readonly string[];
  readonly found: { readonly inputs: Properties; readonly outs: Properties };
  /** The paths that the engine names. */
  readonly differing: readonly string[];
  readonly isTransferred: boolean;
  readonly isUpdate: boolean;
}

function comparedPair(pair: Pair): Pick<Refreshed, "drift" | "ignored" | "expiredDomains" | "comparison"> {
  const { named, declared, before, found, ignoreChanges, differing } = pair;
  // As in the engine: for ignored properties, the found value counts as declared.
  const wanted = withIgnoredChanges(declared, found.inputs, ignoreChanges);
  const watched = withoutTransfer(changedSinceFirst(named.kind, found.outs), pair.isTransferred);
  const differingArguments = differences(wanted, found.inputs, differing);
  const unfinished = openChange(before, found.outs, differingArguments);
  const isSent = ({ path }: Pick<Property, "path">): boolean =>
    unfinished?.change === "update" && unfinished.sent?.includes(argumentOf(path)) === true;
  const properties = [
    ...differingArguments.filter((property) => !isSent(property)),
    ...watched.map(({ name, first, now }) => ({ path: name, declared: shown(first, name), found: shown(now, name) })),
  ];
  const isUnreported = ({ path }: Property): boolean => properties.every((other) => other.path !== path);
  const ignored = ignoreChanges.length === 0 ? [] : differences(declared, found.inputs, []).filter(isUnreported);
  const beside = {
    ignored: ignored.length > 0 ? { ...named, properties: ignored } : undefined,
    expiredDomains: expiredIn(named, found.inputs),
  };
  if (!pair.isUpdate && differing.length === 0 && watched.length === 0 && unfinished === undefined)
    return { ...beside, drift: undefined };
  // What an unfinished update had sent stays as found until the program finishes it.
  const sent = differingArguments.filter(isSent).map(({ path }) => path);
  const comparison: Comparison = {
    found: shown({ ...found.inputs, ...Object.fromEntries(watched.map(({ name, now }) => [name, now])) }),
    isUnfinished: unfinished !== undefined,
    repairWithout: (left) => {
      const repair = repairOf(pair, { wanted, unfinished, left: [...left, ...sent] });
      const lasting = watched.filter(({ name }) => !left.includes(name)).map(({ name }) => unrepairable(name));
      const byProgram = isLeftToProgram({ unfinished }) ? [LEFT_TO_PROGRAM] : [];
      return { ...repair, messages: [...repair.messages, ...lasting, ...byProgram] };
    },
  };
  const change = unfinished === undefined ? "changed" : "unfinished";
  const drift: Drifted = { ...named, change, properties, repair: comparison.repairWithout([]) };
  return { ...beside, drift: { ...drift, ...(unfinished && { unfinished }) }, comparison };
}

/** What the lifecycle would do if the values at the paths `left` stay. For a secret it learns only whether it differs. */
function repairOf(
  { named, found, differing }: Pair,
  about: { wanted: Properties; unfinished: Drifted["unfinished"]; left: readonly string[] },
): Drifted["repair"] {
  const { wanted, unfinished, left } = about;
  const rest = withFound(wanted, found.inputs, left);
  const isManaged = (name: unknown): boolean => typeof name !== "string" || name in rest || !(name in wanted);
  const managed = found.outs["__args"];
  const isLeft = (path: string): boolean => left.some((one) => isAtOrBelow([path], one));
  const outs = {
    ...masked(
      found.outs,
      differing.filter((path) => !isLeft(path)),
    ),
    ...(Array.isArray(managed) && { __args: managed.filter(isManaged) }),
    ...(unfinished && { __unfinished: unfinished.change, ...(unfinished.sent && { __sent: unfinished.sent }) }),
  };
  return load(named.kind).repair(named.id, outs, masked(rest, []));
}

const expiredIn = (named: Named, inputs: Properties): ExpiredDomain[] =>
  datesIn(named.kind, inputs).flatMap(({ origin, expiresOn }) =>
    typeof expiresOn === "string" && isExpired(expiresOn)
      ? [{ ...named, domain: typeof origin === "string" ? origin : SECRET, expiresOn }]
      : [],
  );

const argumentOf = (path: string): string => String(segmentsOf(path)[0] ?? "");

/** What the state has as unfinished. */
function marked(outs: Properties): Drifted["unfinished"] {
  const { __unfinished, __sent } = marksOf(outs);
  if (__unfinished === undefined) return undefined;
  return { change: __unfinished === "create" ? "create" : "update", sent: __sent === undefined ? null : [...__sent] };
}

/**
 * The same, unless the service shows that it has ended without an effect: nothing is in progress, and all that it may
 * have sent is as declared.
 */
function openChange(before: Properties, found: Properties, differing: readonly Property[]): Drifted["unfinished"] {
  const open = marked(before);
  if (open === undefined) return marked(found);
  const mayBeItsOwn = ({ path }: Property): boolean => open.sent?.includes(argumentOf(path)) ?? true;
  return marked(found) !== undefined || differing.some(mayBeItsOwn) ? open : undefined;
}

const unrepairable = (name: string): string =>
  `"${name}" is not an argument, so no update restores it: find out who changed it. To tolerate it, run pulumi-svc drift --ignore`;

const LEFT_TO_PROGRAM =
  "pulumi-svc drift --repair leaves it: the state does not hold the values that the update had sent. Run pulumi up, which finishes it";

const UNREPLACED = "a replacement has deleted it, and the new one could not be created: the next pulumi up creates it";

/** A replaced object that could not be deleted. Its properties do not matter any more. */
const LEFTOVER: Pick<Drifted, "change" | "properties" | "repair"> = {
  change: "leftover",
  properties: [],
  repair: {
    action: "delete",
    restarts: false,
    messages: ["pulumi up has replaced it and could not delete it: the next pulumi up deletes it"],
  },
};
