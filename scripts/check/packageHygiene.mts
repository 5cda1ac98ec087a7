import { globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NODE_MODULES } from "../lib/paths.mjs";
import { run, runTool } from "../lib/processes.mts";
import { npm } from "../setup/packages.mjs";

const PROGRAM = `
export * as svc from "pulumi-svc";
export * as emulator from "pulumi-svc/emulator";
export * as provider from "pulumi-svc/provider";`;

/** The way TypeScript looked for packages before `exports`, which most Pulumi templates are still set to, and today's. */
const RESOLUTIONS = [
  ["--module", "commonjs", "--moduleResolution", "node"],
  ["--module", "node16", "--moduleResolution", "node16"],
];

/**
 * Packs the package as `npm publish` would and looks at the archive: publint for package.json against the files, attw for
 * the types as each kind of importer resolves them, and a program that is compiled against it as strictly as a user may:
 * the package's types are checked too (no `--skipLibCheck`), and of other packages there are the SDK and Node's types
 * alone, so that the types of a dependency such as zod must not be needed.
 */
export async function packageHygiene(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-pack-"));
  try {
    // The check `build` has just built; without scripts the archive holds that.
    const packed = await run(...npm("pack", "--ignore-scripts", "--pack-destination", folder));
    const archive = join(folder, globSync("*.tgz", { cwd: folder })[0] ?? "no archive");
    const modules = join(folder, "node_modules");
    mkdirSync(join(modules, "pulumi-svc"), { recursive: true });
    const unpacked = await run("tar", ["-xzf", archive, "-C", join(modules, "pulumi-svc"), "--strip-components=1"]);
    if (packed.code !== 0 || unpacked.code !== 0) return packed.output + unpacked.output;
    for (const scope of ["@pulumi", "@types"]) symlinkSync(join(NODE_MODULES, scope), join(modules, scope));
    const program = join(folder, "index.ts");
    writeFileSync(program, PROGRAM);
    const findings = [
      await runTool("publint", "src/cli.js", "run", archive, "--strict"),
      await runTool("@arethetypeswrong/cli", "dist/index.js", archive, "--profile", "strict"),
    ];
    for (const resolution of RESOLUTIONS) {
      const options = ["--target", "es2022", "--strict", "--noEmit", "--types", "node", ...resolution];
      findings.push(await runTool("typescript", "bin/tsc", ...options, program));
    }
    return findings.join("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
