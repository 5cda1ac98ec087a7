/** Runs a task after run.mjs has installed the dependencies, with the CLI and the build if the task needs them. */
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
import { live } from "./tasks/live.mts";
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
/** Only these run tests with Postgres and a browser; `setup` and the engine tests alone need neither. */
const NEED_SERVICES = ["test", "test:services"];
const NEED_BUILD = [...NEED_CLI, "build", "test:processes", "example-locks"];

/** Each returns the exit code. `setup` and `build` are complete before the task begins. */
const TASKS: Record<string, (args: string[]) => Promise<number>> = {
  check,
  docs,
  quickstart,
  bench,
  "test:live": live,
  "test:mutation": mutation,
  "example-locks": exampleLocks,
  picture,
};

async function bench(args: string[]): Promise<number> {
  const program = ["-r", "ts-node/register/transpile-only", "bench/main.ts"];
  return (await run(NODE, [...program, ...args], { inherit: true })).code;
}

/** Prints only what it has to install or build. */
async function main([name, ...args]: string[]): Promise<number> {
  Object.assign(process.env, directLoopback(process.env));
  putFirstOnPath(BIN);
  const cli = NEED_CLI.includes(name) ? await ensurePulumiCli() : undefined;
  if (cli) putFirstOnPath(BIN, cli.dir);
  if (NEED_SERVICES.includes(name)) {
    // The tests read these variables. Tests that need a missing program are skipped.
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
