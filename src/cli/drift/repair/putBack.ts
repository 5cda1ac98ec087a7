import { z } from "zod";
import { sameJson } from "../../../runtime/arguments";
import type { Pulumi } from "../../stack/pulumi";
import { exportedState, type StackState, stateKey } from "../../stack/state";
import { quotedNames, REPAIR_TYPE } from "../../stack/unfinished";

/** Entries are moved unchanged, with all other fields. */
const entry = z.looseObject({
  urn: z.string(),
  type: z.string(),
  id: z.string().optional(),
  delete: z.boolean().optional(),
  inputs: z.record(z.string(), z.unknown()).nullish(),
  outputs: z.record(z.string(), z.unknown()).nullish(),
  pendingReplacement: z.boolean().optional(),
  external: z.boolean().optional(),
});
const document = z.looseObject({
  deployment: z.looseObject({
    resources: z.array(entry).default([]),
  }),
});
type StateEntry = z.infer<typeof entry>;
type Document = z.infer<typeof document>;

interface Update {
  /** The state before the update. */
  readonly before: StackState;
  readonly targets: readonly string[];
  /** All targets are repaired. */
  readonly isDone: boolean;
}

/**
 * Restores the state after an update, whether or not it failed. The engine stores the results of its refresh even if it
 * does nothing else: the values that were deployed would be lost, deleted resources would disappear from the state, and
 * so would references to them (from children and dependants). What was not repaired is restored as it was before; the
 * rest stays as the update left it.
 * @throws if that is impossible. The secrets pass through standard input and output only.
 */
export async function putBack(cli: Pulumi, { before, targets, isDone }: Update): Promise<void> {
  const pulumi: Pulumi = (args, options) => cli(args, { ...options, isShielded: true });
  const then = documentOf(before).deployment.resources;
  const state = await exportedState(pulumi, true);
  const now = documentOf(state);
  const { resources: all } = now.deployment;
  const found = all.filter(({ type }) => type !== REPAIR_TYPE);
  const repaired = new Set(targets);
  const resources = merged(then, found, { targets: repaired, isDone });
  if (sameJson(resources, all)) return;
  // An import replaces the whole state, so it would undo changes that somebody else has made since.
  if (!isSame(then, found, repaired) || !isSame(found, then, repaired)) throw new Error("it has changed meanwhile");
  // An import drops pending operations, some of which name objects that may exist without being in the state.
  const kept = state.pending.filter((urn) => !repaired.has(urn) || state.creating.includes(urn));
  if (kept.length > 0) throw new Error(`it has operations that did not end: ${quotedNames(kept)}`);
  const input = JSON.stringify({ ...now, deployment: { ...now.deployment, resources } });
  const { ok, reason } = await pulumi(["stack", "import"], { input });
  if (!ok) throw new Error(reason);
}

/** Whether both states are equal, apart from the mark of a repair. */
export function isSameBesideMark(one: StackState, other: StackState): boolean {
  const [some, others] = [one, other].map((state) =>
    documentOf(state).deployment.resources.filter(({ type }) => type !== REPAIR_TYPE),
  ) as [StateEntry[], StateEntry[]]; // As many as were given.
  return isSame(some, others) && isSame(others, some);
}

/**
 * Whether the other entries contain each of these resources with the same values. Targets are left out, because the
 * update changes them; resources that are only read (`get`) may have been read again.
 */
function isSame(
  some: readonly StateEntry[],
  others: readonly StateEntry[],
  targets: ReadonlySet<string> = new Set(),
): boolean {
  const byKey = new Map(others.map((one) => [stateKey(one.urn, one), one]));
  return some.every((one) => {
    const other = byKey.get(stateKey(one.urn, one));
    if (targets.has(one.urn)) return true;
    if (other === undefined || one.external === true) return other !== undefined;
    return sameJson(withoutInternal(one), withoutInternal(other)) && sameJson(one.outputs, other.outputs);
  });
}

/** The engine adds internal fields to the inputs of a provider that an older engine has written. */
function withoutInternal({ inputs }: StateEntry): object {
  const { __internal: _internal, ...others } = inputs ?? {};
  return others;
}

function documentOf({ text }: StackState): Document {
  const { success, data } = document.safeParse(JSON.parse(text));
  if (!success) throw new Error("it is not what pulumi stack export writes");
  return data;
}

/** In the previous order: each entry after its dependencies. */
function merged(
  before: readonly StateEntry[],
  after: readonly StateEntry[],
  { targets, isDone }: { readonly targets: ReadonlySet<string>; readonly isDone: boolean },
): StateEntry[] {
  const standing = new Map(after.filter((one) => one.delete !== true).map((one) => [one.urn, one]));
  const leftovers = new Map(after.filter((one) => one.delete === true).map((one) => [stateKey(one.urn, one), one]));
  const kept = before.flatMap((one) => {
    if (one.delete === true) return leftovers.get(stateKey(one.urn, one)) ?? [];
    if (!targets.has(one.urn)) return one;
    return (isDone ? standing.get(one.urn) : undefined) ?? asRepaired(one, standing.get(one.urn));
  });
  const known = new Set(kept.map((one) => stateKey(one.urn, one)));
  return [...kept, ...after.filter((one) => one.delete === true && !known.has(stateKey(one.urn, one)))];
}

/** The state after the update, if the update has repaired the resource. */
function asRepaired(before: StateEntry, after: StateEntry | undefined): StateEntry {
  if (after === undefined) return before;
  if (after.id !== before.id || sameJson(before.inputs, after.inputs)) return after;
  // A replacement deleted the object and did not create the new one.
  return after.pendingReplacement === true ? { ...before, pendingReplacement: true } : before;
}
