import * as pulumi from "@pulumi/pulumi";
import { componentType, primaryName, replicaName } from "../contract/componentNames";
import { isObject, isOutput, mustBe, objectProblems } from "../helpers/given";
import { ownerOf } from "../program/owner";
import { withInheritedAliases } from "../program/resourceOptions";
import { ComputeEndpoint, type ComputeEndpointArgs } from "../resources/computeEndpoint/ComputeEndpoint";
import { declaration as computeEndpoint } from "../resources/computeEndpoint/computeEndpointDeclaration";
import { childOptions, refuse } from "./component";
import { keyOf } from "./origins";

const TYPE = componentType("ComputeGroup");
/** In characters; the service's limit (docs/design/api.md, Compute record). */
const LONGEST_NAME = 64;

/** A compute of the group: the arguments of `ComputeEndpoint` without those that the group sets. */
export interface GroupComputeArgs extends Omit<ComputeEndpointArgs, "projectId" | "branchId" | "type"> {}

/** A read replica of the group: a compute with a key. */
export interface GroupReplicaArgs extends Omit<GroupComputeArgs, "adopt"> {
  /**
   * The key in the name of the replica in the stack, `<group>-replica-<key>`. Set one if replicas may be removed from
   * the middle of the list: the default changes with the position.
   * @default its position in the list, from 0
   */
  key?: string;
  /**
   * Takes over the read replica with this id (`"ep-…"`) instead of creating one. Changing this later has no effect.
   * @default false
   */
  adopt?: pulumi.Input<string | false> | undefined;
}

export interface ComputeGroupArgs {
  /** The project. Changing it replaces all computes of the group. */
  projectId: pulumi.Input<string>;
  /** The branch that all of them serve. Changing it moves all of them; they keep their ids and hosts. */
  branchId: pulumi.Input<string>;
  /** The one compute of the branch that can write. */
  primary: GroupComputeArgs;
  /**
   * The number of read replicas, or a list of them. With a number, each replica has the size and the settings of the
   * primary, but not its `deletionProtection`. Its name at the service is `<group>-replica-<key>` (cut to 64 characters), so that a compute that an
   * interrupted creation left behind is recognized. In a list, a replica has a name at the service only if you give
   * one. A compute that was left behind can be taken over only in a list: by an entry with its number as `key`, the
   * same `name`, and `adopt`.
   * @default 0
   */
  replicas?: number | GroupReplicaArgs[];
}

/**
 * A branch's primary compute and its read replicas. The computes are `<name>-primary` and `<name>-replica-<key>`,
 * children of this component; the replicas are created after the primary and deleted before it. `customTimeouts` of the
 * component apply to each of its computes.
 *
 * The program of examples/read-replicas declares one.
 *
 * @example
 * ```ts
 * const db = new svc.ComputeGroup("db", {
 *   projectId: "prj-demo",
 *   branchId: "br-main",
 *   primary: { size: 2, adopt: true },
 *   replicas: [{ key: "reports", name: "reports", size: 1 }],
 * });
 * export const hosts = db.hosts;
 * ```
 */
export class ComputeGroup extends pulumi.ComponentResource {
  /** The compute `<name>-primary`. */
  readonly primary: ComputeEndpoint;
  /** The computes `<name>-replica-<key>`, in the order of the list. */
  readonly replicas: readonly ComputeEndpoint[];
  /**
   * The host names to connect to: the primary for writing, the replicas for reading, by their keys (`"0"`, `"1"`, … if
   * they have none, or if a number of replicas is given).
   */
  readonly hosts: pulumi.Output<{ primary: string; replicas: { [key: string]: string } }>;

  constructor(name: string, args: ComputeGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    refuse(ownerOf("ComputeGroup", name), opts, argumentProblems(args));
    super(TYPE, name, {}, withInheritedAliases(name, TYPE, opts ?? {}));
    const { projectId, branchId } = args;
    const child = childOptions(this, opts);
    this.primary = new ComputeEndpoint(
      primaryName(name),
      { ...args.primary, projectId, branchId, type: "read_write" },
      child,
    );
    const replicas = replicasOf(name, args).map(({ key, ...replica }) => {
      const options = { ...child, dependsOn: this.primary };
      const read = { ...replica, projectId, branchId, type: "read_only" } as const;
      return { key, compute: new ComputeEndpoint(replicaName(name, key), read, options) };
    });
    this.replicas = replicas.map(({ compute }) => compute);
    this.hosts = pulumi.output({
      primary: this.primary.host,
      replicas: Object.fromEntries(replicas.map(({ key, compute }) => [key, compute.host])),
    });
    this.registerOutputs({ primary: this.primary, replicas: this.replicas, hosts: this.hosts });
  }
}

function replicasOf(name: string, { primary, replicas = 0 }: ComputeGroupArgs): (GroupReplicaArgs & { key: string })[] {
  if (typeof replicas === "number") {
    // A replica does not adopt the primary's compute and has its own name. A smaller number deletes some replicas, so
    // they are not protected.
    const { adopt: _adopt, name: _name, deletionProtection: _protection, ...like } = primary;
    return Array.from({ length: replicas }, (_, index) => ({
      ...like,
      name: nameAtService(name, index),
      key: String(index),
    }));
  }
  return replicas.map((replica, index) => ({ ...replica, key: keyOf(replica, index) }));
}

const ARGS = ["projectId", "branchId", "primary", "replicas"] as const satisfies readonly (keyof ComputeGroupArgs)[];

/** The arguments that the group passes on to each compute. */
const COMPUTE_ARGS = Object.keys(computeEndpoint.args).filter(
  (name) => !["projectId", "branchId", "type"].includes(name),
);

function argumentProblems(args: unknown): string[] {
  const problems = objectProblems(args, "", { known: ARGS, required: ["projectId", "branchId"] });
  if (!isObject(args)) return problems;
  const { primary, replicas } = args;
  problems.push(...objectProblems(primary, "primary", { known: COMPUTE_ARGS }));
  if (Array.isArray(replicas)) problems.push(...listProblems(replicas));
  else if (replicas !== undefined && !(Number.isInteger(replicas) && Number(replicas) >= 0)) {
    const each = isOutput(replicas) ? ": each is a resource of its own" : "";
    problems.push(`replicas: ${mustBe("a whole number, 0 or more, or a list", "number", replicas)}${each}`);
  }
  return problems;
}

function listProblems(replicas: readonly unknown[]): string[] {
  const problems = replicas.flatMap((replica, index) => {
    const path = `replicas[${index}]`;
    const key = isObject(replica) ? replica["key"] : undefined;
    const isKey = key === undefined || (typeof key === "string" && key !== "");
    return [
      ...objectProblems(replica, path, { known: ["key", ...COMPUTE_ARGS] }),
      ...(isKey ? [] : [`${path}.key: must be a string that is not empty`]),
    ];
  });
  const keys = replicas.map((replica, index) => keyOf(isObject(replica) ? replica : {}, index));
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  return twice === undefined ? problems : [...problems, `replicas: two of them have the key "${twice}"`];
}

/** At most 64 characters, and different for each sibling: only the group's name is cut, between whole characters. */
function nameAtService(group: string, index: number): string {
  const suffix = replicaName("", index);
  const cut = group.slice(0, LONGEST_NAME - suffix.length);
  return cut.replace(/[\uD800-\uDBFF]$/, "") + suffix;
}
