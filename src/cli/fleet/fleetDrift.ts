import { terminalJson, wantsColours } from "../output";
import { deliver, EXIT_FAILURE } from "../drift/deliver";
import { appendToJobSummary } from "../drift/jobSummary";
import { type CheckOptions, FleetCheck } from "./check";
import { type FleetFormat, render, summary } from "./formats";
import { ProgressLine } from "./progress";
import { exitCode } from "./report";

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
  const report = await new FleetCheck(flags, progress)
    .run(folders)
    .finally(() => progress.end())
    .catch((error: Error) => {
      if (format === "json") process.stdout.write(`${terminalJson({ messages: error.message.split("\n") })}\n`);
      throw error;
    });
  const text = render(report, format, out === undefined && wantsColours());
  const isDelivered = await deliver(text, { out, summary: summary(report) });
  await appendToJobSummary(render(report, "markdown"));
  return isDelivered ? exitCode(report) : EXIT_FAILURE;
}
