import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { say, SetupError, stopwatch } from "../lib/console.mjs";
import { BIN, NODE, NODE_MODULES, ROOT, TYPESCRIPT } from "../lib/paths.mjs";
import { run } from "../lib/processes.mts";

const DIST = join(ROOT, "dist");
/**
 * Also named by tsconfig.build.json. It is in dist, so that a deleted dist is rebuilt completely; package.json excludes
 * it.
 */
const BUILD_INFO = join(DIST, ".tsbuildinfo");
const COMMAND = join(DIST, "cli", "main.js");
const SOURCES = join(ROOT, "src");
/** Files for the browser (the emulator's page), copied to dist unchanged. */
const ASSETS = "**/*.{css,mjs}";

/** Updates dist/ with `tsc -b`, which compiles what has changed since the last build. */
export async function ensureBuild(): Promise<void> {
  const elapsed = stopwatch();
  const before = modified(BUILD_INFO);
  const tsc = join(NODE_MODULES, TYPESCRIPT, "bin", "tsc");
  const { code, output } = await run(NODE, [tsc, "-b", "tsconfig.build.json"]);
  if (code !== 0) {
    throw new SetupError(`the build failed:\n${output.trimEnd()}`, "Correct the sources and run this again.");
  }
  for (const file of globSync("**/*.{js,js.map,d.ts}", { cwd: DIST })) {
    const source = join(ROOT, "src", file.replace(/\.(js|d\.ts)$/, ".ts"));
    if (!existsSync(source)) rmSync(join(DIST, file));
    else if (file.endsWith(".d.ts")) forOldCompilers(join(DIST, file));
  }
  for (const file of globSync(ASSETS, { cwd: DIST })) if (!existsSync(join(SOURCES, file))) rmSync(join(DIST, file));
  for (const file of globSync(ASSETS, { cwd: SOURCES })) {
    mkdirSync(dirname(join(DIST, file)), { recursive: true });
    copyFileSync(join(SOURCES, file), join(DIST, file));
  }
  if (existsSync(COMMAND)) linkCommand();
  if (modified(BUILD_INFO) !== before) say(`-- build: src is compiled to dist (${elapsed()})`);
}

/**
 * Writes `import { a, type B }` as two statements. The compiler bundled with the Pulumi SDK, for programs without their
 * own, is TypeScript 3.8.3. It can read all other declarations of the package (test/program/oldCompiler.test.ts).
 */
function forOldCompilers(file: string): void {
  const text = readFileSync(file, "utf8");
  const written = text.replace(
    /^(import|export) \{([^}]*\btype [^}]*)\}(.*)$/gm,
    (_, keyword: string, list: string, from: string) => {
      const names = list.split(",").map((name) => name.trim());
      const values = names.filter((name) => name !== "" && !name.startsWith("type "));
      const types = names.filter((name) => name.startsWith("type ")).map((name) => name.slice("type ".length));
      const ofTypes = `${keyword} type { ${types.join(", ")} }${from}`;
      return values.length === 0 ? ofTypes : `${keyword} { ${values.join(", ")} }${from}\n${ofTypes}`;
    },
  );
  if (written !== text) writeFileSync(file, written);
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** For `npx pulumi-svc` in the clone: npm links a command only if its file exists during installation. */
function linkCommand(): void {
  chmodSync(COMMAND, 0o755);
  const link = join(BIN, "pulumi-svc");
  if (existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(relative(BIN, COMMAND), link);
}
