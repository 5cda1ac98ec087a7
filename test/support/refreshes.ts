import { readEventLog } from "../../src/cli/drift/eventLog";
import { type Refreshed, refreshedBy } from "../../src/cli/drift/refreshed";
import { StackState } from "../../src/cli/stack/state";
import { type Kind, pointer, typeToken } from "../../src/contract/pointer";

type Properties = Record<string, unknown>;

/** A secret in the engine's event log. */
export const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "[secret]",
};

export interface Refresh {
  readonly kind?: Kind;
  readonly type?: string;
  readonly name?: string;
  readonly stack?: string;
  readonly id?: string;
  readonly declared: Properties;
  /** The found values, if they differ from `declared`; null: deleted; undefined: no difference. */
  readonly found?: Properties | null;
  /** The paths of `detailedDiff`. */
  readonly differing?: readonly string[];
  /** Further outputs, before and after. */
  readonly outs?: Properties;
  /** The same, as found. @default outs */
  readonly foundOuts?: Properties;
  /** The operation before the result. */
  readonly before?: string;
  readonly result?: string;
  /** The old object of a replacement, which is still to be deleted. */
  readonly delete?: boolean;
}

/** The two events of one resource. */
export function events({
  kind = "ComputeEndpoint",
  stack = "dev",
  name = "api",
  id = "prj-demo/ep-1",
  declared,
  ...rest
}: Refresh): object[] {
  const { type = typeToken(kind), found, differing = [], outs = {}, foundOuts = outs, before = "refresh" } = rest;
  const urn = `urn:pulumi:${stack}::proj::${type}::${name}`;
  const hidden = { __provider: pointer(kind), __urn: urn };
  const state = (args: Properties, more: Properties) => ({
    id,
    inputs: { ...args, ...hidden },
    outputs: { ...more, ...args, ...hidden, __args: Object.keys(declared).sort(), __version: 1 },
  });
  const op = rest.result ?? (found === null ? "delete" : found === undefined ? "same" : "update");
  const metadata = { urn, type, op, provider: "urn:pulumi:dev::proj::pulumi:providers:pulumi-nodejs::default::1" };
  const old = { ...state(declared, outs), ...(rest.delete === true && { delete: true }) };
  return [
    { resourcePreEvent: { metadata: { ...metadata, op: before, old } } },
    {
      resOutputsEvent: {
        metadata: {
          ...metadata,
          old,
          new: found === null ? null : state({ ...declared, ...found }, foundOuts),
          detailedDiff: Object.fromEntries(differing.map((path) => [path, { diffKind: "update", inputDiff: true }])),
        },
      },
    },
  ];
}

const END = [{ summaryEvent: { result: "succeeded" } }, { cancelEvent: {} }];

export const log = (...all: object[]): string =>
  [...all, ...END].map((event, sequence) => JSON.stringify({ sequence, timestamp: 1, ...event })).join("\n");

/** The results of refreshing these. */
export const refreshedOf = (...refreshes: readonly Refresh[]): Refreshed[] =>
  refreshedBy(readEventLog(log(...refreshes.flatMap(events))).results);

/** A refresh of one resource, with its state. */
export function refreshedWith(refresh: Refresh, facts: object) {
  const { kind = "ComputeEndpoint", name = "api", id = "prj-demo/ep-1" } = refresh;
  const type = typeToken(kind);
  const urn = `urn:pulumi:dev::proj::${type}::${name}`;
  const state = new StackState(JSON.stringify({ deployment: { resources: [{ urn, type, id, ...facts }] } }));
  const [resource] = refreshedBy(readEventLog(log(...events(refresh))).results, state);
  if (resource === undefined) throw new Error("the log tells of no resource");
  return resource;
}
