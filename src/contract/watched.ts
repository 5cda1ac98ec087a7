/**
 * Outputs that nobody declares but whose change everybody should see: who owns an object, and which server an
 * application trusts through it.
 */
import { nameForm } from "./forms";
import type { Properties } from "./hiddenKeys";
import { isLoopback } from "./loopback";
import { type Kind, kindOfEntry } from "./pointer";

type IsSame = (first: string, now: string) => boolean;

/** By kind and output: whether two values mean the same. */
const WATCHED: { readonly [K in Kind]?: Readonly<Record<string, IsSame>> } = {
  AuthIntegration: {
    ownedBy: (first, now) => first === now,
    jwksUrl: (first, now) => originOf(first) === originOf(now),
  },
};

/** Another path on the same server is the same server. An emulator counts as one server at any port. */
function originOf(address: string): string {
  if (!URL.canParse(address)) return address;
  const { hostname, origin } = new URL(address);
  return isLoopback(hostname) ? "loopback" : origin;
}

export interface Changed {
  readonly name: string;
  readonly first: string;
  readonly now: string;
}

export const isWatched = (kind: Kind, name: string): boolean => Object.hasOwn(WATCHED[kind] ?? {}, name);

/**
 * The mark `__first` of new outs: the first value of each watched output that now has another value, or none. It stays
 * until that value is back, however often the state is refreshed. An output that newly appears has no first value.
 */
export function firstShown(kind: Kind, before: Properties, now: Properties): Properties {
  const first = { ...before, ...firstOf(before) };
  return Object.fromEntries(
    Object.entries(WATCHED[kind] ?? {}).flatMap(([name, isSame]) => {
      const [value, shown] = [textOf(first[name]), textOf(now[name])];
      return value === undefined || (shown !== undefined && isSame(value, shown)) ? [] : [[name, value]];
    }),
  );
}

/** The watched outputs that differ from their first value. */
export function changedSinceFirst(kind: Kind, outs: Properties): Changed[] {
  const all = firstOf(outs);
  return Object.entries(WATCHED[kind] ?? {}).flatMap(([name, isSame]) => {
    const [first, now] = [textOf(all[name]), textOf(outs[name])];
    return first === undefined || now === undefined || isSame(first, now) ? [] : { name, first, now };
  });
}

/** The ids of the AuthOwnershipTransfers among the resources of a stack. */
export const transfersIn = (
  resources: readonly {
    readonly type: string;
    readonly custom?: boolean | undefined;
    readonly id?: string | undefined;
  }[],
): string[] =>
  resources.flatMap((one) => (kindOfEntry(one) === "AuthOwnershipTransfer" && one.id !== undefined ? [one.id] : []));

export const isTransferOf = (transfer: string, integration: string): boolean =>
  nameForm(transfer).startsWith(`${nameForm(integration)}/`);

/** Without the ownership change that an AuthOwnershipTransfer of the same stack made: that one was declared. */
export const withoutTransfer = (changed: readonly Changed[], isTransferred: boolean): Changed[] =>
  changed.filter(({ name, now }) => !(isTransferred && name === "ownedBy" && now === "user"));

function firstOf({ __first }: Properties): Properties {
  // Its values are checked one by one.
  return typeof __first === "object" && __first !== null ? (__first as Properties) : {};
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
