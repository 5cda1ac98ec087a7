import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runTool } from "./tool.mjs";

/**
 * The package and its tests, these scripts, and each example against the built package.
 * @type {import("../tasks/check.mjs").Check}
 */
export async function types(toolchain) {
  const examples = readdirSync(join(toolchain.root, "examples")).map((name) => `examples/${name}/tsconfig.json`);
  const projects = ["tsconfig.json", "scripts/tsconfig.json", ...examples].filter((project) =>
    existsSync(join(toolchain.root, project)),
  );
  const outputs = [];
  for (const project of projects) {
    const { good, output } = await runTool(toolchain, "typescript", "bin/tsc", ["--noEmit", "-p", project]);
    if (!good) outputs.push(`${project}:\n${output}`);
  }
  return { good: outputs.length === 0, output: outputs.join("\n"), note: `${projects.length} projects` };
}
