import { appendToJobSummary } from "../drift/jobSummary";
import { type Format, orAsJson, publish, publishAs, render } from "../report/render";
import { type CheckOptions, FleetCheck } from "./check";
import { fleetReport } from "./fleetReport";
import { ProgressLine } from "./progress";
import { toPrometheus } from "./prometheus";

export type FleetFormat = Format | "prometheus";

export interface FleetDriftFlags extends CheckOptions {
  readonly format: FleetFormat;
  readonly out?: string;
}

/**
 * Reports the drift of many stacks without their engine, and returns the exit code. A stack about which nothing is
 * known is named; the others are reported.
 * @throws a message for the user if nothing could be checked.
 */
export async function fleetDrift(folders: readonly string[], flags: FleetDriftFlags): Promise<number> {
  const { format, out } = flags;
  const progress = new ProgressLine();
  const run = new FleetCheck(flags, progress).run(folders).finally(() => progress.end());
  const found = await orAsJson(format === "json", run);
  const report = fleetReport(found);
  const code =
    format === "prometheus" ? await publishAs(toPrometheus(found), report, out) : await publish(report, format, out);
  await appendToJobSummary(render(report, "markdown"));
  return code;
}
