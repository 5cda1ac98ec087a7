import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NODE_MODULES } from "../../lib/paths.mjs";

/** The version that this project is developed and tested with. */
export const CLI_VERSION = "3.259.0";

export const LANGUAGE_HOST = "pulumi-language-nodejs";
export const DYNAMIC_PLUGIN = "pulumi-resource-pulumi-nodejs";

/**
 * Where the SDK's own `PulumiCommand` looks for this version too.
 * @param {string} home Pulumi's folder
 */
export function versionFolder(home) {
  return join(home, "versions", CLI_VERSION);
}

/** @param {string} home */
export function lockFolder(home) {
  return join(home, "versions", `.${CLI_VERSION}.lock`);
}

/**
 * A fresh folder to work in, beside the place where the result will stand: a rename works only within one file system.
 * The caller holds the lock, so what older runs left there is nobody's.
 * @param {string} home
 */
export function workFolder(home) {
  const versions = join(home, "versions");
  for (const name of readdirSync(versions)) {
    if (name.startsWith(`.${CLI_VERSION}-work-`)) rmSync(join(versions, name), { recursive: true, force: true });
  }
  const folder = join(versions, `.${CLI_VERSION}-work-${process.pid}`);
  mkdirSync(join(folder, "bin"), { recursive: true });
  return folder;
}

/**
 * The dynamic-resource plugin is a script that comes with the SDK; the official archive holds it, a Go build does not.
 * @param {string} bin
 */
export function addDynamicPlugin(bin) {
  const target = join(bin, DYNAMIC_PLUGIN);
  if (existsSync(target)) return;
  const half = `${target}.${process.pid}`;
  copyFileSync(join(NODE_MODULES, "@pulumi", "pulumi", DYNAMIC_PLUGIN), half);
  chmodSync(half, 0o755);
  renameSync(half, target);
}

/**
 * Moves a finished `bin` to its place. What stands there was found wanting, so it goes.
 * @param {string} bin
 * @param {string} home
 */
export function moveIntoPlace(bin, home) {
  const folder = versionFolder(home);
  const target = join(folder, "bin");
  mkdirSync(folder, { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(bin, target);
}
