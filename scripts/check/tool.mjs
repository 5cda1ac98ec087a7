import { join } from "node:path";
import { run } from "../lib/exec.mjs";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";

/**
 * Runs an installed tool, whose exit code is the verdict.
 * @param {string} packageName
 * @param {string} program its path in the package
 * @param {string[]} args
 * @returns {Promise<string>} what is wrong; nothing when the tool is content
 */
export async function runTool(packageName, program, ...args) {
  const { code, output } = await run(NODE, [join(NODE_MODULES, packageName, program), ...args], {
    env: { NO_COLOR: "1" },
  });
  return code === 0 ? "" : `${packageName} ended with ${code}:\n${output}`;
}
