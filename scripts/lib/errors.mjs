import { say } from "./log.mjs";

/** What a task, and with it `scripts/run.mjs`, exits with. */
export const EXIT = { good: 0, failed: 1, usage: 2, setup: 3 };

/** A step of the set-up failed. The message says what happened, `advice` what to do about it. */
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

/** Tells what ended us, and answers with the exit code. @param {unknown} error */
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
