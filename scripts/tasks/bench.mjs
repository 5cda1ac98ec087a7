import { existsSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../lib/errors.mjs";
import { run } from "../lib/exec.mjs";

/** @type {import("../run.mjs").TaskRun} */
export async function bench({ root, node, env }, args) {
  const program = join(root, "bench", "main.ts");
  if (!existsSync(program)) throw new UsageError("There are no benchmarks yet (bench/main.ts).");
  const { code } = await run(node, ["-r", "ts-node/register/transpile-only", program, ...args], {
    cwd: root,
    env,
    inherit: true,
  });
  return code;
}
