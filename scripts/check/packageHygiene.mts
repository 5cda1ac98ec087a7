import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../lib/exec.mts";
import { NODE_MODULES } from "../lib/paths.mjs";
import { npm } from "../setup/npm.mjs";
import { runTool } from "./tool.mts";

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
 * Packs the package as `npm publish` would and looks at the archive: publint for package.json against the files, attw for
 * the types as each kind of importer resolves them, and a program that is compiled against it.
 */
export async function packageHygiene(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-pack-"));
  try {
    // The check `build` has just built; without scripts the archive holds that.
    const { code, output } = await run(...npm("pack", "--ignore-scripts", "--pack-destination", folder));
    const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
    if (code !== 0 || !archive) return output;
    const file = join(folder, archive);
    const publint = await runTool("publint", "src/cli.js", "run", file, "--strict");
    const attw = await runTool("@arethetypeswrong/cli", "dist/index.js", file, "--profile", "strict");
    return publint + attw + (await compileConsumer(file, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Compiles a small program against the packed package as strictly as a user may: its types are checked too
 * (`skipLibCheck` is off), and of other packages there are the SDK and Node's types alone, so that the types of a
 * dependency such as zod must not be needed.
 */
async function compileConsumer(archive: string, folder: string): Promise<string> {
  const installed = join(folder, "node_modules", "pulumi-svc");
  mkdirSync(installed, { recursive: true });
  const { code, output } = await run("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  if (code !== 0) return output;
  for (const scope of ["@pulumi", "@types"])
    symlinkSync(join(NODE_MODULES, scope), join(folder, "node_modules", scope));
  writeFileSync(join(folder, "index.ts"), PROGRAM);
  const findings = [];
  for (const way of WAYS) {
    const compilerOptions = { ...way, target: "es2022", strict: true, noEmit: true, types: ["node"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["index.ts"] }));
    const output = await runTool("typescript", "bin/tsc", "-p", folder);
    if (output !== "") findings.push(`a program with ${JSON.stringify(way)} does not compile:\n${output}`);
  }
  return findings.join("");
}
