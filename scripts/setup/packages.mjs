import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { say, SetupError, stopwatch } from "../lib/console.mjs";
import { NODE, NODE_MODULES, ROOT } from "../lib/paths.mjs";

/** @typedef {Record<string, unknown> & { packages?: Record<string, Record<string, unknown>> }} Json */

/** Runs `npm ci` if node_modules does not match package-lock.json. */
export function ensureDependencies() {
  const reason = staleness();
  if (!reason) return;
  say(`-- dependencies: ${reason}; running npm ci (about a minute)`);
  const elapsed = stopwatch();
  // --include=dev: the build and the tests need them, even if NODE_ENV is production.
  // Hides npm's warnings: on Node 20, over a hundred lines name packages that need a newer Node, which is one of the
  // dependencies.
  const { status, signal, error } = runNpm("ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error");
  if (status !== 0) {
    throw new SetupError(
      `npm ci ended with ${status ?? signal ?? error?.message}; its output is above`,
      "Check that npm reaches its registry. If npm says that package.json and package-lock.json are not in sync, run npm install.",
    );
  }
  say(`   dependencies are installed (${elapsed()})`);
}

/**
 * npm records the installation in `node_modules/.package-lock.json`; it is written last, so a broken installation lacks
 * it.
 */
function staleness() {
  const manifest = readJson(join(ROOT, "package.json"));
  const wanted = readJson(join(ROOT, "package-lock.json"))?.packages;
  if (!manifest || !wanted) {
    throw new SetupError(`there is no package.json or package-lock.json in ${ROOT}`, "Run this in a clone.");
  }
  const installed = readJson(join(NODE_MODULES, ".package-lock.json"))?.packages;
  if (!installed) return "nothing is installed yet";
  for (const field of ["dependencies", "devDependencies", "workspaces"]) {
    if (!isDeepStrictEqual(manifest[field], wanted[""]?.[field])) return `${field} of package.json changed`;
  }
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    const present = installed[path];
    // Optional packages are left out on other kinds of machines.
    if (path === "" || (!present && optional)) continue;
    const isSame = present?.version === version && present?.integrity === integrity;
    if (!present || !isSame) return `${path} is missing or another version`;
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Json | undefined}
 */
function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/**
 * Makes NODE usable for everything that follows: the Node of the npm package `node`, otherwise the one that runs this
 * script.
 */
export function ensureNode() {
  if (isSuitable(NODE)) return;
  say("-- Node: the npm package `node` is not complete (was its install script blocked?); completing it");
  runNpm("rebuild", "node", "--ignore-scripts=false", "--foreground-scripts");
  if (isSuitable(NODE)) return;
  if (!isSuitable(process.execPath)) {
    throw new SetupError(
      `Node 22.18 or newer is needed, this is ${process.version}, and the npm package \`node\` could not be completed`,
      "Check that npm reaches its registry, or install Node 22.18 or newer, and run this again.",
    );
  }
  // A link instead of its folder on PATH, which may contain another Pulumi CLI.
  rmSync(NODE, { force: true });
  symlinkSync(process.execPath, NODE);
  say(`   that failed; continuing with Node ${process.version}`);
}

/** The Pulumi SDK asks for Node 22 since 3.249; since 22.18 it runs TypeScript, which these scripts are. @param {string} node */
function isSuitable(node) {
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  const [major, minor] = status === 0 ? stdout.slice(1).split(".").map(Number) : [0, 0];
  return major > 22 || (major === 22 && minor >= 18);
}

/** @param {string[]} args */
function runNpm(...args) {
  return spawnSync(...npm(...args), { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
}

/**
 * The command line of npm: the npm that runs this script (`npm test`), otherwise the one on PATH. Its Node must not be
 * the one in node_modules, which `npm ci` deletes; npm reports which Node runs it.
 * @param {string[]} args
 * @returns {[command: string, args: string[]]}
 */
export function npm(...args) {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env;
  const isNpm = cli && basename(cli) === "npm-cli.js";
  return isNpm ? [node && existsSync(node) ? node : process.execPath, [cli, ...args]] : ["npm", args];
}
