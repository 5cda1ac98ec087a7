/** What a change of a compute sends, and what the service has to show of it: for the update, and for its plan. */
import { Granted, type EndpointRecord, type Permission, Unknown } from "../../client";
import type { Changes, Stored } from "../../runtime/lifecycle";
import { mayBeOpen, unconfirmed } from "../../runtime/confirmed";
import { isIgnored, leftToService, mayOverwrite } from "../../runtime/ignored";
import { overwritten, type Overwritten } from "../../runtime/overwritten";
import { declaration, type ComputeEndpointOutputs, type ComputeEndpointShape } from "./computeEndpointDeclaration";
import { addedSettings, inFormOf, isUpdatable, toArguments } from "./mapping";
import { splitId } from "../shared/identifiers";

export type ComputeEndpointOuts = ComputeEndpointOutputs & Partial<ComputeEndpointShape>;
type StoredCompute = Stored<ComputeEndpointShape, ComputeEndpointOuts>;

/** Known arguments of a compute. */
type Known = Partial<ComputeEndpointShape> & Pick<ComputeEndpointShape, "projectId">;

export const shownBy = ({ projectId, settings }: Known, endpoint: EndpointRecord, added?: readonly string[]) =>
  toArguments(projectId, endpoint, settings, added);

/** The arguments that the service does not show with the program's value. */
export const differing = (args: Known, endpoint: EndpointRecord, added?: readonly string[]): string[] =>
  unconfirmed(declaration.args, { sent: args, shown: shownBy(args, endpoint, added), proof: true });

/** The same for a compute that nobody else has changed yet: what it shows beyond the arguments is the service's own. */
export const differingWhenNew = (args: Known, endpoint: EndpointRecord): string[] =>
  differing(args, endpoint, addedSettings(endpoint, { sent: args.settings, before: undefined, earlier: [] }));

/** The arguments with the values that the service has where `ignoreChanges` says so. */
export const leftToCompute = <Args extends Known>(
  args: Args,
  endpoint: EndpointRecord,
  ignored: readonly string[],
): ReturnType<typeof leftToService<Args>> =>
  leftToService(declaration.args, args, { shown: inFormOf(args, shownBy(args, endpoint)), ignored });

export interface ToSend<Args> {
  /** The arguments, with what the service has at the paths of `ignoreChanges`. */
  readonly args: Args;
  /** The arguments that the service shows with another value. */
  readonly differ: readonly string[];
  /** The arguments that the update sends. */
  readonly names: readonly string[];
  /** Whether it may send them. */
  readonly permission: Permission;
}

/**
 * An update sends the arguments that the plan changes, and those that are compared with the service instead of the
 * state: an unfinished change may not have been applied, and an unmanaged argument may have changed since it was
 * stored. Any other difference is drift. `what`: the compute, for messages.
 */
export function toSend<Args extends Known>(
  given: Args,
  endpoint: EndpointRecord,
  about: { readonly what: string; readonly stored: StoredCompute; readonly changes: Changes<ComputeEndpointShape> },
): ToSend<Args> {
  const { what, stored, changes } = about;
  const { changed, added, ignored } = changes;
  const { args, hidden } = leftToCompute(given, endpoint, ignored);
  const differ = differing(args, endpoint, stored.added);
  const newlyManaged: ReadonlySet<string> = added;
  // A part of the settings that the program drops is no longer managed.
  const planned = [...changed].filter((name) => name !== "settings" || differ.includes(name));
  const asked = differ.filter((name) => mayBeOpen(stored, name) || newlyManaged.has(name));
  const names = [...planned, ...asked].filter((name) => isUpdatable(name) && !isIgnored(ignored, name));
  const blind = [...changed].filter((name) => hidden.includes(name));
  const known = isKnownToBeSent(args, endpoint, { stored, changes });
  return { args, differ, names, permission: known instanceof Granted ? mayOverwrite(what, blind) : known };
}

/** What a request with the named arguments overwrites at the compute `before` it. */
export function overwrittenAt(
  before: EndpointRecord,
  {
    args,
    names,
    stored,
    changes: { changed },
  }: {
    readonly args: Known;
    readonly names: readonly string[];
    readonly stored: StoredCompute;
    readonly changes: Pick<Changes<ComputeEndpointShape>, "changed">;
  },
): Overwritten {
  return overwritten(declaration.args, {
    sent: Object.fromEntries(Object.entries(args).filter(([name]) => names.includes(name))),
    changed,
    stored: inFormOf(args, stored.outs),
    shown: inFormOf(args, shownBy(args, before, stored.added)),
  });
}

/**
 * Whether an update that did not finish can be continued: not if the state does not say what it had sent, and the
 * service shows a value that is neither in the state nor in the plan.
 */
function isKnownToBeSent(
  args: Known,
  endpoint: EndpointRecord,
  { stored, changes }: { readonly stored: StoredCompute; readonly changes: Changes<ComputeEndpointShape> },
): Permission {
  const { unfinished, sent, id, added } = stored;
  if (unfinished !== "update" || sent !== undefined) return Granted.proven();
  const planned: ReadonlySet<string> = new Set([...changes.changed, ...changes.added]);
  const names = unconfirmed(declaration.args, { sent: args, shown: shownBy(args, endpoint, added) }).filter(
    (name) => isUpdatable(name) && !planned.has(name),
  );
  if (names.length === 0) return Granted.proven();
  return Unknown.because({
    question: `whether the previous update of compute ${splitId(id).rest} had sent ${names.map((name) => `"${name}"`).join(" and ")}, or somebody has changed ${names.length === 1 ? "it" : "them"} since`,
    why: "the state does not say what that update sent",
    waysOut: "Run pulumi up --refresh: its plan shows both values",
  });
}
