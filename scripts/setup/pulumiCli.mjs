import { rmSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../lib/errors.mjs";
import { onInterrupt } from "../lib/interrupt.mjs";
import { say, stopwatch } from "../lib/log.mjs";
import { pulumiHome } from "../lib/paths.mjs";
import { download } from "./pulumi/download.mjs";
import { findInVersions, findOnPath, versionOf } from "./pulumi/find.mjs";
import { goBuild } from "./pulumi/goBuild.mjs";
import { addDynamicPlugin, CLI_VERSION, lockFolder, moveIntoPlace, workFolder } from "./pulumi/place.mjs";
import { withLock } from "./lock.mjs";

/** @typedef {import("./pulumi/find.mjs").Cli} Cli */

/** How a file system says that a folder takes nothing more. */
const UNWRITABLE = ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"];

/**
 * Finds the Pulumi CLI or gets it: on PATH, in Pulumi's versions folder, by the official download, by a build from Go modules.
 * @param {string} node the Node to download with
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Cli>}
 */
export async function ensurePulumiCli(node, env) {
  const { cli, refused } = await findOnPath(env);
  if (cli) return cli;
  const home = pulumiHome(env);
  try {
    return (await findInVersions(home, env)) ?? (await getInto(home, node, env, refused));
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === undefined || !UNWRITABLE.includes(code)) throw error;
    throw new SetupError(
      `the Pulumi CLI cannot be put into ${home} (${code})`,
      "Set PULUMI_HOME to a folder that can be written and has 4 GB free, or install the Pulumi CLI yourself.",
    );
  }
}

/**
 * @param {string} home
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} refused
 * @returns {Promise<Cli>}
 */
async function getInto(home, node, env, refused) {
  say(`-- Pulumi CLI ${CLI_VERSION}: not on this machine yet; getting it into ${join(home, "versions", CLI_VERSION)}`);
  for (const reason of refused) say(`   not used: ${reason}`);
  const elapsed = stopwatch();
  const got = await withLock(lockFolder(home), async () => {
    const meanwhile = await findInVersions(home, env);
    return meanwhile ?? (await install(home, node, env, refused));
  });
  say(`   Pulumi CLI ${got.version} is ready (${elapsed()})`);
  return got;
}

/**
 * @param {string} home
 * @param {string} node
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} refused
 * @returns {Promise<Cli>}
 */
async function install(home, node, env, refused) {
  const work = workFolder(home);
  const removeWork = () => rmSync(work, { recursive: true, force: true });
  const forget = onInterrupt(removeWork);
  try {
    const failures = [...refused];
    for (const get of [() => download(work, node, env), () => goBuild(work, env)]) {
      const failure = (await get()) ?? (await accept(work, home, env));
      if (failure === undefined) {
        const cli = await findInVersions(home, env);
        if (cli) return cli;
      }
      const reason = failure ?? "what was put in place does not start";
      say(`   that did not work: ${reason}`);
      failures.push(reason);
    }
    throw new SetupError(
      `there is no Pulumi CLI, and it could not be got:\n${failures.map((failure) => `  - ${failure}`).join("\n")}`,
      "Install the Pulumi CLI 3.216 or newer (https://www.pulumi.com/docs/install/), or Go 1.25 or newer, and run this again.",
    );
  } finally {
    forget();
    removeWork();
  }
}

/**
 * Puts the programs in place when they start on this machine.
 * @param {string} work
 * @param {string} home
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string | undefined>}
 */
async function accept(work, home, env) {
  const bin = join(work, "bin");
  const version = await versionOf(join(bin, "pulumi"), env);
  if (version !== `v${CLI_VERSION}`) return `it does not start on this machine (${version ?? "no version"})`;
  addDynamicPlugin(bin);
  moveIntoPlace(bin, home);
  return undefined;
}
