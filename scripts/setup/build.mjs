import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { run } from "../lib/exec.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { BIN, CACHE, NODE_MODULES, ROOT } from "../lib/paths.mjs";

const DIST = join(ROOT, "dist");
const STAMP = join(CACHE, "build.json");

/**
 * Builds dist/ when the sources, the compiler or dist/ itself are not those of the last build.
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
export async function ensureBuild(node, env) {
  const sources = fingerprint(["src", "tsconfig.json", "tsconfig.build.json", "package-lock.json"]);
  const stamp = { sources, dist: fingerprint(["dist"]) };
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === JSON.stringify(stamp)) return linkCommand();

  say("-- build: compiling src to dist (about 10 seconds)");
  const elapsed = stopwatch();
  const result = await compile(node, env);
  if (result.code !== 0) {
    throw new SetupError(`the build failed:\n${result.output.trimEnd()}`, "Correct the sources and run this again.");
  }
  writeFileSync(STAMP, JSON.stringify({ sources, dist: fingerprint(["dist"]) }));
  linkCommand();
  say(`   dist is built (${elapsed()})`);
}

/** For `npx pulumi-svc` in the clone: npm links a command only when its file is there as it installs. */
function linkCommand() {
  const link = join(BIN, "pulumi-svc");
  const command = join(DIST, "cli", "main.js");
  if (existsSync(link) || !existsSync(command)) return;
  mkdirSync(BIN, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(relative(BIN, command), link);
}

/**
 * Compiles into a folder beside, which then takes the place of dist: nobody finds half a build, and no file stays that has no source.
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
async function compile(node, env) {
  const fresh = join(CACHE, `dist-${process.pid}`);
  const old = `${fresh}-old`;
  mkdirSync(CACHE, { recursive: true });
  try {
    const tsc = join(NODE_MODULES, "typescript", "bin", "tsc");
    const result = await run(node, [tsc, "-p", "tsconfig.build.json", "--outDir", fresh], { cwd: ROOT, env });
    if (result.code !== 0) return result;
    const cli = join(fresh, "cli", "main.js");
    if (existsSync(cli)) chmodSync(cli, 0o755);
    if (existsSync(DIST)) renameSync(DIST, old);
    renameSync(fresh, DIST);
    return result;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} names files and folders below the root
 * @returns {string} a hash of their names and contents
 */
function fingerprint(names) {
  const hash = createHash("sha256");
  for (const name of names) {
    for (const file of filesBelow(join(ROOT, name))) {
      const content = readFileSync(file);
      hash.update(`${relative(ROOT, file)}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesBelow(path) {
  if (!existsSync(path)) return [];
  try {
    const names = /** @type {string[]} */ (readdirSync(path, { recursive: true }));
    return names
      .map((name) => join(path, name))
      .filter((file) => statSync(file).isFile())
      .sort();
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOTDIR") return [path];
    throw error;
  }
}
