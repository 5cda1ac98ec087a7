/** What a task, and with it `scripts/run.mjs`, exits with. */
export const EXIT = { good: 0, failed: 1, usage: 2, setup: 3 };

/** A step of the set-up that could not be done. The message says what happened, `advice` what to do about it. */
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

/** A command line that makes no sense. */
export class UsageError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "UsageError";
  }
}

/**
 * @param {unknown} thrown
 * @returns {string}
 */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
