import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SetupError } from "../lib/errors.mjs";
import { progress, say, stopwatch } from "../lib/log.mjs";
import { NODE_MODULES, ROOT } from "../lib/paths.mjs";
import { npm } from "./npm.mjs";

/**
 * @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean } & Record<string, unknown>} LockEntry
 * @typedef {{ packages?: Record<string, LockEntry> }} Lock
 */

/** Runs `npm ci` when node_modules is not what package-lock.json says. */
export async function ensureDependencies() {
  const reason = staleness();
  if (!reason) return;
  say(`-- dependencies: ${reason}; running npm ci (about a minute)`);
  const elapsed = stopwatch();
  const stop = progress((time) => `npm ci still runs, ${time}`);
  // --include=dev: what the tests and the build need is wanted even where NODE_ENV says production.
  const { code, output } = await npm(["ci", "--include=dev", "--no-audit", "--no-fund"], { cwd: ROOT });
  stop();
  if (code !== 0) {
    throw new SetupError(
      `npm ci ended with ${code}:\n${output.trimEnd()}`,
      "Check that npm reaches its registry. If npm says that package.json and package-lock.json are not in sync, run npm install.",
    );
  }
  const still = staleness();
  if (still) throw new SetupError(`after npm ci ${still}`, "Delete node_modules and run this again.");
  say(`   dependencies are installed (${elapsed()})`);
}

/** @returns {string | undefined} why the dependencies have to be installed */
function staleness() {
  const manifest = readJson(join(ROOT, "package.json"));
  const lock = readJson(join(ROOT, "package-lock.json"));
  if (!manifest || !lock) {
    throw new SetupError(`there is no package.json or package-lock.json in ${ROOT}`, "Run this in a clone.");
  }
  return whyStale(manifest, lock, readJson(join(NODE_MODULES, ".package-lock.json")));
}

/**
 * npm keeps what it has installed in `node_modules/.package-lock.json`; it is written last, so a broken install has none.
 * @public for the tests
 * @param {Record<string, unknown>} manifest package.json
 * @param {Lock} lock package-lock.json
 * @param {Lock | undefined} installed node_modules/.package-lock.json
 * @returns {string | undefined}
 */
export function whyStale(manifest, lock, installed) {
  if (!installed?.packages) return "nothing is installed yet";
  const wanted = lock.packages ?? {};
  for (const field of ["dependencies", "devDependencies", "workspaces"]) {
    if (!isDeepStrictEqual(manifest[field], wanted[""]?.[field])) return `${field} of package.json changed`;
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === "") continue;
    const present = installed.packages[path];
    // What is optional is left out on another kind of machine.
    if (!present && entry.optional) continue;
    if (!present) return `${path} is missing`;
    if (present.version !== entry.version || present.integrity !== entry.integrity || present.link !== entry.link) {
      return `${path} is another version`;
    }
  }
  return undefined;
}

/** @param {string} file */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
