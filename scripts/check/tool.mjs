import { join } from "node:path";
import { run } from "../lib/exec.mjs";
import { NODE_MODULES } from "../lib/paths.mjs";

/**
 * A check that is one run of an installed tool, whose exit code is the verdict.
 * @param {string} packageName
 * @param {string} program its path in the package
 * @param {string[]} args
 * @returns {import("../tasks/check.mjs").Check}
 */
export function tool(packageName, program, args) {
  return async (toolchain) => await runTool(toolchain, packageName, program, args);
}

/**
 * @param {import("../setup/setup.mjs").Toolchain} toolchain
 * @param {string} packageName
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<import("../tasks/check.mjs").Verdict>}
 */
export async function runTool({ root, node, env }, packageName, program, args) {
  const { code, output } = await run(node, [join(NODE_MODULES, packageName, program), ...args], {
    cwd: root,
    env: { ...env, NO_COLOR: "1" },
  });
  return { good: code === 0, output };
}
