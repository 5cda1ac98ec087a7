import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone's root folder. The tests of these scripts set `PULUMI_SVC_ROOT` to use another folder. */
export const ROOT = process.env.PULUMI_SVC_ROOT ?? dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const NODE_MODULES = join(ROOT, "node_modules");

/** Of the build and the check of types: several times as fast as the one that ESLint and ts-jest need. */
export const TYPESCRIPT = "typescript-7";

/** The commands of the installed packages. */
export const BIN = join(NODE_MODULES, ".bin");

/**
 * The Node that runs everything after the set-up: the npm package `node`, or the one that setup/node.mjs linked here.
 */
export const NODE = join(BIN, "node");

/** Pulumi's own folder; its `versions` contain the CLI for all clones of a user. */
export const PULUMI_HOME = process.env.PULUMI_HOME || join(process.env.HOME || homedir(), ".pulumi");
