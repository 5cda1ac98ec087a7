import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { run } from "../lib/exec.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { BIN, CACHE, NODE_MODULES } from "../lib/paths.mjs";
import { ownNode } from "./npm.mjs";
import { isAtLeast, parseVersion } from "./version.mjs";

/** What @pulumi/pulumi asks for since 3.249. */
const LEAST = /** @type {import("./version.mjs").Version} */ ([22, 0, 0]);

/**
 * Finds a Node that the Pulumi SDK supports: the one of the npm package `node`, else the one that runs us.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} its path
 */
export async function ensureNode(env) {
  const packaged = join(BIN, "node");
  if (await runs(packaged, env)) return packaged;
  const elapsed = stopwatch();
  say(
    "-- Node: the npm package `node` is not complete (was its install script blocked?); completing it (half a minute)",
  );
  const output = await complete(packaged, env);
  if (await runs(packaged, env)) {
    say(`   Node is ready (${elapsed()})`);
    return packaged;
  }
  rmSync(packaged, { force: true });
  const own = parseVersion(process.version);
  if (own && isAtLeast(own, LEAST) && existsSync(process.execPath)) {
    say(`   that did not work; going on with Node ${process.version}, which runs this`);
    return linkAlone(process.execPath);
  }
  throw new SetupError(
    `the Pulumi SDK needs Node 22 or newer, this is ${process.version}, and the npm package \`node\` could not be completed:\n${output.trimEnd()}`,
    "Check that npm reaches its registry, or install Node 22 or newer, and run this again.",
  );
}

/**
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 */
async function runs(node, env) {
  if (!existsSync(node)) return false;
  const { code, stdout } = await run(node, ["--version"], { env, timeoutMs: 30_000 });
  const version = code === 0 ? parseVersion(stdout) : undefined;
  return version !== undefined && isAtLeast(version, LEAST);
}

/**
 * Does what the package's own install script does: it installs the package of this kind of machine and links its program.
 * @param {string} link
 * @param {NodeJS.ProcessEnv} env
 */
async function complete(link, env) {
  const folder = join(NODE_MODULES, "node");
  const { output } = await run(ownNode(), ["installArchSpecificPackage"], { cwd: folder, env });
  if (!existsSync(link)) {
    rmSync(link, { force: true });
    symlinkSync(join("..", "node", "bin", "node"), link);
  }
  return output;
}

/**
 * A link to the program in a folder of its own. That folder can go first on PATH: beside the program itself there may
 * be anything, an old `pulumi` too.
 * @param {string} program
 */
function linkAlone(program) {
  const folder = join(CACHE, "node");
  const link = join(folder, "node");
  const half = `${link}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  symlinkSync(program, half);
  renameSync(half, link);
  return link;
}

/**
 * The environment for what we start: our Node and the installed commands first, then the CLI, then what the user has.
 * @param {NodeJS.ProcessEnv} env
 * @param {string} node
 * @param {string} [cliDir]
 * @returns {NodeJS.ProcessEnv}
 */
export function childEnv(env, node, cliDir) {
  const first = [...new Set([dirname(node), BIN, ...(cliDir ? [cliDir] : [])])];
  const rest = (env.PATH ?? "").split(delimiter).filter((folder) => !first.includes(folder));
  return { ...env, PATH: [...first, ...rest].join(delimiter) };
}
