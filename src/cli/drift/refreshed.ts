import { sameJson } from "../../host/arguments";
import { load } from "../../provider";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { isSecret } from "../../contract/engineSecrets";
import { KINDS, type Kind, typeToken } from "../../contract/pointer";
import { isReference, referenceProblem } from "../../contract/references";
import { mayBeSecret } from "../../contract/secretNames";
import { isStandIn } from "../../contract/standIns";
import { nameInUrn } from "../../contract/identifiers";
import { changedSinceFirst, isTransferOf, transfersIn, withoutTransfer } from "../../contract/watched";
import { compareText } from "../output";
import type { StackState, StoredResource } from "../stack/state";
import { keyOf, type RefreshResult } from "./eventLog";
import { isObject, withIgnoredChanges } from "./ignoredChanges";
import { type Drifted, type Ignored, type Property, SECRET } from "./report";

/** A resource of ours, as a refresh found it. */
export interface Refreshed {
  readonly urn: string;
  readonly kind: Kind;
  readonly id: string;
  /** The reference to its provider: URN and id. */
  readonly provider: string;
  /** Of a kind that names it: the one that it was deployed with. */
  readonly authProvider: string | undefined;
  /** False where a replacement has deleted it: an object with this id is somebody else's. */
  readonly isHeld: boolean;
  /** Undefined where it is as declared. */
  readonly drift: Drifted | undefined;
  /** What differs, and what `ignoreChanges` of the program leaves as it is. */
  readonly ignored: Ignored | undefined;
  /** Of one whose arguments differ. */
  readonly comparison?: Comparison;
}

/** What the drift of a resource was told from. */
export interface Comparison {
  /** The arguments as found: no secret is shown in it. */
  readonly found: Property["found"];
  /** Whether a change that `pulumi up` started is not finished, too. */
  readonly isUnfinished: boolean;
  /** What it takes to repair some of the properties: those of these paths stay as they are found. */
  repairWithout(paths: readonly string[]): Drifted["repair"];
}

/**
 * Resources of ours among what a refresh found. An event log knows neither `ignoreChanges` nor what a replacement has
 * deleted without creating its successor: that is in the state alone.
 */
export function refreshedBy(results: readonly RefreshResult[], state?: StackState): Refreshed[] {
  // A refresh of some resources tells of these alone.
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
  const kind = KINDS.find((candidate) => typeToken(candidate) === type);
  const declared = visible(old?.inputs ?? {});
  // One without arguments is only looked up (`get`): nothing of it is declared here.
  if (kind === undefined || old === undefined || old === null || Object.keys(declared).length === 0) return undefined;
  const { pendingReplacement = false, ignoreChanges } = stored ?? {};
  const isGone = found === undefined || found === null;
  const named = { urn, kind, name: nameInUrn(urn), id: old.id };
  const deployedWith = old.outputs?.["authProvider"];
  const authProvider = typeof deployedWith === "string" ? deployedWith : undefined;
  const resource = { urn, kind, id: old.id, provider: provider ?? "", authProvider, isHeld: !pendingReplacement };
  const asDeclared = { ...resource, drift: undefined, ignored: undefined };
  if (old.delete === true) return isGone ? asDeclared : { ...asDeclared, drift: { ...named, ...LEFTOVER } };
  if (pendingReplacement || isGone) {
    const repair = load(kind).repair(old.id, undefined, masked(declared, "", []));
    const messages = pendingReplacement ? [UNREPLACED, ...repair.messages] : repair.messages;
    return { ...asDeclared, drift: { ...named, change: "deleted", properties: [], repair: { ...repair, messages } } };
  }
  const differing = Object.keys(result.detailedDiff ?? {});
  const foundInputs = visible(found.inputs ?? {});
  // What the engine compares with: of what is ignored, both sides are the found one.
  const wanted = withIgnoredChanges(declared, foundInputs, ignoreChanges ?? []);
  const isTransferred = transfers.some((transfer) => isTransferOf(transfer, old.id));
  const watched = withoutTransfer(changedSinceFirst(kind, found.outputs ?? {}), isTransferred);
  const properties = [
    ...differences(wanted, foundInputs, differing),
    ...watched.map(({ name, first, now }) => ({ path: name, declared: shown(first, name), found: shown(now, name) })),
  ];
  const ignored =
    (ignoreChanges ?? []).length === 0 ? [] : differences(declared, foundInputs, []).filter(isNotIn(properties));
  const refreshed = { ...asDeclared, ignored: ignored.length > 0 ? { ...named, properties: ignored } : undefined };
  // Beside a plan the engine calls every result "refresh".
  if (result.op !== "update" && differing.length === 0 && watched.length === 0) return refreshed;
  const comparison: Comparison = {
    found: shown({ ...foundInputs, ...Object.fromEntries(watched.map(({ name, now }) => [name, now])) }),
    isUnfinished: found.outputs?.["__unfinished"] !== undefined,
    repairWithout(paths) {
      const rest = withFound(wanted, foundInputs, paths);
      const isManaged = (name: unknown): boolean => typeof name !== "string" || name in rest || !(name in wanted);
      const managed = found.outputs?.["__args"];
      // The very lifecycle compares. Of a secret it gets to know whether it differs, and nothing else.
      const outs = {
        ...masked(
          found.outputs ?? {},
          "",
          differing.filter((path) => !paths.some((left) => differs(left, [path]))),
        ),
        ...(Array.isArray(managed) && { __args: managed.filter(isManaged) }),
      };
      const repair = load(kind).repair(old.id, outs, masked(rest, "", []));
      const left = watched.filter(({ name }) => !paths.includes(name));
      return { ...repair, messages: [...repair.messages, ...left.map(({ name }) => unrepairable(name))] };
    },
  };
  const drift: Drifted = { ...named, change: "changed", properties, repair: comparison.repairWithout([]) };
  return { ...refreshed, drift, comparison };
}

const isNotIn =
  (others: readonly Property[]) =>
  ({ path }: Property): boolean =>
    others.every((other) => other.path !== path);

const unrepairable = (name: string): string =>
  `no update brings "${name}" back, which is no argument: find out who changed it. pulumi-svc drift --ignore writes down that it may stay`;

const UNREPLACED = "a replacement has deleted it, and the new one could not be created: the next pulumi up creates it";

/** The state of a replaced object that could not be deleted. How it looks is of no interest any more. */
const LEFTOVER: Pick<Drifted, "change" | "properties" | "repair"> = {
  change: "leftover",
  properties: [],
  repair: {
    action: "delete",
    restarts: false,
    messages: ["pulumi up has replaced it and could not delete it: the next pulumi up deletes it"],
  },
};

/** With a text in place of each secret: another one where it is among what differs. */
function masked(value: Properties, path: string, differing: readonly string[]): Properties {
  const one = (inner: unknown, at: string): unknown => {
    if (isSecret(inner)) return differs(at, differing) ? `${SECRET} of somebody else` : SECRET;
    if (Array.isArray(inner)) return inner.map((item, index) => one(item, `${at}[${index}]`));
    return isObject(inner) ? masked(inner, at, differing) : inner;
  };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, one(inner, pathTo(path, key))]));
}

/** As the engine spells a path. */
export function pathTo(parent: string, key: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(key)) return `${parent}["${key.replaceAll('"', String.raw`\"`)}"]`;
  return parent === "" ? key : `${parent}.${key}`;
}

const differs = (path: string, differing: readonly string[]): boolean =>
  differing.some((other) => other === path || other.startsWith(`${path}.`) || other.startsWith(`${path}[`));

/** What is declared, with the found value at these paths: a path may hold what `ignoreChanges` cannot spell. */
function withFound(declared: Properties, found: Properties, paths: readonly string[], above = ""): Properties {
  const keys = [...new Set([...Object.keys(declared), ...Object.keys(found)])];
  const entries = keys.map((key) => {
    const [path, one, other] = [pathTo(above, key), declared[key], found[key]];
    if (paths.includes(path)) return [key, other];
    return [key, isObject(one) && isObject(other) ? withFound(one, other, paths, path) : one];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Properties;
}

/** By the paths of what differs; a list is one value. */
function differences(declared: Properties, found: Properties, differing: readonly string[]): Property[] {
  const walk = (one: unknown, other: unknown, { path, name }: { path: string; name: string }): Property[] => {
    if (isSecret(one) || isSecret(other)) {
      return differs(path, differing) ? [{ path, declared: hidden(one), found: hidden(other) }] : [];
    }
    if (isObject(one) && isObject(other)) {
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      // What is below the name of a secret is one, too.
      const below = (key: string): string => (mayBeSecret(name, one) ? name : key);
      return keys.flatMap((key) => walk(one[key], other[key], { path: pathTo(path, key), name: below(key) }));
    }
    if (sameJson(one, other)) return [];
    return [{ path, declared: shown(one, name), found: shown(other, name) }];
  };
  return walk(declared, found, { path: "", name: "" }).toSorted((left, right) => compareText(left.path, right.path));
}

/** A value as a report shows it: `null` where it is not set, no secret at any depth. `name`: that it stands under. */
function shown(value: unknown, name = ""): Property["found"] {
  if (value === undefined || value === null) return null;
  if (isSecret(value) || (!isShown(value) && mayBeSecret(name, value))) return SECRET;
  if (Array.isArray(value)) return value.map((item) => shown(item, name));
  if (!isObject(value)) return value as string | number | boolean; // what JSON has beside them
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, key)]));
}

/** The same of a value that is a secret, or was one. A flag is none. */
const hidden = (value: unknown): Property["found"] =>
  value === undefined || value === null || typeof value === "boolean" || isShown(value) ? shown(value) : SECRET;

/** A reference, and a text for what the service does not show. What is no good reference may be the secret itself, by mistake. */
const isShown = (value: unknown): boolean =>
  (isReference(value) && referenceProblem(value) === undefined) || isStandIn(value);
