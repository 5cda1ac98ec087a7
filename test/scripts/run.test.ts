import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  call,
  environment,
  fakeExecutable,
  runProcess,
  SCRIPTS,
  temporaryFolder,
  type Ended,
} from "../support/scripts";

const CI_RUN = join(SCRIPTS, "..", ".ci", "run");

describe("the tasks", () => {
  const task = (...args: string[]): Promise<Ended> =>
    runProcess(process.execPath, [join(SCRIPTS, "run.mjs"), ...args], {
      env: environment([], { PULUMI_SVC_ROOT: temporaryFolder() }),
    });

  test("are listed by --help, each of package.json among them", async () => {
    const { code, output } = await task("--help");
    expect(code).toBe(0);
    const manifest = readFileSync(join(SCRIPTS, "..", "package.json"), "utf8");
    const named = [...manifest.matchAll(/scripts\/run\.mjs ([\w:]+)"/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(5);
    for (const name of named) expect(output).toContain(`\n  ${name} `);
  });

  test("print their own usage before anything is set up", async () => {
    const { code, output } = await task("quickstart", "--help");
    expect(code).toBe(0);
    expect(output).toContain("--keep");
    expect(output).not.toContain("npm ci");
  });

  test("end with 2 for an unknown task", async () => {
    const { code, output } = await task("quikstart");
    expect(code).toBe(2);
    expect(output).toContain('There is no task "quikstart".');
    expect((await task()).code).toBe(2);
  });

  test("end with 3 and advice when the set-up fails", async () => {
    const { code, output } = await task("test");
    expect(code).toBe(3);
    expect(output).toMatch(/Set-up failed: there is no package\.json .*\n\nWhat to do: Run this in a clone\./);
  });
});

test.each([
  ["rules", "test/rules/time.test.ts"],
  ["processes", "test/index.test.ts"],
  ["services", "test/postgres/connections.test.ts"],
])("a path that is given to test:%s is all that runs", async (suite, path) => {
  const folder = temporaryFolder();
  const report = join(folder, "report.json");
  const given = [[`--selectProjects=${suite}`], [path, "--listTests"], report].map((part) => JSON.stringify(part));
  const { value } = await call("tasks/test.mts", "jestArguments", given, environment([]));
  const root = join(SCRIPTS, "..");
  const jest = join(root, "node_modules/jest/bin/jest.js");
  // A list of strings, as the tests of the script are not typed.
  await runProcess(process.execPath, [jest, ...(value as string[])], { env: environment([]), cwd: root });
  expect(JSON.parse(readFileSync(report, "utf8"))).toEqual([join(root, path)]);
});

describe("what jest's report counts as", () => {
  const count = async (report: Record<string, number>, everything = true): Promise<unknown> =>
    (await call("tasks/test.mts", "countTests", [JSON.stringify(report), String(everything)], environment([]))).value;
  const none = { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0, numPendingTests: 0 };

  test("a file that cannot be loaded is a failure", async () => {
    const report = { ...none, numPassedTests: 5, numFailedTests: 1, numRuntimeErrorTestSuites: 2 };
    expect(await count(report)).toEqual({ passed: 5, failed: 3 });
  });

  test("a run without a test is a failure", async () => {
    expect(await count(none)).toEqual({ passed: 0, failed: 1 });
  });

  test("a skipped test is a failure, unless only some were asked for", async () => {
    const report = { ...none, numPassedTests: 5, numPendingTests: 2 };
    expect(await count(report)).toEqual({ passed: 5, failed: 2 });
    expect(await count(report, false)).toEqual({ passed: 5, failed: 0 });
  });
});

describe("a whole run in which few files failed", () => {
  const file = (name: string, ...statuses: string[]) => ({
    name,
    status: statuses.includes("failed") || statuses.length === 0 ? "failed" : "passed",
    assertionResults: statuses.map((status) => ({ status, fullName: status })),
  });
  const report = (...files: ReturnType<typeof file>[]) => {
    const all = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
    const count = (wanted: string): number => all.filter((status) => status === wanted).length;
    return {
      numPassedTests: count("passed"),
      numFailedTests: count("failed"),
      numRuntimeErrorTestSuites: files.filter(({ assertionResults }) => assertionResults.length === 0).length,
      numPendingTests: count("pending"),
      testResults: files,
    };
  };
  const ask = async (name: string, ...args: object[]): Promise<unknown> =>
    (
      await call(
        "tasks/test.mts",
        name,
        args.map((arg) => JSON.stringify(arg)),
        environment([]),
      )
    ).value;
  const good = file("good", "passed", "passed", "pending");
  const bad = file("bad", "passed", "failed");
  const notLoaded = file("not loaded");

  test("those are run again, and where many failed, none is", async () => {
    expect(await ask("failedFiles", report(good, bad, notLoaded))).toEqual(["bad", "not loaded"]);
    const many = ["a", "b", "c", "d"].map((name) => file(name, "failed"));
    expect(await ask("failedFiles", report(good, ...many))).toEqual([]);
  });

  test("the second run counts for its files, and only for them", async () => {
    const first = report(good, bad, notLoaded);
    const alone = report(file("bad", "passed", "passed"), file("not loaded", "passed"));
    expect(await ask("withSecondRun", first, alone)).toEqual({
      numPassedTests: 5,
      numFailedTests: 0,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 1,
    });
    expect(await ask("withSecondRun", first, report(bad, notLoaded))).toEqual({
      numPassedTests: 3,
      numFailedTests: 1,
      numRuntimeErrorTestSuites: 1,
      numPendingTests: 1,
    });
  });
});

describe(".ci/run", () => {
  /** Runs it with an npm that leaves these counts and ends with these codes. */
  async function ci(test: [string | undefined, number], check: [string | undefined, number]): Promise<Ended> {
    const bin = temporaryFolder();
    const part = ([counts, code]: [string | undefined, number]): string =>
      `${counts === undefined ? "true" : `echo '${counts}' > "$PULUMI_SVC_RESULTS"`}; exit ${code}`;
    fakeExecutable(
      bin,
      "npm",
      `[ "$CI" = true ] || exit 99
       case "$1" in test) ${part(test)};; run) ${part(check)};; esac`,
    );
    return await runProcess("bash", [CI_RUN], { env: environment([bin], { HOME: temporaryFolder() }) });
  }
  const counts = (passed: number, failed: number): string => JSON.stringify({ passed, failed });
  const closingLines = ({ output }: Ended): string[] =>
    output.split("\n").filter((line) => /^\d+ passed, \d+ failed$/.test(line));

  test("adds tests and checks up in one closing line", async () => {
    const ended = await ci([counts(120, 0), 0], [counts(9, 0), 0]);
    expect(ended.code).toBe(0);
    expect(closingLines(ended)).toEqual(["129 passed, 0 failed"]);
    expect(ended.output.trimEnd().split("\n").at(-1)).toBe("129 passed, 0 failed");
  });

  test("fails when a test or a check failed", async () => {
    const ended = await ci([counts(118, 2), 1], [counts(8, 1), 1]);
    expect(ended.code).toBe(1);
    expect(closingLines(ended)).toEqual(["126 passed, 3 failed"]);
  });

  test("counts a part that did not get as far as its counts as one failure", async () => {
    const ended = await ci([undefined, 3], [counts(9, 0), 0]);
    expect(ended.code).toBe(1);
    expect(closingLines(ended)).toEqual(["9 passed, 1 failed"]);
  });

  test("does not trust good counts of a part that ended badly", async () => {
    const ended = await ci([counts(120, 0), 1], [counts(9, 0), 0]);
    expect(ended.code).toBe(1);
    expect(closingLines(ended)).toEqual(["129 passed, 1 failed"]);
  });
});
