import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../lib/exec.mjs";
import { NODE_MODULES } from "../lib/paths.mjs";
import { runTool } from "./tool.mjs";

const PROGRAM = `
import * as svc from "pulumi-svc";
import { startEmulator, type Emulator } from "pulumi-svc/emulator";
import { load } from "pulumi-svc/provider";

const compute = new svc.ComputeEndpoint("api", { projectId: "prj-demo", branchId: "br-dev", size: { min: 0.5, max: 2 } });
const found: Promise<svc.ComputeEndpointResult> = svc.getComputeEndpoint({ projectId: "prj-demo", branchId: "br-dev" });
const started: Promise<Emulator> = startEmulator({ activationMs: 50 });
// @ts-expect-error were the types not found, everything would be right
const wrong: number = compute.host;
// @ts-expect-error the same for the emulator
void startEmulator({ activationMs: "50" });
// @ts-expect-error and for the provider
load(1);
export { found, started, wrong };
`;

/** The way TypeScript looked for packages before `exports`, which most Pulumi templates are still set to, and today's. */
const WAYS = [
  { module: "commonjs", moduleResolution: "node" },
  { module: "node16", moduleResolution: "node16" },
];

/**
 * Compiles a small program against the packed package as strictly as a user may: its types are checked too
 * (`skipLibCheck` is off), and of other packages there are the SDK and Node's types alone, so that the types of a
 * dependency such as zod must not be needed.
 * @param {import("../setup/setup.mjs").Toolchain} toolchain
 * @param {string} archive
 * @param {string} folder an empty one to work in
 * @returns {Promise<import("../tasks/check.mjs").Verdict>}
 */
export async function compileConsumer(toolchain, archive, folder) {
  const installed = join(folder, "node_modules", "pulumi-svc");
  mkdirSync(installed, { recursive: true });
  const { code, output } = await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"], toolchain);
  if (code !== 0) return { good: false, output };
  for (const scope of ["@pulumi", "@types"])
    symlinkSync(join(NODE_MODULES, scope), join(folder, "node_modules", scope));
  writeFileSync(join(folder, "index.ts"), PROGRAM);
  const outputs = [];
  for (const way of WAYS) {
    const compilerOptions = { ...way, target: "es2022", strict: true, noEmit: true, types: ["node"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
    const { good, output } = await runTool(toolchain, "typescript", "bin/tsc", ["-p", folder]);
    if (!good) outputs.push(`a program with ${JSON.stringify(way)} does not compile:\n${output}`);
  }
  return { good: outputs.length === 0, output: outputs.join("\n") };
}
