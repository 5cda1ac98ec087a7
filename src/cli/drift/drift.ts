import { readFile } from "node:fs/promises";
import { type Format, orAsJson, publish, render } from "../report/render";
import { sharedObjectsIn } from "../stack/sharedObjects";
import { parsed, type StackState } from "../stack/state";
import { driftReport } from "./driftReport";
import { readEventLog } from "./eventLog";
import { appendToJobSummary } from "./jobSummary";
import { type IgnoreFile, readIgnoreFile } from "./ignoreFile";
import { lookedAt } from "./previewRefresh";
import { type Refreshed, refreshedBy } from "./refreshed";
import { type Report, reportSchema, stackOf, toReport } from "./report";
import { judged } from "./tolerated";
import { unmanagedObjects } from "./unmanaged";

export interface DriftFlags {
  /** The stacks to check. Empty: the selected one. */
  readonly stack?: readonly string[];
  readonly from?: string;
  readonly unmanaged?: true;
  /** How many seconds to wait for the end of a running update. */
  readonly wait?: number;
  readonly format: Format;
  readonly out?: string;
}

/**
 * Reports what was changed at the service outside Pulumi, and returns the exit code.
 * @throws a message for the user if that cannot be determined.
 */
export async function drift({ stack, from, unmanaged, wait, format, out }: DriftFlags): Promise<number> {
  const finding = from === undefined ? asked(stack ?? [], unmanaged === true, wait) : read(from);
  const report = driftReport(await orAsJson(format === "json", finding));
  const code = await publish(report, format, out);
  // Only for a new report; one that is read from a file is already in the summary.
  if (from === undefined) await appendToJobSummary(render(report, "markdown"));
  return code;
}

async function asked(
  names: readonly string[],
  withUnmanaged: boolean,
  waitSeconds: number | undefined,
): Promise<Report> {
  // First: an invalid file stops the command before any request.
  const file = readIgnoreFile();
  return lookedAt(names, { withSecrets: withUnmanaged, waitSeconds }, async (stacks) =>
    reportOf(
      stacks.flatMap(({ resources }) => resources),
      stacks.map(({ state }) => state),
      withUnmanaged ? await unmanagedObjects(stacks) : undefined,
      file,
    ),
  );
}

/** `undeclared`: undefined if it was not requested. */
function reportOf(
  resources: readonly Refreshed[],
  states: readonly StackState[],
  undeclared: Pick<Report, "unmanaged" | "byItself"> | undefined,
  file: IgnoreFile,
): Report {
  const stacks = resources.map(({ urn }) => stackOf(urn));
  const project = stacks[0]?.project ?? "";
  const names = [...new Set(stacks.map(({ stack }) => stack))].toSorted();
  return toReport(project, names.join(", "), {
    ignored: resources.flatMap(({ ignored }) => ignored ?? []),
    expiredDomains: resources.flatMap(({ expiredDomains }) => expiredDomains),
    byItself: undeclared?.byItself ?? [],
    sharedObjects: states.flatMap(sharedObjectsIn),
    ...judged(resources, undeclared?.unmanaged, file, new Date()),
  });
}

/** One of our reports, which is printed unchanged, or an event log. */
async function read(file: string): Promise<Report> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${error.code ?? error.message}`);
  });
  const json = parsed(text);
  const report = reportSchema.safeParse(json);
  if (report.success) return report.data;
  if (typeof json === "object" && json !== null && "steps" in json) {
    throw new Error(
      `${file} is a plan of pulumi preview --json, which does not distinguish drift from pending changes of the program. Run pulumi-svc drift without --from`,
    );
  }
  const { errors, results, isComplete } = eventsIn(file, text);
  if (errors.length > 0) throw new Error(`${file} is the log of a run that failed: ${errors[0]}`);
  if (!isComplete) throw new Error(`${file} is incomplete: the run did not finish`);
  const resources = refreshedBy(results);
  if (resources.length === 0) throw new Error(`${file} contains no refresh of a resource of pulumi-svc`);
  return reportOf(resources, [], undefined, readIgnoreFile());
}

function eventsIn(file: string, text: string): ReturnType<typeof readEventLog> {
  try {
    return readEventLog(text);
  } catch {
    throw new Error(`${file} is neither a report written with --format json nor an event log of the Pulumi CLI`);
  }
}
