import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone's root folder. `PULUMI_SVC_ROOT` lets the tests of these scripts point them at a folder of their own. */
export const ROOT = process.env.PULUMI_SVC_ROOT ?? dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const NODE_MODULES = join(ROOT, "node_modules");

/** Where the commands of the installed packages stand, the Node of the npm package `node` among them. */
export const BIN = join(NODE_MODULES, ".bin");

/** Kept inside node_modules, so that a fresh install forgets it too. */
export const CACHE = join(NODE_MODULES, ".cache", "pulumi-svc");

/**
 * Pulumi's own folder; `versions/` in it is where the CLI stands for all clones of a user.
 * @param {NodeJS.ProcessEnv} env
 */
export function pulumiHome(env = process.env) {
  return env.PULUMI_HOME || join(env.HOME || homedir(), ".pulumi");
}
