import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { run } from "../../lib/exec.mjs";
import { isAtLeast, parseVersion } from "../version.mjs";
import { addDynamicPlugin, CLI_VERSION, DYNAMIC_PLUGIN, LANGUAGE_HOST, versionFolder } from "./place.mjs";

/**
 * @typedef {object} Cli
 * @property {string} dir The folder to put first on PATH.
 * @property {string} version
 */

/**
 * The first suitable `pulumi` on PATH: 3.216 or newer (older ones lack what `read` needs), below 4, with the programs
 * that run Node programs and dynamic resources beside it or on PATH.
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<{ cli?: Cli, refused: string[] }>}
 */
export async function findOnPath(env) {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const refused = [];
  for (const folder of new Set(folders)) {
    const pulumi = join(folder, "pulumi");
    if (!isExecutable(pulumi)) continue;
    const version = await versionOf(pulumi, env);
    if (!version) {
      refused.push(`${pulumi} does not start`);
      continue;
    }
    if (!isSuitable(version)) {
      refused.push(`${pulumi} is ${version}; 3.216 or newer, below 4, is needed`);
      continue;
    }
    // A package manager may link `pulumi` alone into PATH: its companions then stand beside the link's target.
    const dir = [folder, dirname(realpathSync(pulumi))].find(
      (beside) => missingFrom([beside, ...folders]).length === 0,
    );
    if (dir) return { cli: { dir, version }, refused };
    refused.push(`${pulumi} has no ${missingFrom([folder, ...folders]).join(" and no ")} beside it or on PATH`);
  }
  return { refused };
}

/**
 * The CLI in Pulumi's versions folder, completed by the script that ships with the SDK.
 * @param {string} home
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Cli | undefined>}
 */
export async function findInVersions(home, env) {
  const dir = join(versionFolder(home), "bin");
  const pulumi = join(dir, "pulumi");
  if (!isExecutable(pulumi) || !isExecutable(join(dir, LANGUAGE_HOST))) return undefined;
  const version = await versionOf(pulumi, env);
  if (version !== `v${CLI_VERSION}`) return undefined;
  addDynamicPlugin(dir);
  return { dir, version };
}

/**
 * @param {string} pulumi
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>} such as "v3.259.0"; nothing when it does not start
 */
export async function versionOf(pulumi, env) {
  // The check for updates would go to the network, and the answer is not wanted.
  const quiet = { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const { code, stdout } = await run(pulumi, ["version"], { env: quiet, timeoutMs: 30_000 });
  return code === 0 ? stdout.trim().split("\n").at(-1) : undefined;
}

/** @param {string} text */
function isSuitable(text) {
  const version = parseVersion(text);
  return version !== undefined && version[0] === 3 && isAtLeast(version, [3, 216, 0]);
}

/** @param {string[]} folders */
function missingFrom(folders) {
  return [LANGUAGE_HOST, DYNAMIC_PLUGIN].filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
