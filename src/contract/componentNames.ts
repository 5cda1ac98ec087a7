/** The types of the components, and the names of the resources in them: both stand in the state, and never change. */

const COMPONENTS = "svc:components:";
const COMPONENT_NAMES = ["ComputeGroup", "ProjectAuth"] as const;
export type ComponentName = (typeof COMPONENT_NAMES)[number];

export const componentType = (name: ComponentName): string => COMPONENTS + name;

/** Of a type in the state. */
export const componentOfType = (type: string): ComponentName | undefined =>
  COMPONENT_NAMES.find((name) => componentType(name) === type);

const PRIMARY = "-primary";
const REPLICA = "-replica-";

/** Of a compute group. */
export const primaryName = (group: string): string => group + PRIMARY;
export const replicaName = (group: string, key: string | number): string => group + REPLICA + key;

/** The number of a replica that a count of the group declares: it has no arguments of its own, so no "adopt". */
export const countOfReplica = (name: string): string | undefined => /-replica-(\d+)$/.exec(name)?.[1];

/** The resource that a component always has: its kind, and what follows the component's name in its own. */
export const MAIN_CHILD = {
  ComputeGroup: { kind: "ComputeEndpoint", suffix: PRIMARY },
  ProjectAuth: { kind: "AuthIntegration", suffix: "" },
} as const satisfies Record<ComponentName, object>;
