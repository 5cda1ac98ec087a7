/** What a change of a compute sends, and what the service has to show of it: for the update, and for its plan. */
import type { EndpointRecord } from "../../client";
import type { Changes, Stored } from "../../host/lifecycle";
import { ruleOf } from "../../host/arguments";
import { mayBeOpen, unconfirmed } from "../../host/confirmed";
import { isIgnored, leftToService } from "../../host/ignored";
import { declaration, type ComputeEndpointOutputs, type ComputeEndpointShape } from "./computeEndpointDeclaration";
import { addedSettings, inFormOf, toArguments } from "./mapping";

export type ComputeEndpointOuts = ComputeEndpointOutputs & Partial<ComputeEndpointShape>;
type StoredCompute = Stored<ComputeEndpointShape, ComputeEndpointOuts>;

/** Known arguments of a compute. */
type Known = Partial<ComputeEndpointShape> & Pick<ComputeEndpointShape, "projectId">;

/** Whether a PATCH accepts it (docs/design/api.md). */
export function isUpdatable(name: string): boolean {
  const { replaces, local, createOnly } = ruleOf(declaration.args, name) ?? {};
  return replaces === undefined && local !== true && createOnly !== true;
}

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

interface ToSend<Args> {
  /** The arguments, with what the service has at the paths of `ignoreChanges`. */
  readonly args: Args;
  /** The arguments that the service shows with another value. */
  readonly differ: readonly string[];
  /** The arguments that the update sends. */
  readonly names: readonly string[];
  /** Those of them that it cannot send without overwriting what `ignoreChanges` leaves to the service. */
  readonly blind: readonly string[];
}

/**
 * An update sends the arguments that the plan changes, and those that are compared with the service instead of the
 * state: an unfinished change may not have been applied, and an unmanaged argument may have changed since it was
 * stored. Any other difference is drift.
 */
export function toSend<Args extends Known>(
  given: Args,
  endpoint: EndpointRecord,
  { stored, changes }: { readonly stored: StoredCompute; readonly changes: Changes<ComputeEndpointShape> },
): ToSend<Args> {
  const { changed, added, ignored } = changes;
  const { args, hidden } = leftToCompute(given, endpoint, ignored);
  const differ = differing(args, endpoint, stored.added);
  const newlyManaged: ReadonlySet<string> = added;
  // A part of the settings that the program drops is no longer managed.
  const planned = [...changed].filter((name) => name !== "settings" || differ.includes(name));
  const asked = differ.filter((name) => mayBeOpen(stored, name) || newlyManaged.has(name));
  const names = [...planned, ...asked].filter((name) => isUpdatable(name) && !isIgnored(ignored, name));
  return { args, differ, names, blind: [...changed].filter((name) => hidden.includes(name)) };
}
