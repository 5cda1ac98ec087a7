import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";
import { ownNode } from "./npm.mjs";

/** The Pulumi SDK asks for Node 22 since 3.249. */
const LEAST = 22;

/** @param {string} version such as "v20.20.2" */
export function majorOf(version) {
  return Number(/^v(\d+)/.exec(version)?.[1] ?? 0);
}

/** Makes sure that NODE is a Node that the Pulumi SDK supports: that of the npm package `node`, else the one that runs us. */
export function ensureNode() {
  if (runs()) return;
  const elapsed = stopwatch();
  say(
    "-- Node: the npm package `node` is not complete (was its install script blocked?); completing it (half a minute)",
  );
  // What the package's own install script does: it installs the package of this kind of machine and links its program.
  const stdio = /** @type {const} */ (["ignore", "inherit", "inherit"]);
  spawnSync(ownNode(), ["installArchSpecificPackage"], { cwd: join(NODE_MODULES, "node"), stdio: [...stdio] });
  link(join("..", "node", "bin", "node"));
  if (runs()) return say(`   Node is ready (${elapsed()})`);
  link(process.execPath);
  if (runs()) return say(`   that failed; going on with Node ${process.version}, which runs this`);
  rmSync(NODE, { force: true });
  throw new SetupError(
    `the Pulumi SDK needs Node ${LEAST} or newer, this is ${process.version}, and the npm package \`node\` could not be completed`,
    `Check that npm reaches its registry, or install Node ${LEAST} or newer, and run this again.`,
  );
}

function runs() {
  const { status, stdout } = spawnSync(NODE, ["--version"], { encoding: "utf8" });
  return status === 0 && majorOf(stdout) >= LEAST;
}

/** @param {string} program */
function link(program) {
  rmSync(NODE, { force: true });
  symlinkSync(program, NODE);
}

/**
 * Puts folders first on our own PATH, and so on that of everything we start.
 * @param {string[]} folders
 */
export function putFirstOnPath(...folders) {
  const rest = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folders.includes(folder));
  process.env.PATH = [...folders, ...rest].join(delimiter);
}
