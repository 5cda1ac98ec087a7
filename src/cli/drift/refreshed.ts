import { z } from "zod";
import { sameJson } from "../../host/arguments";
import { load } from "../../provider";
import { type Properties, visible } from "../../contract/hiddenKeys";
import { KINDS, type Kind, typeToken } from "../../contract/pointer";
import { compareText } from "../compareText";
import { isSecret } from "../secretSignature";
import { type Drifted, type Property, SECRET } from "./report";

const state = z.object({
  id: z.string(),
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
  /** Undefined where it is as declared. */
  readonly drift: Drifted | undefined;
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
 * `preview --refresh` also holds what the program changes.
 * @throws when a line is no event.
 */
export function readEventLog(text: string): RefreshResult {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const events = lines.map((line) => event.parse(JSON.parse(line)));
  const errors: string[] = [];
  const refreshing = new Set<string>();
  const resources: Refreshed[] = [];
  for (const { resourcePreEvent, resOutputsEvent, diagnosticEvent } of events) {
    if (resourcePreEvent?.metadata.op === "refresh") refreshing.add(resourcePreEvent.metadata.urn);
    if (resOutputsEvent !== undefined && refreshing.delete(resOutputsEvent.metadata.urn)) {
      const resource = toRefreshed(resOutputsEvent.metadata);
      if (resource !== undefined) resources.push(resource);
    }
    if (diagnosticEvent?.severity === "error")
      errors.push(diagnosticEvent.message.trim().replace(/^Preview failed: /, ""));
  }
  return { errors, resources, isComplete: events.some(({ summaryEvent }) => summaryEvent !== undefined) };
}

function toRefreshed(result: z.infer<typeof metadata>): Refreshed | undefined {
  const { op, urn, type, provider, old, new: found, detailedDiff } = result;
  const kind = KINDS.find((candidate) => typeToken(candidate) === type);
  const declared = visible(old?.inputs ?? {});
  // One without arguments is only looked up (`get`): nothing of it is declared here.
  if (kind === undefined || old === undefined || old === null || Object.keys(declared).length === 0) return undefined;
  const resource = { urn, kind, id: old.id, provider: provider ?? "", drift: undefined };
  const isDeleted = found === undefined || found === null;
  const differing = Object.keys(detailedDiff ?? {});
  // Beside a plan the engine calls every result "refresh".
  if (!isDeleted && op !== "update" && differing.length === 0) return resource;
  const outs = isDeleted ? undefined : masked(found.outputs ?? {}, "", differing);
  const drift: Drifted = {
    urn,
    kind,
    name: urn.slice(urn.lastIndexOf("::") + 2),
    id: old.id,
    change: isDeleted ? "deleted" : "changed",
    properties: isDeleted ? [] : differences(declared, visible(found.inputs ?? {}), differing),
    // The very lifecycle compares. Of a secret it gets to know whether it differs, and nothing else.
    repair: toRepair(load(kind).repair(old.id, outs, masked(declared, "", []))),
  };
  return { ...resource, drift };
}

const toRepair = ({
  action,
  restarts,
  says,
}: {
  action: Drifted["repair"]["action"];
  restarts: boolean;
  says: readonly string[];
}) => ({
  action,
  restarts,
  says: [...says],
});

function isObject(value: unknown): value is Properties {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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

/** A name that tells of a secret, where the state does not mark it: somebody may have added it by hand. */
const SECRET_NAME = /secret|password|passphrase|token|api_?key|credential/i;

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
    const hide = SECRET_NAME.test(name);
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
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(inner, SECRET_NAME.test(key))]));
}
