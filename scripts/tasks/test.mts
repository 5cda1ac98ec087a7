import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { EXIT, leaveResults, messageOf, say, UsageError } from "../lib/console.mjs";
import { NODE, NODE_MODULES, ROOT } from "../lib/paths.mjs";
import { interrupted, run } from "../lib/processes.mts";

/**
 * The engine tests each start the CLI and several Node processes, and the unit tests wait for timers. Both are often
 * idle, so more of them run at once than there are processors.
 */
const SUITES: Record<string, string[]> = {
  test: ["--maxWorkers=5"],
  "test:unit": ["--selectProjects=unit", "--maxWorkers=8"],
  "test:rules": ["--selectProjects=rules"],
  "test:processes": ["--selectProjects=processes"],
  "test:services": ["--selectProjects=services"],
  "test:engine": ["--selectProjects=engine", "--maxWorkers=4"],
};

/** Room for short-lived objects, which spares jest and its workers a seventh of their processor time. */
const ROOM = ["--min-semi-space-size=64", "--max-semi-space-size=128"];

/** Campaigns of the engine tests: part of each runs with all tests, and the whole of it here. */
export const CAMPAIGNS: Record<string, string> = {
  "test:chance": "test/chance/(imitation|imitationProtocols|engine).test.ts",
  "test:consumers": "test/engine/(consumers|exampleCopies).test.ts",
  "test:faults": "test/engine/faultCampaign.test.ts",
  "test:kills": "test/engine/(kills|driftKills).test.ts",
  "test:upgrades": "test/engine/(upgrades|marked).test.ts",
};

type Counts = Record<"numPassedTests" | "numFailedTests" | "numRuntimeErrorTestSuites" | "numPendingTests", number>;

interface Report extends Counts {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/**
 * The counts of jest's JSON report. A test file that could not be loaded counts as one failure, and so does a run
 * without any test. In a complete run a skipped test is a failure as well, because nothing else would report it.
 * @public for the tests
 */
export function countTests(report: Counts, everything: boolean): { passed: number; failed: number } {
  const skipped = everything ? report.numPendingTests : 0;
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites + skipped;
  const passed = report.numPassedTests;
  return { passed, failed: passed + failed === 0 ? 1 : failed };
}

/** If more files fail, it is not by chance. */
const MOST_AGAIN = 3;

/**
 * The files of a complete run that are run again, alone. On a shared machine, one of hundreds of files that start
 * processes occasionally fails without a reason in the code: the run names the file, and uses the result of the second
 * run.
 * @public for the tests
 */
export function failedFiles({ testResults }: Report): string[] {
  const failed = testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
  return failed.length > MOST_AGAIN ? [] : failed;
}

/**
 * The counts of both runs: the second run replaces the first for the same files.
 * @public for the tests
 */
export function withSecondRun(first: Report, second: Report): Counts {
  const again = failedFiles(first);
  const replaced = first.testResults.filter(({ name }) => again.includes(name));
  const passedBefore = replaced.flatMap((file) => file.assertionResults).filter(({ status }) => status === "passed");
  return {
    numPassedTests: first.numPassedTests - passedBefore.length + second.numPassedTests,
    numFailedTests: second.numFailedTests,
    numRuntimeErrorTestSuites: second.numRuntimeErrorTestSuites,
    numPendingTests: first.numPendingTests,
  };
}

function sayWhatFailedBesideOthers(first: Report): void {
  for (const { name, assertionResults } of first.testResults) {
    if (!failedFiles(first).includes(name)) continue;
    const titles = assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
    say(`Failed in parallel, passed alone: ${relative(ROOT, name)}: ${titles.join("; ")}. Find out why.`);
  }
}

/** How long histories by chance are looked at, and from which seed: the tests read both from the environment. */
function setChance(args: string[]): void {
  const options = { seed: { type: "string" }, minutes: { type: "string", default: "20" } } as const;
  let values: { seed?: string; minutes?: string };
  try {
    ({ values } = parseArgs({ args, options }));
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
  for (const [option, value] of Object.entries(values)) {
    if (!/^\d+$/.test(value)) throw new UsageError(`--${option} takes a whole number.`);
    process.env[`PULUMI_SVC_CHANCE_${option.toUpperCase()}`] = value;
  }
}

/**
 * The arguments of the command line come last, so that they take precedence, and behind an option with one value: jest
 * takes a path behind `--selectProjects=name` for the name of another project.
 * @public for the tests
 */
export const jestArguments = (options: string[], given: string[], report: string): string[] => [
  ...options,
  "--json",
  `--outputFile=${report}`,
  ...given,
];

export async function test(suite: string, extra: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-test-"));
  const report = join(folder, "report.json");
  const program = join(NODE_MODULES, "jest", "bin", "jest.js");
  const campaign = CAMPAIGNS[suite];
  if (campaign !== undefined) process.env.PULUMI_SVC_WHOLE = "1";
  if (suite === "test:chance") setChance(extra.splice(0));
  const chosen =
    campaign === undefined ? SUITES[suite] : [campaign, "--selectProjects=engine", "--selectProjects=rules"];
  const jest = async (options: string[], given: string[]): Promise<{ code: number; result: Report }> => {
    const { code } = await run(NODE, [...ROOM, program, ...jestArguments(options, given, report)], { inherit: true });
    return { code, result: JSON.parse(readFileSync(report, "utf8")) };
  };
  try {
    const everything = campaign === undefined && extra.length === 0;
    const first = await jest(chosen, extra);
    const again = everything && suite === "test" ? failedFiles(first.result) : [];
    let { code } = first;
    let counted: Counts = first.result;
    if (again.length > 0) {
      say(`Running again, one at a time: ${again.length} failed.`);
      const second = await jest(["--maxWorkers=1", "--runTestsByPath"], again);
      if (second.code === 0) sayWhatFailedBesideOthers(first.result);
      code = second.code;
      counted = withSecondRun(first.result, second.result);
    }
    const counts = countTests(counted, everything);
    leaveResults(counts);
    if (counts.passed === 0) say("No test passed.");
    if (everything && counted.numPendingTests > 0) say(`Skipped tests count as failed: ${counted.numPendingTests}.`);
    return code === 0 && counts.failed === 0 ? EXIT.good : EXIT.failed;
  } catch (error) {
    interrupted.throwIfAborted();
    say(`jest wrote no report: ${messageOf(error)}`);
    leaveResults({ passed: 0, failed: 1 });
    return EXIT.failed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
