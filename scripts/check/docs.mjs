import { existsSync } from "node:fs";
import { join } from "node:path";
import { run } from "../lib/exec.mjs";

/**
 * The generated docs are those that the sources give.
 * @type {import("../tasks/check.mjs").Check}
 */
export async function docs({ root, node, env }) {
  const program = join(root, "scripts", "docs.mjs");
  if (!existsSync(program)) return { good: true, note: "nothing is generated yet" };
  const { code, output } = await run(node, [program, "--check"], { cwd: root, env });
  return { good: code === 0, output };
}
