import { chmodSync, existsSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { run } from "../lib/exec.mts";
import { say, stopwatch } from "../lib/log.mjs";
import { BIN, NODE, NODE_MODULES, ROOT } from "../lib/paths.mjs";

const DIST = join(ROOT, "dist");
/** Named by tsconfig.build.json, too. In node_modules, so that a fresh install forgets it. */
const BUILD_INFO = join(NODE_MODULES, ".cache", "pulumi-svc", "build.tsbuildinfo");

/** Brings dist/ up to date with `tsc -b`, which compiles what has changed since the last build. */
export async function ensureBuild(): Promise<void> {
  const elapsed = stopwatch();
  const before = modified(BUILD_INFO);
  const tsc = join(NODE_MODULES, "typescript", "bin", "tsc");
  const { code, output } = await run(NODE, [tsc, "-b", "tsconfig.build.json", ...(isIntact() ? [] : ["--force"])]);
  if (code !== 0) {
    throw new SetupError(`the build failed:\n${output.trimEnd()}`, "Correct the sources and run this again.");
  }
  for (const file of leftovers()) rmSync(join(DIST, file));
  linkCommand();
  if (modified(BUILD_INFO) !== before) say(`-- build: src is compiled to dist (${elapsed()})`);
}

/** Whether dist holds what the last build wrote; `tsc -b` itself looks at the sources only. */
function isIntact(): boolean {
  const builtAt = modified(BUILD_INFO);
  const files = filesOf(DIST);
  const complete = outputs().every((file) => files.includes(file));
  return complete && leftovers().length === 0 && files.every((file) => modified(join(DIST, file)) <= builtAt);
}

function outputs(): string[] {
  const sources = filesOf(join(ROOT, "src")).filter((file) => file.endsWith(".ts"));
  return sources.flatMap((file) => [".js", ".d.ts"].map((ending) => file.replace(/\.ts$/, ending)));
}

/** What stands in dist and has no source. */
function leftovers(): string[] {
  const known = outputs();
  return filesOf(DIST).filter((file) => !known.includes(file));
}

function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** For `npx pulumi-svc` in the clone: npm links a command only when its file is there as it installs. */
function linkCommand(): void {
  const command = join(DIST, "cli", "main.js");
  const link = join(BIN, "pulumi-svc");
  if (!existsSync(command)) return;
  chmodSync(command, 0o755);
  if (existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(relative(BIN, command), link);
}
