import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, messageOf } from "../lib/errors.mjs";
import { run } from "../lib/exec.mts";
import { interrupted } from "../lib/interrupt.mts";
import { say } from "../lib/log.mjs";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";
import { countTests, leaveResults } from "../lib/results.mts";

/**
 * The engine tests each start the CLI and several Node processes, and the unit tests wait for timers: both wait a good
 * part of the time, so that more of them run at once than there are processors.
 */
const SUITES = {
  all: ["--maxWorkers=4"],
  unit: ["--selectProjects=unit", "--maxWorkers=8"],
  rules: ["--selectProjects=rules"],
  processes: ["--selectProjects=processes"],
  engine: ["--selectProjects=engine", "--maxWorkers=4"],
};

/** The arguments of the command line come last, so that they win. */
export async function test(suite: keyof typeof SUITES, extra: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-test-"));
  const report = join(folder, "report.json");
  const program = join(NODE_MODULES, "jest", "bin", "jest.js");
  const args = [program, ...SUITES[suite], "--json", `--outputFile=${report}`, ...extra];
  try {
    const { code } = await run(NODE, args, { inherit: true });
    const everything = extra.length === 0;
    const result = JSON.parse(readFileSync(report, "utf8"));
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
