import { appendFile, stat } from "node:fs/promises";
import { say } from "../report/terminal";
import { text } from "../report/text";

/**
 * Appends a report in Markdown to the CI's job summary, if there is one. The report is already printed, so a failure
 * here is not fatal.
 */
export async function appendToJobSummary(report: string): Promise<void> {
  const file = process.env["GITHUB_STEP_SUMMARY"] ?? "";
  if (file === "") return;
  const before = await stat(file).catch(() => ({ size: 0 }));
  await appendFile(file, shortened(report, LARGEST_SUMMARY - before.size)).catch((error: NodeJS.ErrnoException) => {
    say(text`the job summary could not be written: ${error.code ?? error.message}`);
  });
}

/** For one step, in bytes. GitHub drops a larger summary entirely. */
const LARGEST_SUMMARY = 1_024 * 1_024;
const SHORTENED =
  "\n\nThe report is too long for a job summary, so only its beginning is shown here. The log has all of it.\n";

/** The first lines, if the whole report exceeds this number of bytes. */
function shortened(report: string, most: number): string {
  if (Buffer.byteLength(report) <= most) return report;
  let left = most - Buffer.byteLength(SHORTENED);
  const lines = report.split("\n");
  const end = lines.findIndex((line) => (left -= Buffer.byteLength(line) + 1) < 0);
  return end <= 0 ? "" : lines.slice(0, end).join("\n") + SHORTENED;
}
