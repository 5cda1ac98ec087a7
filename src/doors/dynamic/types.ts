import type * as pulumi from "@pulumi/pulumi";
import type { Properties } from "../../contract/hiddenKeys";
import type { Repair, Wrong } from "../../host/requests";

/** The methods of a dynamic provider, all of them there. Apart from provider.ts, so that the published types need no zod. */
export interface DynamicProvider extends Required<pulumi.dynamic.ResourceProvider<Properties, Properties>> {
  /**
   * For reports of drift: what a plan would do and report. It sends nothing. `found`: the outs of a refresh, undefined where the
   * object is gone; `declared`: the inputs of the state.
   */
  repair(id: string, found: Properties | undefined, declared: Properties): Repair;
  /** For imports: what `check` finds wrong with inputs, and at which path. */
  problems(news: Properties): Promise<readonly Wrong[]>;
}
