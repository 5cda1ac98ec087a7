/** The types of the components, and the names of the resources in them. Both are stored in states and never change. */

const COMPONENTS = "svc:components:";
const COMPONENT_NAMES = ["ComputeGroup", "ProjectAuth"] as const;
export type ComponentName = (typeof COMPONENT_NAMES)[number];

export const componentType = (name: ComponentName): string => COMPONENTS + name;

/** Takes a type from the state. */
export const componentOfType = (type: string): ComponentName | undefined =>
  COMPONENT_NAMES.find((name) => componentType(name) === type);

const PRIMARY = "-primary";
const REPLICA = "-replica-";

/** The child names of a compute group. */
export const primaryName = (group: string): string => group + PRIMARY;
export const replicaName = (group: string, key: string | number): string => group + REPLICA + key;

/**
 * The number of a replica that the group declares by a count. Such a replica has no arguments of its own, so no
 * "adopt".
 */
export const countOfReplica = (name: string): string | undefined => /-replica-(\d+)$/.exec(name)?.[1];

/** The resource that a component always has: its kind, and the suffix that its name adds to the component's. */
export const MAIN_CHILD = {
  ComputeGroup: { kind: "ComputeEndpoint", suffix: PRIMARY },
  ProjectAuth: { kind: "AuthIntegration", suffix: "" },
} as const satisfies Record<ComponentName, object>;
