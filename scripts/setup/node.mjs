import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { NODE, NODE_MODULES } from "../lib/paths.mjs";
import { ownNode } from "./npm.mjs";

/** Makes sure that NODE runs what follows: it is that of the npm package `node`, else the one that runs us. */
export function ensureNode() {
  if (isSuitable()) return;
  const elapsed = stopwatch();
  say(
    "-- Node: the npm package `node` is not complete (was its install script blocked?); completing it (half a minute)",
  );
  // What the package's own install script does: it installs the package of this kind of machine and links its program.
  const folder = join(NODE_MODULES, "node");
  spawnSync(ownNode(), ["installArchSpecificPackage"], { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  link(join("..", "node", "bin", "node"));
  if (isSuitable()) return say(`   Node is ready (${elapsed()})`);
  link(process.execPath);
  if (isSuitable()) return say(`   that failed; going on with Node ${process.version}, which runs this`);
  rmSync(NODE, { force: true });
  throw new SetupError(
    `Node 22.18 or newer is needed, this is ${process.version}, and the npm package \`node\` could not be completed`,
    "Check that npm reaches its registry, or install Node 22.18 or newer, and run this again.",
  );
}

/** The Pulumi SDK asks for Node 22 since 3.249; since 22.18 it runs TypeScript, which these scripts are. */
function isSuitable() {
  const { status, stdout } = spawnSync(NODE, ["--version"], { encoding: "utf8" });
  const [major, minor] = status === 0 ? stdout.slice(1).split(".").map(Number) : [0, 0];
  return major > 22 || (major === 22 && minor >= 18);
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
