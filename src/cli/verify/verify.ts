import { packageVersion } from "../../contract/installation";
import { isAgreed } from "../ask";
import { terminalText } from "../output";
import { readSettings } from "../stack/configuration";
import { ENDING } from "../stack/pulumi";
import type { VerifyFlags } from "./flags";
import { type Prepared, prepare } from "./prepare";
import { EXIT, exitCodeOf, judge, render, type VerifyReport } from "./report";
import { runSteps } from "./run";
import { sweep } from "./sweep";

/**
 * Runs the lifecycle of every kind against the service, and reports what that showed of docs/design/api.md. Returns the
 * exit code.
 * @throws a message for the user if nothing was begun.
 */
export async function verify(flags: VerifyFlags): Promise<number> {
  const read = await readSettings(process.cwd(), flags.stack);
  let prepared = await prepare(flags, read);
  if (flags.dryRun === true) {
    process.stdout.write(prepared.plan);
    return EXIT.holds;
  }
  process.stderr.write(prepared.plan);
  if (flags.yes !== true) {
    const refusal = await refusalToBegin();
    if (refusal !== undefined) return refusal;
    // Somebody may have created something while the user was deciding.
    prepared = await prepare(flags, read);
  }
  const report = await untilSignalled((stop) => verified(prepared, stop, say));
  process.stdout.write(render(report, flags.format));
  return exitCodeOf(report);
}

const say = (text: string): void => void process.stderr.write(`pulumi-svc: ${terminalText(text)}\n`);

/** The exit code if the user does not agree. */
async function refusalToBegin(): Promise<number | undefined> {
  if (!process.stdin.isTTY) {
    say("there is no terminal to ask on. Use --yes to begin. Nothing was changed");
    return EXIT.notAsked;
  }
  if (await isAgreed("Begin?")) return undefined;
  say("nothing was changed: the answer was no");
  return EXIT.failed;
}

/** A signal ends the steps, and not what removes their objects. */
async function untilSignalled<Result>(work: (stop: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  const onSignal = (signal: string): void => {
    say(`${signal}: the current step ends, then everything that was made is removed. Wait for that`);
    stop.abort();
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of ENDING) process.off(signal, onSignal);
  }
}

/** Runs the steps and removes what they have made, whatever happens. `say` shows progress. */
export async function verified(
  { run, steps }: Pick<Prepared, "run" | "steps">,
  stop: AbortSignal,
  say: (text: string) => Promise<void> | void,
): Promise<VerifyReport> {
  const results = await runSteps(run, steps, {
    stop,
    // The report says what was left out.
    onStep: ({ does, outcome, seconds, message }) =>
      outcome === "left out"
        ? undefined
        : say(`${outcome}: ${does} (${seconds} s)${message === undefined ? "" : `: ${message}`}`),
  });
  const left = await sweep(run, say);
  const { service, projectId: project, branchId: branch, exchanges } = run;
  const version = packageVersion() ?? "unknown";
  return {
    service,
    project,
    branch,
    version,
    isStopped: stop.aborted,
    steps: results,
    assumptions: judge(exchanges),
    left,
  };
}
