import { writeFileSync } from "node:fs";

export interface Counts {
  passed: number;
  failed: number;
}

/** Leaves the counts of a task for .ci/run, in the file that PULUMI_SVC_RESULTS names. */
export function leaveResults({ passed, failed }: Counts): void {
  const file = process.env.PULUMI_SVC_RESULTS;
  if (file) writeFileSync(file, `${JSON.stringify({ passed, failed })}\n`);
}

type Report = Record<"numPassedTests" | "numFailedTests" | "numRuntimeErrorTestSuites" | "numPendingTests", number>;

/**
 * The counts of jest's JSON report. A test file that could not be loaded counts as one failure, and so does a run
 * in which no test ran. In a run of everything a skipped test is a failure too: nothing else would tell of it.
 */
export function countTests(report: Report, everything: boolean): Counts {
  const skipped = everything ? report.numPendingTests : 0;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites + skipped;
  const passed = report.numPassedTests;
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}
