#!/usr/bin/env node
/**
 * Everything that `npm run …` starts in this repository. What it imports here has no dependencies: it runs before
 * `npm ci`. The rest is loaded when the dependencies are there.
 */
import { EXIT, messageOf, SetupError, UsageError } from "./lib/errors.mjs";
import { interrupted, watchInterrupts } from "./lib/interrupt.mjs";
import { say } from "./lib/log.mjs";
import { BIN } from "./lib/paths.mjs";
import { directLoopback } from "./lib/proxies.mjs";
import { ensureDependencies } from "./setup/dependencies.mjs";
import { ensureNode, majorOf, putFirstOnPath } from "./setup/node.mjs";

/**
 * @typedef {object} Task
 * @property {string} summary
 * @property {string} [args] How its own arguments look, for the help.
 * @property {string} [details] Further help, shown by `<task> --help`.
 * @property {boolean} [cli] It needs the Pulumi CLI.
 * @property {boolean} [build] It needs dist.
 * @property {(args: string[]) => Promise<number>} [run] Answers with the exit code.
 */

const JEST_ARGS = "[-- jest's own arguments, such as a path or -t 'part of a title']";

/** @type {(suite: string) => (args: string[]) => Promise<number>} */
const jest = (suite) => async (args) => (await import("./tasks/test.mjs")).test(suite, args);

/** @type {Record<string, Task>} */
const TASKS = {
  setup: {
    summary: "only get what the other tasks need: dependencies, Node, the Pulumi CLI, the build",
    cli: true,
    build: true,
  },
  build: { summary: "compile src to dist, where it is out of date", build: true },
  quickstart: {
    summary: "deploy examples/quickstart on the local emulator: up, no changes, drift, repair, destroy",
    args: "[-- --keep]",
    details:
      "  --keep   leave the emulator and the stack up, and print the commands to go on by hand\n\n" +
      "Takes about a minute. Everything it makes stands in a temporary folder, but for Pulumi.quickstart-*.yaml\n" +
      "in the clone, which goes at the end. Your own Pulumi login, stacks and settings are not touched.",
    cli: true,
    build: true,
    run: async (args) => (await import("./tasks/quickstart.mjs")).quickstart(args),
  },
  test: {
    summary: "all tests: unit, rules, processes and engine",
    args: JEST_ARGS,
    cli: true,
    build: true,
    run: jest("all"),
  },
  "test:unit": {
    summary: "the tests that start no process, under a minute",
    args: JEST_ARGS,
    run: jest("unit"),
  },
  "test:rules": {
    summary: "the rules against a hostile service and a colleague, a few minutes",
    args: JEST_ARGS,
    run: jest("rules"),
  },
  "test:processes": {
    summary: "the tests of the scripts, of the command and of the SDK's provider process",
    args: JEST_ARGS,
    build: true,
    run: jest("processes"),
  },
  "test:engine": {
    summary: "the tests that drive the real Pulumi CLI",
    args: JEST_ARGS,
    cli: true,
    build: true,
    run: jest("engine"),
  },
  check: {
    summary: "types, lint, formatting, dead code, duplicates, the package, docs, tracked files",
    args: "[-- names of steps]",
    run: async (args) => (await import("./tasks/check.mjs")).check(args),
  },
  docs: {
    summary: "write docs/resources.md and docs/functions.md from src",
    args: "[-- --check]",
    details: "  --check   write nothing, and fail where a page is out of date",
    run: async (args) => (await import("./tasks/docs.mjs")).docs(args),
  },
  bench: {
    summary: "the benchmarks in bench/",
    cli: true,
    build: true,
    run: async (args) => (await import("./tasks/bench.mjs")).bench(args),
  },
};

const HELP = `Usage: node scripts/run.mjs <task> [arguments]     (or: npm run <task> -- [arguments])

Tasks:
${Object.entries(TASKS)
  .map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`)
  .join("\n")}

Each task first gets what it needs and is not there yet: dependencies (npm ci), a Node that the Pulumi SDK
supports, the Pulumi CLI (on PATH, in ~/.pulumi/versions, by download, by a Go build), the build.

Environment:
  PULUMI_HOME          where the CLI is looked for and put (default: ~/.pulumi)
  PULUMI_SVC_RESULTS   a file to leave the counts of passed and failed tests or checks in

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
  if (!task) throw new UsageError(`There is no task "${name}".`);
  if (args.includes("--help") || args.includes("-h")) {
    say(`Usage: npm run ${name} ${task.args ?? ""}\n\n${task.summary}${task.details ? `\n\n${task.details}` : ""}`);
    return EXIT.good;
  }
  await setUp(task);
  return (await task.run?.(args)) ?? EXIT.good;
}

/** Gets what the task needs, and puts it on our PATH. What is there already is not mentioned. @param {Task} task */
async function setUp({ cli, build }) {
  if (process.platform === "win32") throw new SetupError("these scripts run on Linux and macOS", "On Windows use WSL.");
  if (majorOf(process.version) < 20) {
    throw new SetupError(`this is Node ${process.version}, too old to set anything up`, "Install Node 20 or newer.");
  }
  ensureDependencies();
  ensureNode();
  // Until here Ctrl-C ended us and npm at once; from here on there is something to clean up.
  watchInterrupts();
  Object.assign(process.env, directLoopback(process.env));
  putFirstOnPath(BIN);
  const pulumi = cli && (await (await import("./setup/pulumiCli.mjs")).ensurePulumiCli());
  if (pulumi) putFirstOnPath(BIN, pulumi.dir);
  if (build) await (await import("./setup/build.mjs")).ensureBuild();
  say(`-- ready${pulumi ? `: Pulumi CLI ${pulumi.version} in ${pulumi.dir}` : ""}`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (interrupted.aborted) {
    process.exitCode = interrupted.reason;
  } else if (error instanceof SetupError) {
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
