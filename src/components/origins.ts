/**
 * Maps an argument of a component's child to the argument of the component that it comes from: `drift --accept` edits
 * the program there. The classes make the children; a test compares both for every argument of every child. Loads no
 * SDK.
 */
import { type ComponentName, primaryName, replicaName } from "../contract/componentNames";
import { isObject } from "../helpers/given";

/** A path among the arguments of a component. */
export type Origin = readonly (string | number)[];

export interface ComponentChild {
  readonly kind: string;
  readonly name: string;
}

interface ComponentArguments {
  /** The component's name. */
  readonly name: string;
  /** The known arguments. */
  readonly args: Readonly<Record<string, unknown>>;
}

type OriginOf = (argument: string, child: ComponentChild, component: ComponentArguments) => Origin | undefined;

const ofGroup: OriginOf = (argument, child, { name, args: { replicas } }) => {
  if (argument === "projectId" || argument === "branchId") return [argument];
  // The group decides which compute is the primary.
  if (argument === "type") return undefined;
  if (child.name === primaryName(name)) return ["primary", argument];
  if (Array.isArray(replicas)) {
    const index = replicas.findIndex(
      (replica: unknown, at) => isObject(replica) && replicaName(name, keyOf(replica, at)) === child.name,
    );
    return index < 0 ? undefined : ["replicas", index, argument];
  }
  return typeof replicas === "number" && !OF_PRIMARY_ALONE.includes(argument) ? ["primary", argument] : undefined;
};

/**
 * With a number of replicas, each copies the primary except for its identity and its protection (a smaller number
 * deletes some).
 */
const OF_PRIMARY_ALONE = ["name", "adopt", "deletionProtection"];

/** The key in the name of a replica in a list. */
export const keyOf = ({ key }: { readonly key?: unknown }, index: number): string =>
  typeof key === "string" ? key : String(index);

const ofAuth: OriginOf = (argument, { kind, name: child }, { name }) => {
  if (argument === "projectId") return [argument];
  switch (kind) {
    case "AuthIntegration":
      return [argument];
    case "OAuthProvider":
      return argument === "providerId" ? undefined : ["oauth", child.slice(`${name}-`.length), argument];
    case "EmailServer":
      return ["email", argument];
    case "Whitelist":
      return [argument === "domains" ? "redirectDomains" : argument];
    default:
      // A WhitelistDomain has its domain in its name, so another domain is another resource.
      return argument === "authProvider" ? [argument] : undefined;
  }
};

const ORIGINS: Readonly<Record<ComponentName, OriginOf>> = { ComputeGroup: ofGroup, ProjectAuth: ofAuth };

/** The arguments of a child that come from those of the component, by name. `names`: all arguments of its kind. */
export function originsOf(
  component: ComponentName,
  declared: ComponentArguments,
  child: ComponentChild,
  names: readonly string[],
): ReadonlyMap<string, Origin> {
  return new Map(
    names.flatMap((argument) => {
      const origin = ORIGINS[component](argument, child, declared);
      return origin === undefined ? [] : [[argument, origin] as const];
    }),
  );
}
