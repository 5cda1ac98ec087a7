const { TestEnvironment } = require("jest-environment-node");

/** The runs of jest, by their configuration, in which a test has failed. */
const failed = new WeakSet();

/**
 * Skips all tests of a run after the first one that fails: one failure detects a mutant, and a mutant that makes many
 * tests hang would take the time limit of each of them.
 */
module.exports = class FailFast extends TestEnvironment {
  /** @param {ConstructorParameters<typeof TestEnvironment>} given */
  constructor(...given) {
    super(...given);
    this.run = given[0].globalConfig;
  }

  /** @param {import("@jest/types").Circus.AsyncEvent | import("@jest/types").Circus.SyncEvent} event */
  handleTestEvent(event) {
    if (event.name === "test_fn_failure" || event.name === "hook_failure") failed.add(this.run);
    if (event.name === "test_start" && failed.has(this.run)) event.test.mode = "skip";
  }
};
