import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone's root folder. `PULUMI_SVC_ROOT` lets the tests of these scripts point them at a folder of their own. */
export const ROOT = process.env.PULUMI_SVC_ROOT ?? dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const NODE_MODULES = join(ROOT, "node_modules");

/** The commands of the installed packages. */
export const BIN = join(NODE_MODULES, ".bin");

/** The Node that everything runs with after the set-up: that of the npm package `node`, or what setup/node.mjs linked here. */
export const NODE = join(BIN, "node");

/** Pulumi's own folder; in its `versions` the CLI stands for all clones of a user. */
export const PULUMI_HOME = process.env.PULUMI_HOME || join(process.env.HOME || homedir(), ".pulumi");
