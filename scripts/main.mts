/** Runs a task, once run.mjs has installed the dependencies: gets the CLI and the build where the task needs them. */
import { report } from "./lib/errors.mjs";
import { interrupted, watchInterrupts } from "./lib/interrupt.mts";
import { say } from "./lib/log.mjs";
import { BIN } from "./lib/paths.mjs";
import { directLoopback } from "./lib/proxies.mts";
import { ensureBuild } from "./setup/build.mts";
import { ensurePulumiCli } from "./setup/pulumiCli.mts";
import { putFirstOnPath } from "./setup/node.mjs";
import { bench } from "./tasks/bench.mts";
import { check } from "./tasks/check.mts";
import { docs } from "./tasks/docs.mts";
import { quickstart } from "./tasks/quickstart.mts";
import { test } from "./tasks/test.mts";

interface Task {
  needsCli?: boolean;
  needsBuild?: boolean;
  /** Answers with the exit code. */
  run?: (args: string[]) => Promise<number>;
}

const TASKS: Record<string, Task> = {
  setup: { needsCli: true, needsBuild: true },
  build: { needsBuild: true },
  quickstart: { needsCli: true, needsBuild: true, run: quickstart },
  test: { needsCli: true, needsBuild: true, run: (args) => test("all", args) },
  "test:unit": { run: (args) => test("unit", args) },
  "test:rules": { run: (args) => test("rules", args) },
  "test:processes": { needsBuild: true, run: (args) => test("processes", args) },
  "test:engine": { needsCli: true, needsBuild: true, run: (args) => test("engine", args) },
  check: { run: check },
  docs: { run: docs },
  bench: { needsCli: true, needsBuild: true, run: bench },
};

/** Gets what the task needs, and puts it on our PATH. What is there already is not mentioned. */
async function main([name, ...args]: string[]): Promise<number> {
  const { needsCli, needsBuild, run } = TASKS[name];
  Object.assign(process.env, directLoopback(process.env));
  putFirstOnPath(BIN);
  const cli = needsCli ? await ensurePulumiCli() : undefined;
  if (cli) putFirstOnPath(BIN, cli.dir);
  if (needsBuild) await ensureBuild();
  say(`-- ready${cli ? `: Pulumi CLI ${cli.version} in ${cli.dir}` : ""}`);
  return (await run?.(args)) ?? 0;
}

watchInterrupts();
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) =>
  interrupted.aborted ? interrupted.reason : report(error),
);
