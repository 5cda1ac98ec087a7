import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npm } from "../setup/npm.mjs";
import { compileConsumer } from "./consumer.mjs";
import { runTool } from "./tool.mjs";

/**
 * Packs the package as `npm publish` would and looks at the archive: publint for package.json against the files, attw for
 * the types as each kind of importer resolves them, and a program that is compiled against it.
 * @type {import("../tasks/check.mjs").Check}
 */
export async function packageHygiene(toolchain) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-svc-pack-"));
  try {
    // The check `build` has just built; without scripts the archive holds that.
    const pack = ["pack", "--ignore-scripts", "--pack-destination", folder];
    const { code, output } = await npm(pack, { cwd: toolchain.root, env: toolchain.env });
    const archive = readdirSync(folder).find((name) => name.endsWith(".tgz"));
    if (code !== 0 || !archive) return { good: false, output };
    const file = join(folder, archive);
    const publint = await runTool(toolchain, "publint", "src/cli.js", ["run", file, "--strict"]);
    const attw = await runTool(toolchain, "@arethetypeswrong/cli", "dist/index.js", [file, "--profile", "strict"]);
    const consumer = await compileConsumer(toolchain, file, folder);
    const verdicts = [publint, attw, consumer];
    return { good: verdicts.every(({ good }) => good), output: verdicts.map(({ output }) => output ?? "").join("\n") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
