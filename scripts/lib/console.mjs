import { writeFileSync } from "node:fs";

/** The exit codes of a task, and of `scripts/run.mjs`. */
export const EXIT = { good: 0, failed: 1, usage: 2, setup: 3 };

/** A step of the set-up failed. The message says what happened, and `advice` what to do about it. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} advice
   */
  constructor(message, advice) {
    super(message);
    this.name = "SetupError";
    this.advice = advice;
  }
}

/** The command line is wrong. */
export class UsageError extends Error {}

/** @param {unknown} thrown */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Prints the error that ended the script, and returns the exit code. @param {unknown} error */
export function report(error) {
  if (error instanceof SetupError) {
    say(`\nSet-up failed: ${error.message}\n\nWhat to do: ${error.advice}`);
    return EXIT.setup;
  }
  if (error instanceof UsageError) {
    say(`${error.message} See: node scripts/run.mjs --help`);
    return EXIT.usage;
  }
  say(`\nUnexpected: ${error instanceof Error ? error.stack : String(error)}`);
  return EXIT.failed;
}

/** All output of the scripts goes to standard output, like that of the programs they start. @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/** The text as the output of a command below its headline. @param {string} text */
export function indented(text) {
  return text.replace(/^(?=.)/gm, "   | ");
}

/** Returns the time since the call, such as "0.4 s" or "245.0 s". */
export function stopwatch() {
  const start = Date.now();
  return () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
}

/** Leaves the counts of a task for .ci/run, in the file that PULUMI_SVC_RESULTS names. @param {Record<"passed" | "failed", number>} counts */
export function leaveResults(counts) {
  const file = process.env.PULUMI_SVC_RESULTS;
  if (file) writeFileSync(file, `${JSON.stringify(counts)}\n`);
}
