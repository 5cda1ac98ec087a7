import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SetupError } from "../lib/errors.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { NODE_MODULES, ROOT } from "../lib/paths.mjs";
import { npm } from "./npm.mjs";

/** @typedef {Record<string, unknown> & { packages?: Record<string, Record<string, unknown>> }} Json */

/** Runs `npm ci` when node_modules is not what package-lock.json says. */
export function ensureDependencies() {
  const reason = staleness();
  if (!reason) return;
  say(`-- dependencies: ${reason}; running npm ci (about a minute)`);
  const elapsed = stopwatch();
  // --include=dev: the build and the tests need them, even where NODE_ENV says production.
  const ci = npm("ci", "--include=dev", "--no-audit", "--no-fund");
  const { status, signal, error } = spawnSync(...ci, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) {
    throw new SetupError(
      `npm ci ended with ${status ?? signal ?? error?.message}; its output is above`,
      "Check that npm reaches its registry. If npm says that package.json and package-lock.json are not in sync, run npm install.",
    );
  }
  const still = staleness();
  if (still) throw new SetupError(`after npm ci ${still}`, "Delete node_modules and run this again.");
  say(`   dependencies are installed (${elapsed()})`);
}

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
 * @param {Json} manifest package.json
 * @param {Json} lock package-lock.json
 * @param {Json | undefined} installed node_modules/.package-lock.json
 * @returns {string | undefined} why the dependencies have to be installed
 */
export function whyStale(manifest, { packages: wanted = {} }, installed) {
  if (!installed?.packages) return "nothing is installed yet";
  for (const field of ["dependencies", "devDependencies", "workspaces"]) {
    if (!isDeepStrictEqual(manifest[field], wanted[""]?.[field])) return `${field} of package.json changed`;
  }
  for (const [path, entry] of Object.entries(wanted)) {
    const present = installed.packages[path];
    // What is optional is left out on another kind of machine.
    if (path === "" || (!present && entry.optional)) continue;
    if (!present) return `${path} is missing`;
    const differs = ["version", "integrity", "link"].some((field) => present[field] !== entry[field]);
    if (differs) return `${path} is another version`;
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Json | undefined}
 */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
