import { join } from "node:path";
import { run } from "../lib/exec.mts";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";

/** Runs an installed tool, whose exit code is the verdict; answers with what is wrong. `program` is its path in the package. */
export async function runTool(packageName: string, program: string, ...args: string[]): Promise<string> {
  const { code, output } = await run(NODE, [join(NODE_MODULES, packageName, program), ...args], {
    env: { NO_COLOR: "1" },
  });
  return code === 0 ? "" : `${packageName} ended with ${code}:\n${output}`;
}
