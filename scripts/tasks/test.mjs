import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT } from "../lib/errors.mjs";
import { run } from "../lib/exec.mjs";
import { isInterrupted, onInterrupt } from "../lib/interrupt.mjs";
import { say } from "../lib/log.mjs";
import { NODE_MODULES } from "../lib/paths.mjs";
import { countTests, leaveResults } from "../lib/results.mjs";

/** The engine tests each start the CLI and several Node processes, and wait a good part of the time. */
const ENGINE_WORKERS = ["--maxWorkers=4"];

/** @type {import("../run.mjs").TaskRun} */
export const testAll = (toolchain, args) => jest(toolchain, ENGINE_WORKERS, args);

/** Much of them is waiting: for timers, not for a processor. @type {import("../run.mjs").TaskRun} */
export const testUnit = (toolchain, args) => jest(toolchain, ["--selectProjects=unit", "--maxWorkers=8"], args);

/** @type {import("../run.mjs").TaskRun} */
export const testRules = (toolchain, args) => jest(toolchain, ["--selectProjects=rules"], args);

/** @type {import("../run.mjs").TaskRun} */
export const testProcesses = (toolchain, args) => jest(toolchain, ["--selectProjects=processes"], args);

/** @type {import("../run.mjs").TaskRun} */
export const testEngine = (toolchain, args) => jest(toolchain, ["--selectProjects=engine", ...ENGINE_WORKERS], args);

/**
 * @param {import("../setup/setup.mjs").Toolchain} toolchain
 * @param {string[]} own
 * @param {string[]} extra from the command line; they come last, so that they win
 * @returns {Promise<number>}
 */
async function jest({ root, node, env }, own, extra) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-test-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const forget = onInterrupt(removeFolder);
  const report = join(folder, "report.json");
  try {
    const program = join(NODE_MODULES, "jest", "bin", "jest.js");
    const args = [program, ...own, "--json", `--outputFile=${report}`, ...extra];
    const { code } = await run(node, args, { cwd: root, env, inherit: true });
    const everything = extra.length === 0;
    const result = JSON.parse(readFileSync(report, "utf8"));
    const counts = countTests(result, everything);
    leaveResults(counts);
    if (counts.passed === 0) say("No test passed.");
    if (everything && result.numPendingTests > 0) say(`Skipped tests count as failed: ${result.numPendingTests}.`);
    return code === 0 && counts.failed === 0 ? EXIT.good : EXIT.failed;
  } catch (error) {
    if (isInterrupted()) throw error;
    say(`jest left no report: ${error instanceof Error ? error.message : String(error)}`);
    leaveResults({ passed: 0, failed: 1 });
    return EXIT.failed;
  } finally {
    forget();
    removeFolder();
  }
}
