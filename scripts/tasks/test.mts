import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, leaveResults, messageOf, say } from "../lib/console.mjs";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";
import { interrupted, run } from "../lib/processes.mts";

/**
 * The engine tests each start the CLI and several Node processes, and the unit tests wait for timers: both wait a good
 * part of the time, so that more of them run at once than there are processors.
 */
const SUITES: Record<string, string[]> = {
  test: ["--maxWorkers=4"],
  "test:unit": ["--selectProjects=unit", "--maxWorkers=8"],
  "test:rules": ["--selectProjects=rules"],
  "test:processes": ["--selectProjects=processes"],
  "test:services": ["--selectProjects=services"],
  "test:engine": ["--selectProjects=engine", "--maxWorkers=4"],
};

/** Campaigns of the engine tests: a part of each runs with all tests, and the whole of it here. */
export const CAMPAIGNS: Record<string, string> = {
  "test:consumers": "test/engine/(consumers|exampleCopies).test.ts",
  "test:faults": "test/engine/faultCampaign.test.ts",
  "test:kills": "test/engine/(kills|driftKills).test.ts",
  "test:upgrades": "test/engine/(upgrades|marked).test.ts",
};

type Report = Record<"numPassedTests" | "numFailedTests" | "numRuntimeErrorTestSuites" | "numPendingTests", number>;

/**
 * The counts of jest's JSON report. A test file that could not be loaded counts as one failure, and so does a run
 * in which no test ran. In a run of everything a skipped test is a failure too: nothing else would tell of it.
 * @public for the tests
 */
export function countTests(report: Report, everything: boolean): { passed: number; failed: number } {
  const skipped = everything ? report.numPendingTests : 0;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites + skipped;
  const passed = report.numPassedTests;
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}

/** The arguments of the command line come last, so that they win. */
export async function test(suite: string, extra: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-test-"));
  const report = join(folder, "report.json");
  const program = join(NODE_MODULES, "jest", "bin", "jest.js");
  const campaign = CAMPAIGNS[suite];
  if (campaign !== undefined) process.env.PULUMI_SVC_WHOLE = "1";
  const chosen = campaign === undefined ? SUITES[suite] : [campaign, "--selectProjects=engine"];
  const args = [program, ...chosen, "--json", `--outputFile=${report}`, ...extra];
  try {
    const { code } = await run(NODE, args, { inherit: true });
    const everything = campaign === undefined && extra.length === 0;
    const result: Report = JSON.parse(readFileSync(report, "utf8"));
    const counts = countTests(result, everything);
    leaveResults(counts);
    if (counts.passed === 0) say("No test passed.");
    if (everything && result.numPendingTests > 0) say(`Skipped tests count as failed: ${result.numPendingTests}.`);
    return code === 0 && counts.failed === 0 ? EXIT.good : EXIT.failed;
  } catch (error) {
    interrupted.throwIfAborted();
    say(`jest left no report: ${messageOf(error)}`);
    leaveResults({ passed: 0, failed: 1 });
    return EXIT.failed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
