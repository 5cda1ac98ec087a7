import { docs } from "../check/docs.mjs";
import { packageHygiene } from "../check/packageHygiene.mjs";
import { trackedFiles } from "../check/trackedFiles.mjs";
import { types } from "../check/types.mjs";
import { tool } from "../check/tool.mjs";
import { EXIT, messageOf, UsageError } from "../lib/errors.mjs";
import { indented, say, stopwatch } from "../lib/log.mjs";
import { leaveResults } from "../lib/results.mjs";
import { ensureBuild } from "../setup/build.mjs";

/**
 * @typedef {import("../setup/setup.mjs").Toolchain} Toolchain
 *
 * @typedef {object} Verdict
 * @property {boolean} good
 * @property {string} [output] Shown when it is not good.
 * @property {string} [note] Shown beside the verdict.
 *
 * @typedef {(toolchain: Toolchain) => Promise<Verdict>} Check
 */

/** In the order in which they run: the build first, which the examples and the package need. @type {Record<string, Check>} */
const CHECKS = {
  build: async ({ node, env }) => {
    await ensureBuild(node, env);
    return { good: true };
  },
  types,
  lint: tool("eslint", "bin/eslint.js", ["."]),
  format: tool("prettier", "bin/prettier.cjs", ["--check", "--log-level", "warn", "."]),
  "dead-code": tool("knip", "bin/knip.js", []),
  duplicates: tool("jscpd", "run-jscpd.js", ["src"]),
  package: packageHygiene,
  docs,
  "tracked-files": trackedFiles,
};

/**
 * Runs every check, also after one has failed: one run tells all.
 * @type {import("../run.mjs").TaskRun}
 */
export async function check(toolchain, names) {
  const unknown = names.find((name) => !Object.hasOwn(CHECKS, name));
  if (unknown) throw new UsageError(`There is no check "${unknown}"; there are: ${Object.keys(CHECKS).join(", ")}.`);
  const chosen = Object.entries(CHECKS).filter(([name]) => names.length === 0 || names.includes(name));
  const failed = [];
  for (const [name, run] of chosen) {
    const elapsed = stopwatch();
    const { good, output, note } = await verdictOf(run, toolchain);
    if (!good) failed.push(name);
    say(`${good ? "ok    " : "FAILED"} ${name.padEnd(14)} ${elapsed()}${note ? `  ${note}` : ""}`);
    if (!good && output) say(indented(output.trimEnd()));
  }
  leaveResults({ passed: chosen.length - failed.length, failed: failed.length });
  say(failed.length === 0 ? `\nAll ${chosen.length} checks are good.` : `\nFailed checks: ${failed.join(", ")}.`);
  return failed.length === 0 ? EXIT.good : EXIT.failed;
}

/**
 * @param {Check} run
 * @param {Toolchain} toolchain
 * @returns {Promise<Verdict>}
 */
async function verdictOf(run, toolchain) {
  try {
    return await run(toolchain);
  } catch (error) {
    return { good: false, output: messageOf(error) };
  }
}
