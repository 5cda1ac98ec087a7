/** Runs a task, once run.mjs has installed the dependencies: gets the CLI and the build where the task needs them. */
import { EXIT, report, say } from "./lib/console.mjs";
import { BIN, NODE } from "./lib/paths.mjs";
import { directLoopback, interrupted, putFirstOnPath, run, watchInterrupts } from "./lib/processes.mts";
import { ensureBrowser } from "./setup/browser.mts";
import { ensureBuild } from "./setup/build.mts";
import { ensurePostgres } from "./setup/postgres.mts";
import { ensurePulumiCli } from "./setup/pulumiCli.mts";
import { check } from "./tasks/check.mts";
import { docs } from "./tasks/docs.mts";
import { exampleLocks } from "./tasks/exampleLocks.mts";
import { mutation } from "./tasks/mutation.mts";
import { picture } from "./tasks/picture.mts";
import { quickstart } from "./tasks/quickstart.mts";
import { CAMPAIGNS, test } from "./tasks/test.mts";

const NEED_CLI = [
  "setup",
  "quickstart",
  "picture",
  "test",
  "test:services",
  "test:engine",
  ...Object.keys(CAMPAIGNS),
  "bench",
];
/** Not `setup`, nor the engine tests alone: Postgres and a browser are for the tests that are named after them. */
const NEED_SERVICES = ["test", "test:services"];
const NEED_BUILD = [...NEED_CLI, "build", "test:processes", "example-locks"];

/** Each answers with the exit code. `setup` and `build` have done their work when the task begins. */
const TASKS: Record<string, (args: string[]) => Promise<number>> = {
  check,
  docs,
  quickstart,
  bench,
  "test:mutation": mutation,
  "example-locks": exampleLocks,
  picture,
};

async function bench(args: string[]): Promise<number> {
  const program = ["-r", "ts-node/register/transpile-only", "bench/main.ts"];
  return (await run(NODE, [...program, ...args], { inherit: true })).code;
}

/** What is there already is not mentioned. */
async function main([name, ...args]: string[]): Promise<number> {
  Object.assign(process.env, directLoopback(process.env));
  putFirstOnPath(BIN);
  const cli = NEED_CLI.includes(name) ? await ensurePulumiCli() : undefined;
  if (cli) putFirstOnPath(BIN, cli.dir);
  if (NEED_SERVICES.includes(name)) {
    // The tests read these. Without one, the tests that need it are skipped.
    process.env.PULUMI_SVC_POSTGRES_BIN = (await ensurePostgres()) ?? "";
    process.env.PULUMI_SVC_CHROMIUM = (await ensureBrowser()) ?? "";
  }
  if (NEED_BUILD.includes(name)) await ensureBuild();
  say(`-- ready${cli ? `: Pulumi CLI ${cli.version} in ${cli.dir}` : ""}`);
  if (Object.hasOwn(TASKS, name)) return await TASKS[name](args);
  return name.startsWith("test") ? await test(name, args) : EXIT.good;
}

watchInterrupts();
process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) =>
  interrupted.aborted ? interrupted.reason : report(error),
);
