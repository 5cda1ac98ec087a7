import { z } from "zod";
import { sameJson } from "../../host/arguments";
import { load } from "../../provider";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { KINDS, type Kind, typeToken } from "../../contract/pointer";
import { isSecretName } from "../../contract/secretNames";
import { compareText } from "../compareText";
import { isSecret } from "../stack/secretSignature";
import { isObject, withIgnoredChanges } from "./ignoredChanges";
import { type Drifted, type Ignored, type Property, SECRET } from "./report";
import { type StackState, stateKey } from "../stack/state";

const state = z.object({
  id: z.string(),
  delete: z.boolean().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
});
const metadata = z.object({
  op: z.string(),
  urn: z.string(),
  type: z.string(),
  provider: z.string().nullish(),
  old: state.nullish(),
  new: state.nullish(),
  /** By path: what differs between the inputs of the state and those that the refresh found. */
  detailedDiff: z.record(z.string(), z.unknown()).nullish(),
});
const step = z.object({ metadata });

/** What is looked at in a line of the event log; the rest of it may be anything. */
const event = z.object({
  resourcePreEvent: step.optional(),
  resOutputsEvent: step.optional(),
  diagnosticEvent: z.object({ severity: z.string(), message: z.string() }).optional(),
  summaryEvent: z.unknown().optional(),
});

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
}

export interface RefreshResult {
  /** One for each failure, the most telling first. */
  readonly errors: readonly string[];
  /** The log was written to its end. */
  readonly isComplete: boolean;
  readonly resources: readonly Refreshed[];
}

/**
 * What an event log of the CLI tells of a refresh. Only what the refresh itself did is looked at: a log of
 * `preview --refresh` also holds what the program changes. A log knows neither `ignoreChanges` nor what a replacement has
 * deleted without creating its successor: that stands in the state alone.
 * @throws when a line is no event.
 */
export function readEventLog(text: string, stored?: StackState): RefreshResult {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const events = lines.map((line) => event.parse(JSON.parse(line)));
  const errors: string[] = [];
  const refreshing = new Set<string>();
  const resources: Refreshed[] = [];
  for (const { resourcePreEvent, resOutputsEvent, diagnosticEvent } of events) {
    if (resourcePreEvent?.metadata.op === "refresh") refreshing.add(keyOf(resourcePreEvent.metadata));
    if (resOutputsEvent !== undefined && refreshing.delete(keyOf(resOutputsEvent.metadata))) {
      const resource = toRefreshed(resOutputsEvent.metadata, stored);
      if (resource !== undefined) resources.push(resource);
    }
    if (diagnosticEvent?.severity === "error")
      errors.push(diagnosticEvent.message.trim().replace(/^Preview failed: /, ""));
  }
  return { errors, resources, isComplete: events.some(({ summaryEvent }) => summaryEvent !== undefined) };
}

type StepResult = z.infer<typeof metadata>;

const keyOf = ({ urn, old }: StepResult): string => stateKey(urn, old);

function toRefreshed(result: StepResult, stored: StackState | undefined): Refreshed | undefined {
  const { urn, type, provider, old, new: found } = result;
  const kind = KINDS.find((candidate) => typeToken(candidate) === type);
  const declared = visible(old?.inputs ?? {});
  // One without arguments is only looked up (`get`): nothing of it is declared here.
  if (kind === undefined || old === undefined || old === null || Object.keys(declared).length === 0) return undefined;
  const { pendingReplacement = false, ignoreChanges = [] } = stored?.find(keyOf(result)) ?? {};
  const isGone = found === undefined || found === null;
  const named = { urn, kind, name: urn.slice(urn.lastIndexOf("::") + 2), id: old.id };
  const deployedWith = old.outputs?.["authProvider"];
  const authProvider = typeof deployedWith === "string" ? deployedWith : undefined;
  const resource = { urn, kind, id: old.id, provider: provider ?? "", authProvider, isHeld: !pendingReplacement };
  const asDeclared = { ...resource, drift: undefined, ignored: undefined };
  if (old.delete === true) return isGone ? asDeclared : { ...asDeclared, drift: { ...named, ...LEFTOVER } };
  if (pendingReplacement || isGone) {
    const repair = toRepair(load(kind).repair(old.id, undefined, masked(declared, "", [])));
    const messages = pendingReplacement ? [UNREPLACED, ...repair.messages] : repair.messages;
    return { ...asDeclared, drift: { ...named, change: "deleted", properties: [], repair: { ...repair, messages } } };
  }
  const differing = Object.keys(result.detailedDiff ?? {});
  const foundInputs = visible(found.inputs ?? {});
  // What the engine compares with: of what is ignored, both sides are the found one.
  const wanted = withIgnoredChanges(declared, foundInputs, ignoreChanges);
  const properties = differences(wanted, foundInputs, differing);
  const ignored = ignoreChanges.length === 0 ? [] : differences(declared, foundInputs, []).filter(isNotIn(properties));
  const refreshed = { ...asDeclared, ignored: ignored.length > 0 ? { ...named, properties: ignored } : undefined };
  // Beside a plan the engine calls every result "refresh".
  if (result.op !== "update" && differing.length === 0) return refreshed;
  // The very lifecycle compares. Of a secret it gets to know whether it differs, and nothing else.
  const outs = masked(found.outputs ?? {}, "", differing);
  const repair = toRepair(load(kind).repair(old.id, outs, masked(wanted, "", [])));
  return { ...refreshed, drift: { ...named, change: "changed", properties, repair } };
}

const isNotIn =
  (others: readonly Property[]) =>
  ({ path }: Property): boolean =>
    others.every((other) => other.path !== path);

const UNREPLACED =
  "a replacement that pulumi up began has deleted it, and the new one could not be created: the next pulumi up creates it";

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

const toRepair = ({
  action,
  restarts,
  messages,
}: {
  action: Drifted["repair"]["action"];
  restarts: boolean;
  messages: readonly string[];
}) => ({
  action,
  restarts,
  messages: [...messages],
});

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
function pathTo(parent: string, key: string): string {
  if (!/^[A-Za-z0-9_]+$/.test(key)) return `${parent}["${key.replaceAll('"', String.raw`\"`)}"]`;
  return parent === "" ? key : `${parent}.${key}`;
}

const differs = (path: string, differing: readonly string[]): boolean =>
  differing.some((other) => other === path || other.startsWith(`${path}.`) || other.startsWith(`${path}[`));

/** By the paths of what differs; a list is one value. */
function differences(declared: Properties, found: Properties, differing: readonly string[]): Property[] {
  const walk = (one: unknown, other: unknown, path: string, name: string): Property[] => {
    if (isSecret(one) || isSecret(other)) {
      return differs(path, differing) ? [{ path, declared: shown(one, true), found: shown(other, true) }] : [];
    }
    if (isObject(one) && isObject(other)) {
      const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      return keys.flatMap((key) => walk(one[key], other[key], pathTo(path, key), key));
    }
    if (sameJson(one, other)) return [];
    const hide = isSecretName(name);
    return [{ path, declared: shown(one, hide), found: shown(other, hide) }];
  };
  return walk(declared, found, "", "").toSorted((left, right) => compareText(left.path, right.path));
}

/** A value as a report shows it: `null` where it is not set, no secret at any depth. */
function shown(value: unknown, hide: boolean): Property["found"] {
  if (value === undefined || value === null) return null;
  if (hide || isSecret(value)) return SECRET;
  if (Array.isArray(value)) return value.map((item) => shown(item, false));
  if (!isObject(value)) return value as string | number | boolean; // what JSON has beside them
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, isSecretName(key))]));
}
