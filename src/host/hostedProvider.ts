import type * as pulumi from "@pulumi/pulumi";
import type { Properties } from "../contract/hiddenKeys";

/** What brings an object back to what is declared. */
export interface Repair {
  readonly action: "update" | "replace" | "create";
  /** It restarts a compute that is active. */
  readonly restarts: boolean;
  /** The words of a plan about it. */
  readonly messages: readonly string[];
}

/** The methods of a dynamic provider, all of them there. Apart from host.ts, so that the published types need no zod. */
export interface HostedProvider extends Required<pulumi.dynamic.ResourceProvider<Properties, Properties>> {
  /**
   * For reports of drift: what a plan would do and say. It asks nobody. `found`: the outs of a refresh, undefined where the
   * object is gone; `declared`: the inputs of the state.
   */
  repair(id: string, found: Properties | undefined, declared: Properties): Repair;
}
