#!/usr/bin/env node
/**
 * Everything that `npm run …` starts in this repository. No dependencies: it runs before `npm ci`.
 * A task is set up for first (setup/), then loaded and run (tasks/).
 */
import { EXIT, messageOf, SetupError, UsageError } from "./lib/errors.mjs";
import { isInterrupted, watchInterrupts } from "./lib/interrupt.mjs";
import { say } from "./lib/log.mjs";
import { setUp } from "./setup/setup.mjs";

/**
 * @typedef {(toolchain: import("./setup/setup.mjs").Toolchain, args: string[]) => Promise<number>} TaskRun
 *
 * @typedef {object} Task
 * @property {string} summary
 * @property {string} [args] How its own arguments look, for the help.
 * @property {string} [details] Further help, shown by `<task> --help`.
 * @property {{ cli?: boolean, build?: boolean }} needs
 * @property {() => Promise<TaskRun>} load
 */

const JEST_ARGS = "[-- jest's own arguments, such as a path or -t 'part of a title']";

/** @type {Record<string, Task>} */
const TASKS = {
  setup: {
    summary: "only get what the other tasks need: dependencies, Node, the Pulumi CLI, the build",
    needs: { cli: true, build: true },
    load: async () => async () => EXIT.good,
  },
  build: {
    summary: "compile src to dist, when it is not what is there",
    needs: { build: true },
    load: async () => async () => EXIT.good,
  },
  quickstart: {
    summary: "deploy examples/quickstart on the local emulator: up, no changes, drift, repair, destroy",
    args: "[-- --keep]",
    details:
      "  --keep   leave the emulator and the stack up, and print the commands to go on by hand\n\n" +
      "Takes about a minute. Everything it makes stands in a temporary folder, but for Pulumi.quickstart-*.yaml\n" +
      "in the clone, which goes at the end. Your own Pulumi login, stacks and settings are not touched.",
    needs: { cli: true, build: true },
    load: async () => (await import("./tasks/quickstart.mjs")).quickstart,
  },
  test: {
    summary: "all tests: unit, rules, processes and engine",
    args: JEST_ARGS,
    needs: { cli: true, build: true },
    load: async () => (await import("./tasks/test.mjs")).testAll,
  },
  "test:unit": {
    summary: "the tests that start no process, under a minute",
    args: JEST_ARGS,
    needs: {},
    load: async () => (await import("./tasks/test.mjs")).testUnit,
  },
  "test:rules": {
    summary: "the rules against a hostile service and a colleague, a few minutes",
    args: JEST_ARGS,
    needs: {},
    load: async () => (await import("./tasks/test.mjs")).testRules,
  },
  "test:processes": {
    summary: "the tests of the scripts, of the command and of the SDK's provider process",
    args: JEST_ARGS,
    needs: { build: true },
    load: async () => (await import("./tasks/test.mjs")).testProcesses,
  },
  "test:engine": {
    summary: "the tests that drive the real Pulumi CLI",
    args: JEST_ARGS,
    needs: { cli: true, build: true },
    load: async () => (await import("./tasks/test.mjs")).testEngine,
  },
  check: {
    summary: "types, lint, formatting, dead code, duplicates, the package, docs, tracked files",
    args: "[-- names of steps]",
    needs: {},
    load: async () => (await import("./tasks/check.mjs")).check,
  },
  bench: {
    summary: "the benchmarks in bench/",
    needs: { cli: true, build: true },
    load: async () => (await import("./tasks/bench.mjs")).bench,
  },
};

const HELP = `Usage: node scripts/run.mjs <task> [arguments]     (or: npm run <task> -- [arguments])

Tasks:
${Object.entries(TASKS)
  .map(([name, task]) => `  ${name.padEnd(14)} ${task.summary}`)
  .join("\n")}

Each task first gets what it needs and is not there yet: dependencies (npm ci), a Node that the Pulumi SDK
supports, the Pulumi CLI (on PATH, in ~/.pulumi/versions, by download, by a Go build), the build.

Environment:
  PULUMI_HOME              where the CLI is looked for and put (default: ~/.pulumi)
  PULUMI_SVC_RELEASES_URL  a mirror of Pulumi's release site
  PULUMI_SVC_RESULTS       a file to leave the counts of passed and failed tests or checks in

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
  const task = Object.hasOwn(TASKS, name) ? TASKS[name] : undefined;
  if (!task) {
    say(`There is no task "${name}".\n\n${HELP}`);
    return EXIT.usage;
  }
  if (args.includes("--help") || args.includes("-h")) {
    say(`Usage: npm run ${name} ${task.args ?? ""}\n\n${task.summary}`);
    if (task.details) say(`\n${task.details}`);
    return EXIT.good;
  }
  const runTask = await task.load();
  return await runTask(await setUp(task.needs), args);
}

watchInterrupts();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // After a signal the handler ends the process, once its cleanups are done.
  if (isInterrupted()) await new Promise(() => {});
  if (error instanceof SetupError) {
    say(`\nSet-up failed: ${error.message}\n\nWhat to do: ${error.advice}`);
    process.exitCode = EXIT.setup;
  } else if (error instanceof UsageError) {
    say(`${messageOf(error)} See: node scripts/run.mjs --help`);
    process.exitCode = EXIT.usage;
  } else {
    say(`\nUnexpected: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = EXIT.failed;
  }
}
