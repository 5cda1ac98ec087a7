/** The state of a stack, and what changes it without a provider. */
import type { Properties, Timeouts } from "../../../../src/contract/hiddenKeys";
import type { Protocol, Kind } from "../../../../src/contract/pointer";
import { renamedUrn, type AnyKind } from "./urns";

/** What the engine stores of a resource. Inputs and outs contain the engine's marks of secrets. */
export interface Stored<Of extends AnyKind = AnyKind> {
  readonly urn: string;
  readonly kind: Of;
  readonly name: string;
  readonly id: string;
  readonly inputs: Properties;
  readonly outs: Properties;
  /** The last create or update ended with a partial error. */
  readonly unfinished: boolean;
  /** The inputs that are outputs of other resources: input names by URN. */
  readonly dependencies: Readonly<Record<string, readonly string[]>>;
  readonly dependsOn?: readonly string[];
  readonly parent?: string | undefined;
  readonly deletedWith?: string | undefined;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  readonly ignoreChanges?: readonly string[];
  readonly replaceOnChanges?: readonly string[];
  readonly secretOutputs?: readonly string[];
  readonly timeouts?: Timeouts | undefined;
  /** The explicit provider. */
  readonly provider?: string | undefined;
  /** Of the provider. @default that of its type */
  readonly protocol?: Protocol;
  /** A replaced object that is still to be deleted. */
  readonly toDelete?: boolean;
  /** Deleted, and not created again yet. */
  readonly pendingReplacement?: boolean;
  /** `pulumi state taint`. */
  readonly tainted?: boolean;
}

export type Entry = Stored<Kind>;

export const isComponent = ({ kind }: { readonly kind: AnyKind }): boolean => kind === "Group";

/** Of every type but the parent. */
const named = ({ dependencies, dependsOn = [], deletedWith }: Stored): readonly string[] => [
  ...Object.keys(dependencies),
  ...dependsOn,
  ...(deletedWith === undefined ? [] : [deletedWith]),
];

/** Everything that is deleted after it, as far as it precedes it in the state. */
export function dependenciesOf(entry: Stored, state: readonly Stored[]): Stored[] {
  const before = state.slice(0, state.indexOf(entry));
  const direct = before.filter(({ urn }) => named(entry).includes(urn));
  const inside = before.filter((one) => direct.some((other) => isComponent(other) && isWithin(one, other.urn, state)));
  const parents = before.filter(({ urn }) => urn === entry.parent);
  return [...new Set([...direct, ...inside, ...parents])];
}

function isWithin({ parent }: Stored, urn: string, state: readonly Stored[]): boolean {
  if (parent === undefined || parent === urn) return parent === urn;
  const container = state.find((one) => one.urn === parent);
  return container !== undefined && isWithin(container, urn, state);
}

/** Everything after it that depends on it, directly or not, in the order of the state. */
export function dependantsOf(
  entry: Stored,
  state: readonly Stored[],
  { children, ignored = new Set() }: { readonly children: boolean; readonly ignored?: ReadonlySet<string> },
): Stored[] {
  const reached = new Set([entry.urn]);
  return state.slice(state.indexOf(entry) + 1).filter((one) => {
    const isReached =
      !ignored.has(one.urn) &&
      (named(one).some((urn) => reached.has(urn)) || (children && one.parent !== undefined && reached.has(one.parent)));
    if (isReached) reached.add(one.urn);
    return isReached;
  });
}

/** As the engine writes it: what an entry names comes before it. */
export function inOrder<Of extends Stored>(state: readonly Of[]): Of[] {
  const placed = new Set<Of>();
  const begun = new Set<Of>();
  const place = (entry: Of): void => {
    if (begun.has(entry)) return;
    begun.add(entry);
    const before = [...named(entry), entry.parent];
    state.filter(({ urn, toDelete }) => toDelete !== true && before.includes(urn)).forEach(place);
    placed.add(entry);
  };
  state.forEach(place);
  return [...placed];
}

/** A state without what a refresh has found gone: nothing names it any more. */
export function withoutGone(state: readonly Stored[], isGone: (entry: Stored) => boolean): Stored[] {
  const known = new Set<string>();
  const parents = new Map<string, string | undefined>();
  for (const entry of state) parents.set(entry.urn, entry.parent);
  const nearest = (urn: string | undefined): string | undefined =>
    urn === undefined || known.has(urn) ? urn : nearest(parents.get(urn));
  return state
    .filter((entry) => !isGone(entry))
    .map((entry) => {
      const { dependencies, dependsOn = [], deletedWith, parent } = entry;
      const kept: Stored = {
        ...entry,
        dependencies: Object.fromEntries(Object.entries(dependencies).filter(([urn]) => known.has(urn))),
        dependsOn: dependsOn.filter((urn) => known.has(urn)),
        deletedWith: deletedWith !== undefined && known.has(deletedWith) ? deletedWith : undefined,
        parent: nearest(parent),
      };
      known.add(entry.urn);
      return kept;
    });
}

/** The state with another URN for a resource, wherever one names it. */
function renamedIn(state: readonly Stored[], from: string, to: string): Stored[] {
  const now = (urn: string): string => (urn === from ? to : urn);
  return state.map((entry) => ({
    ...entry,
    urn: now(entry.urn),
    dependencies: Object.fromEntries(Object.entries(entry.dependencies).map(([urn, keys]) => [now(urn), keys])),
    dependsOn: entry.dependsOn?.map(now) ?? [],
    deletedWith: entry.deletedWith && now(entry.deletedWith),
    parent: entry.parent && now(entry.parent),
  }));
}

/** `pulumi state rename`. @throws as the CLI refuses it. */
export function stateRename(state: readonly Stored[], urn: string, name: string): Stored[] {
  const found = oneIn(state, urn);
  const to = renamedUrn(urn, name);
  if (state.some((one) => one.urn === to)) throw new Error("the new URN corresponds to an already existing resource");
  return renamedIn(state, urn, to).map((entry, i) => (state[i] === found ? { ...entry, name } : entry));
}

/** `pulumi state taint`. @throws as the CLI refuses it. */
export function stateTaint(state: readonly Stored[], urn: string): Stored[] {
  const found = oneIn(state, urn);
  return state.map((entry) => (entry === found ? { ...entry, tainted: true } : entry));
}

function oneIn(state: readonly Stored[], urn: string): Stored {
  const [found, ...others] = state.filter((entry) => entry.urn === urn);
  if (found === undefined) throw new Error(`No such resource "${urn}" exists in the current state`);
  if (others.length > 0) throw new Error("The input URN ambiguously refers to multiple resources");
  return found;
}

/** The URNs of such entries, and of all that they depend on. */
export function withDependencies(state: readonly Stored[], isMeant: (entry: Stored) => boolean): ReadonlySet<string> {
  const found = new Set<Stored>();
  const add = (entry: Stored): void => {
    if (found.has(entry)) return;
    found.add(entry);
    dependenciesOf(entry, state).forEach(add);
  };
  state.filter(isMeant).forEach(add);
  return new Set([...found].map(({ urn }) => urn));
}
