import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Stryker } from "@stryker-mutator/core";
import { EXIT, leaveResults, say, UsageError } from "../lib/console.mjs";
import { ROOT } from "../lib/paths.mjs";

/** In percent of the mutants that a test could detect, for each group. */
const GOAL = 80;
/** The number of lines in a stretch of the sample: mutants that span more lines are in no sample. */
const STRETCH = 10;

type MutantResult = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

interface Group {
  readonly mutate: string[];
  /**
   * The group's own tests; if they detect too few mutants, wider tests run for the rest. All tests for each mutant
   * would take days.
   */
  readonly tests: string[][];
  /** The number of concurrent runners: tests that wait for timers leave processors free. @default 2 */
  readonly concurrency?: number;
}

const resource = (name: string): Group => ({
  mutate: [`src/resources/${name}/{*Declaration,*Lifecycle,*Schemas,origin}.ts`],
  tests: [
    [`test/resources/${name}/*`, "test/kinds/everyKind", "test/kinds/badMinute"],
    // These include whole programs in process, from one command to the next.
    ["test/rules/{aliases,announced,done,gone,memory,ours}"],
  ],
  concurrency: 4,
});

const GROUPS: Record<string, Group> = {
  queue: {
    mutate: ["src/client/operations/queue.ts"],
    tests: [["test/client/operations/projectQueue"], ["test/client/{operations/queue,api/computes}"]],
    concurrency: 6,
  },
  waits: {
    mutate: ["src/client/operations/{waits,watch}.ts"],
    tests: [["test/client/operations/{operationWait,projectWatch}"], ["test/client/{operations/waiting,api/computes}"]],
    concurrency: 6,
  },
  retry: {
    mutate: ["src/client/http/{retry,request,requests,sending,deadline}.ts"],
    tests: [["test/client/http/{requests,deadline}"], ["test/client/{http/retry,fates,api/computes,http/transport}"]],
    concurrency: 6,
  },
  fates: {
    mutate: ["src/client/{changes,collection,createRecovery}.ts", "src/client/reads/*.ts"],
    tests: [
      ["test/client/{createRecovery,collection}"],
      ["test/client/{similarCreations,reads/sharedReads,fates,api/auth}", "test/resources/laggingLists"],
    ],
    concurrency: 6,
  },
  host: {
    mutate: [
      "src/runtime/{plan,calls}/*.ts",
      "src/runtime/{state,arguments,confirmed}.ts",
      "src/runtime/run/{claims,ownership,plans}.ts",
      "src/protocols/{dynamic/{provider,callErrors},engine/errors}.ts",
    ],
    tests: [
      ["test/runtime/{host.*,arguments,confirmed}", "test/protocols/engine/errors"],
      ["test/resources/{managed,badArguments}", "test/resources/authKeys/*"],
    ],
    concurrency: 3,
  },
  compute: {
    mutate: ["src/resources/computeEndpoint/{computeEndpoint{Declaration,Schemas},lookAhead,mapping,warnings}.ts"],
    tests: [
      ["test/resources/computeEndpoint/record", "test/resources/lookAhead"],
      ["test/resources/computeEndpoint/*.{check,drift,plan,update}", "test/rules/announced"],
    ],
    concurrency: 6,
  },
  occupancy: {
    mutate: ["src/resources/computeEndpoint/branchOccupancy.ts"],
    tests: [
      ["test/resources/computeEndpoint/*.{adopt,moves,parallel,plan}"],
      ["test/resources/lookAhead", "test/rules/{memory,moves,twoStacks}"],
    ],
    concurrency: 6,
  },
  lifecycle: {
    mutate: ["src/resources/computeEndpoint/*ifecycle.ts"],
    tests: [
      [
        "test/resources/computeEndpoint/*.{adopt,disabled,moves,parallel,patience,restart,unfinished,update}",
        "test/resources/computeEndpoint/ComputeEndpoint",
      ],
      ["test/kinds/{everyKind,badMinute}", "test/rules/{aliases,announced,done,gone,ours,time}"],
    ],
    concurrency: 6,
  },
  shared: {
    mutate: ["src/resources/shared/*.ts"],
    tests: [
      [
        "test/resources/{existing,integrationChildren,laggingLists,lookAhead,updateLooks}",
        "test/resources/whitelist/*",
      ],
      ["test/resources/*", "test/resources/*/*", "test/kinds/everyKind", "test/rules/{done,gone,ours,whose}"],
    ],
    concurrency: 4,
  },
  integration: resource("authIntegration"),
  provider: resource("oauthProvider"),
  email: resource("emailServer"),
  whitelist: resource("whitelist"),
  user: resource("authUser"),
  keys: resource("authKeys"),
  transfer: resource("authOwnershipTransfer"),
  tools: {
    mutate: ["src/resources/*/{*Tools,leftover*}.ts"],
    tests: [
      ["test/cli/{projectObjects,env/variables,drift/unmanaged,import/domains}"],
      ["test/cli/{import/importProject,sweep/sweep,doctor/audit,drift/repair/plan}"],
    ],
  },
};

const RESULTS = join(ROOT, "test-results");
const jestConfig = createRequire(import.meta.url)(join(ROOT, "jest.config.cjs"));

/**
 * Changes the code in one place at a time, and reports changes that no test detects. The arguments are names of groups;
 * `--sample=N` takes every Nth stretch of ten lines, `--concurrency=N` allows at most N concurrent runners.
 */
export async function mutation(args: string[]): Promise<number> {
  const names = args.filter((arg) => !/^--(sample|concurrency)=/.test(arg));
  const every = numberOf("sample", args) ?? 1;
  const atMost = numberOf("concurrency", args) ?? Infinity;
  const unknown = names.find((name) => !Object.hasOwn(GROUPS, name));
  if (unknown !== undefined) {
    throw new UsageError(`There is no group "${unknown}". There are: ${Object.keys(GROUPS).join(", ")}.`);
  }
  mkdirSync(RESULTS, { recursive: true });
  let good = true;
  for (const name of names.length > 0 ? names : Object.keys(GROUPS)) {
    say(`-- ${name}`);
    const results = await mutants(name, every, atMost);
    good &&= !(score(results) < GOAL);
    const text = readFileSync(join(RESULTS, `mutation-${name}.md`), "utf8");
    say(text.slice(0, text.indexOf("\n## ")));
    say(`The survivors are listed in test-results/mutation-${name}.md.`);
  }
  leaveResults(good ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  return good ? EXIT.good : EXIT.failed;
}

/** The whole number that `--option=N` gives. */
function numberOf(option: string, args: string[]): number | undefined {
  const start = `--${option}=`;
  const text = args.find((arg) => arg.startsWith(start))?.slice(start.length);
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${option} takes a whole number, 1 or more.`);
  return Number(text);
}

async function mutants(name: string, every: number, atMost: number): Promise<MutantResult[]> {
  const { mutate, tests, concurrency: usual = 2 } = GROUPS[name];
  const concurrency = Math.min(usual, atMost);
  const [own = [], ...wider] = tests;
  let results: MutantResult[] = [];
  const asked: string[] = [];
  const write = (tests: string[]): void => {
    asked.push(...tests);
    writeFileSync(join(RESULTS, `mutation-${name}.md`), page(name, results, asked, every));
  };
  results = await runStryker(sampleOf(mutate, every), own, concurrency);
  write(own);
  for (const more of wider) {
    if (score(results) >= GOAL) break;
    const missed = results.filter(({ status }) => MISSED.includes(status));
    const survivors = new Set(missed.map(keyOf));
    // A range also includes smaller mutants inside it, which may have been detected already.
    const again = (await runStryker([...new Set(missed.map(rangeOf))], more, concurrency)).filter((one) =>
      survivors.has(keyOf(one)),
    );
    const found = new Map(again.map((one) => [keyOf(one), one]));
    results = results.map((one) => found.get(keyOf(one)) ?? one);
    write(more);
  }
  return results;
}

const place = ({ location: { start, end } }: MutantResult): string =>
  // Result columns count from 1, range columns from 0.
  `${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`;

const rangeOf = (mutant: MutantResult): string => `${relative(ROOT, mutant.fileName)}:${place(mutant)}`;

const keyOf = (mutant: MutantResult): string => `${rangeOf(mutant)} ${mutant.mutatorName} ${mutant.replacement ?? ""}`;

/** Every Nth stretch of lines of the matching files; all lines for 1. */
function sampleOf(patterns: string[], every: number): string[] {
  if (every === 1) return patterns;
  return patterns.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT }).flatMap((file) => {
      const lines = readFileSync(join(ROOT, file), "utf8").split("\n").length;
      const starts = Array.from({ length: Math.ceil(lines / STRETCH / every) }, (_, i) => 1 + i * STRETCH * every);
      return starts.map((start) => `${file}:${start}-${Math.min(start + STRETCH - 1, lines)}`);
    }),
  );
}

async function runStryker(mutate: string[], tests: string[], concurrency: number): Promise<MutantResult[]> {
  if (mutate.length === 0) return [];
  const [unit] = jestConfig.projects;
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-mutation-"));
  const stryker = new Stryker({
    mutate,
    testRunner: "jest",
    plugins: ["@stryker-mutator/jest-runner"],
    coverageAnalysis: "perTest",
    // Mutants in code that runs while a module loads would need all tests each.
    ignoreStatic: true,
    concurrency,
    // Long enough that a busy machine does not count as a detection.
    timeoutMS: 30_000,
    timeoutFactor: 4,
    dryRunTimeoutMinutes: 20,
    // Jest searches the whole clone.
    tempDirName: folder,
    ignorePatterns: ["dist", "docs", "examples", "bench", "test-results", "test/engine/states"],
    reporters: ["progress-append-only"],
    allowConsoleColors: false,
    jest: {
      projectType: "custom",
      // A test that never ends has detected its mutant.
      config: {
        ...unit,
        testEnvironment: join(ROOT, "scripts/lib/failFast.cjs"),
        testPathIgnorePatterns: [],
        testMatch: tests.map((test) => `<rootDir>/${test}.test.ts`),
        testTimeout: 10_000,
      },
    },
  });
  try {
    return await stryker.runMutationTest();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FOUND: readonly string[] = ["Killed", "Timeout"];
const MISSED: readonly string[] = ["Survived", "NoCoverage"];

const count = (results: MutantResult[], statuses: readonly string[]): number =>
  results.filter(({ status }) => statuses.includes(status)).length;

/** In percent; NaN if there were no mutants. */
function score(results: MutantResult[]): number {
  const found = count(results, FOUND);
  return (100 * found) / (found + count(results, MISSED));
}

function page(group: string, results: MutantResult[], asked: string[], every: number): string {
  const files = [...new Set(results.map(({ fileName }) => fileName))];
  const byFile = files.map(
    (file) => [relative(ROOT, file), results.filter(({ fileName }) => fileName === file)] as const,
  );
  const row = (name: string, of: MutantResult[]): string =>
    `| ${name} | ${Number.isNaN(score(of)) ? "-" : score(of).toFixed(1)} | ${count(of, ["Killed"])} | ${count(of, ["Timeout"])} | ${count(of, ["Survived"])} | ${count(of, ["NoCoverage"])} | ${count(of, ["Ignored"])} |`;
  const survivors = results
    .filter(({ status }) => MISSED.includes(status))
    .map((mutant) => `- ${where(mutant)}: \`${originalOf(mutant)}\` -> \`${mutant.replacement ?? ""}\``);
  const sample = every === 1 ? "All of the code" : `One in ${every} stretches of ${STRETCH} lines`;
  return `# Mutants of the group ${group}

${sample}, looked for by ${asked.map((test) => `\`${test}\``).join(", then ")}.

| File | Found, % | Killed | Timed out | Survived | Not covered | Left out |
| ---- | -------- | ------ | --------- | -------- | ----------- | -------- |
${byFile.map(([name, of]) => row(name, of)).join("\n")}
${row("All", results)}

## What survived

${survivors.join("\n")}
`;
}

const where = ({ fileName, location: { start } }: MutantResult): string =>
  `${relative(ROOT, fileName)}:${start.line}:${start.column}`;

function originalOf({ fileName, location: { start, end } }: MutantResult): string {
  const lines = readFileSync(fileName, "utf8")
    .split("\n")
    .slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? "";
  lines[0] = lines[0].slice(start.column - 1);
  return lines.join(" ").replace(/\s+/g, " ");
}
