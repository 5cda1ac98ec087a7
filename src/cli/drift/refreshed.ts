import { ownValue, pathTo, segmentsOf } from "../../contract/propertyPath";
import { sameJson } from "../../host/arguments";
import { marksOf } from "../../host/state";
import { load } from "../../provider";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { isSecret } from "../../contract/engineSecrets";
import { datesIn, isExpired } from "../../contract/expiry";
import { type Kind, kindOfEntry } from "../../contract/pointer";
import { isReference, referenceProblem } from "../../contract/references";
import { mayBeSecret } from "../../contract/secretNames";
import { isStandIn } from "../../contract/standIns";
import { nameInUrn } from "../../contract/identifiers";
import { changedSinceFirst, isTransferOf, transfersIn, withoutTransfer } from "../../contract/watched";
import { compareText } from "../output";
import type { StackState, StoredResource } from "../stack/state";
import { keyOf, type RefreshResult } from "./eventLog";
import { isObject, withIgnoredChanges } from "../../contract/ignoredChanges";
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
  const { pendingReplacement = false, ignoreChanges } = stored ?? {};
  const isGone = found === undefined || found === null;
  const named = { urn, kind, name: nameInUrn(urn), id: old.id };
  const deployedWith = old.outputs?.["authProvider"];
  const authProvider = typeof deployedWith === "string" ? deployedWith : undefined;
  const resource = { urn, kind, id: old.id, provider: provider ?? "", authProvider, isHeld: !pendingReplacement };
  const asDeclared = { ...resource, drift: undefined, ignored: undefined, expiredDomains: [] };
  const before = old.outputs ?? {};
  if (old.delete === true) return isGone ? asDeclared : { ...asDeclared, drift: { ...named, ...LEFTOVER } };
  if (pendingReplacement || isGone) {
    const repair = load(kind).repair(old.id, undefined, masked(declared, "", []));
    const open = { unfinished: marked(before) };
    const messages = [
      ...(pendingReplacement ? [UNREPLACED] : []),
      ...repair.messages,
      ...(isLeftToProgram(open) ? [LEFT_TO_PROGRAM] : []),
    ];
    const drift: Drifted = { ...named, change: "deleted", properties: [], repair: { ...repair, messages } };
    return { ...asDeclared, drift: { ...drift, ...(open.unfinished && open) } };
  }
  const differing = Object.keys(result.detailedDiff ?? {});
  const foundInputs = visible(found.inputs ?? {});
  // As in the engine: for ignored properties, the found value counts as declared.
  const wanted = withIgnoredChanges(declared, foundInputs, ignoreChanges ?? []);
  const isTransferred = transfers.some((transfer) => isTransferOf(transfer, old.id));
  const watched = withoutTransfer(changedSinceFirst(kind, found.outputs ?? {}), isTransferred);
  const differingArguments = differences(wanted, foundInputs, differing);
  const unfinished = openChange(before, found.outputs ?? {}, differingArguments);
  const isSent = ({ path }: Pick<Property, "path">): boolean =>
    unfinished?.change === "update" && unfinished.sent?.includes(argumentOf(path)) === true;
  const properties = [
    ...differingArguments.filter((property) => !isSent(property)),
    ...watched.map(({ name, first, now }) => ({ path: name, declared: shown(first, name), found: shown(now, name) })),
  ];
  const ignored =
    (ignoreChanges ?? []).length === 0 ? [] : differences(declared, foundInputs, []).filter(isNotIn(properties));
  const expiredDomains = datesIn(kind, foundInputs).flatMap(({ origin, expiresOn }) =>
    typeof expiresOn === "string" && isExpired(expiresOn)
      ? [{ ...named, domain: typeof origin === "string" ? origin : SECRET, expiresOn }]
      : [],
  );
  const refreshed = {
    ...asDeclared,
    ignored: ignored.length > 0 ? { ...named, properties: ignored } : undefined,
    expiredDomains,
  };
  // Beside a plan, the engine calls every result "refresh".
  if (result.op !== "update" && differing.length === 0 && watched.length === 0 && unfinished === undefined)
    return refreshed;
  const comparison: Comparison = {
    found: shown({ ...foundInputs, ...Object.fromEntries(watched.map(({ name, now }) => [name, now])) }),
    isUnfinished: unfinished !== undefined,
    repairWithout(given) {
      // What an unfinished update had sent stays as found until the program finishes it.
      const paths = [...given, ...differingArguments.filter(isSent).map(({ path }) => path)];
      const rest = withFound(wanted, foundInputs, paths);
      const isManaged = (name: unknown): boolean => typeof name !== "string" || name in rest || !(name in wanted);
      const managed = found.outputs?.["__args"];
      // The lifecycle itself compares. For a secret it learns only whether the value differs.
      const outs = {
        ...masked(
          found.outputs ?? {},
          "",
          differing.filter((path) => !paths.some((left) => differs(left, [path]))),
        ),
        ...(Array.isArray(managed) && { __args: managed.filter(isManaged) }),
        ...(unfinished && { __unfinished: unfinished.change, ...(unfinished.sent && { __sent: unfinished.sent }) }),
      };
      const repair = load(kind).repair(old.id, outs, masked(rest, "", []));
      const left = watched.filter(({ name }) => !given.includes(name));
      const messages = [
        ...repair.messages,
        ...left.map(({ name }) => unrepairable(name)),
        ...(isLeftToProgram({ unfinished }) ? [LEFT_TO_PROGRAM] : []),
      ];
      return { ...repair, messages };
    },
  };
  const change = unfinished === undefined ? "changed" : "unfinished";
  const drift: Drifted = { ...named, change, properties, repair: comparison.repairWithout([]) };
  return { ...refreshed, drift: { ...drift, ...(unfinished && { unfinished }) }, comparison };
}

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

const isNotIn =
  (others: readonly Property[]) =>
  ({ path }: Property): boolean =>
    others.every((other) => other.path !== path);

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

/** Replaces each secret by a placeholder, with a different one if the secret differs. */
function masked(value: Properties, path: string, differing: readonly string[]): Properties {
  const one = (inner: unknown, at: string): unknown => {
    if (isSecret(inner)) return differs(at, differing) ? `${SECRET} of somebody else` : SECRET;
    if (Array.isArray(inner)) return inner.map((item, index) => one(item, `${at}[${index}]`));
    return isObject(inner) ? masked(inner, at, differing) : inner;
  };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, one(inner, pathTo(path, key))]));
}

const differs = (path: string, differing: readonly string[]): boolean =>
  differing.some((other) => other === path || other.startsWith(`${path}.`) || other.startsWith(`${path}[`));

/**
 * The declared values with the found value at these paths. They may contain keys that `ignoreChanges` cannot express.
 */
function withFound(declared: Properties, found: Properties, paths: readonly string[], above = ""): Properties {
  const keys = [...new Set([...Object.keys(declared), ...Object.keys(found)])];
  const entries = keys.map((key) => {
    const [path, one, other] = [pathTo(above, key), ownValue(declared, key), ownValue(found, key)];
    if (paths.includes(path)) return [key, other];
    return [key, isObject(one) && isObject(other) ? withFound(one, other, paths, path) : one];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Properties;
}

/** By the paths of the differences; a list counts as one value. */
function differences(declared: Properties, found: Properties, differing: readonly string[]): Property[] {
  const walk = (one: unknown, other: unknown, { path, name }: { path: string; name: string }): Property[] => {
    if (isSecret(one) || isSecret(other)) {
      return differs(path, differing) ? [{ path, declared: hidden(one), found: hidden(other) }] : [];
    }
    if (isObject(one) && isObject(other)) {
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      // Everything below a secret name is secret.
      const below = (key: string): string => (mayBeSecret(name, one) ? name : key);
      return keys.flatMap((key) =>
        walk(ownValue(one, key), ownValue(other, key), { path: pathTo(path, key), name: below(key) }),
      );
    }
    if (sameJson(one, other)) return [];
    return [{ path, declared: shown(one, name), found: shown(other, name) }];
  };
  return walk(declared, found, { path: "", name: "" }).toSorted((left, right) => compareText(left.path, right.path));
}

/** A value for a report: `null` if not set, without secrets at any depth. `name`: the value's key. */
function shown(value: unknown, name = ""): Property["found"] {
  if (value === undefined || value === null) return null;
  if (isSecret(value) || (!isShown(value) && mayBeSecret(name, value))) return SECRET;
  if (Array.isArray(value)) return value.map((item) => shown(item, name));
  if (!isObject(value)) return value as string | number | boolean; // The remaining JSON types.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, key)]));
}

/** A placeholder for a current or former secret. A flag is not a secret. */
const hidden = (value: unknown): Property["found"] =>
  value === undefined || value === null || typeof value === "boolean" || isShown(value) ? shown(value) : SECRET;

/**
 * References, and the text for values that the service does not show. An invalid reference may be the secret itself by
 * mistake.
 */
const isShown = (value: unknown): boolean =>
  (isReference(value) && referenceProblem(value) === undefined) || isStandIn(value);
