import type * as pulumi from "@pulumi/pulumi";
import type { Properties } from "../../contract/hiddenKeys";
import type { Marked, Repair, Wrong } from "../../runtime/requests";

/** A dynamic provider with all methods. Not in provider.ts, so that the published types need no zod. */
export interface DynamicProvider extends Required<pulumi.dynamic.ResourceProvider<Properties, Properties>> {
  check(olds: Properties, news: Properties): Promise<pulumi.dynamic.CheckResult<Marked>>;
  create(inputs: Properties): Promise<pulumi.dynamic.CreateResult<Marked>>;
  read(id: string, props?: Properties): Promise<pulumi.dynamic.ReadResult<Marked>>;
  update(id: string, olds: Properties, news: Properties): Promise<pulumi.dynamic.UpdateResult<Marked>>;
  /**
   * For drift reports: what a plan would do and report. It sends nothing. `found`: the outs of a refresh, undefined if
   * the object is gone; `declared`: the inputs in the state.
   */
  repair(id: string, found: Properties | undefined, declared: Properties): Repair;
  /** For imports: the problems that `check` finds with inputs, with their paths. */
  problems(news: Properties): Promise<readonly Wrong[]>;
}
