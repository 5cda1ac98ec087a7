import { SetupError } from "../lib/errors.mjs";
import { say } from "../lib/log.mjs";
import { ROOT } from "../lib/paths.mjs";
import { directLoopback } from "../lib/proxies.mjs";
import { ensureBuild } from "./build.mjs";
import { ensureDependencies } from "./dependencies.mjs";
import { childEnv, ensureNode } from "./node.mjs";
import { ensurePulumiCli } from "./pulumiCli.mjs";
import { isAtLeast, parseVersion } from "./version.mjs";

/**
 * What a task works with once the set-up is done.
 * @typedef {object} Toolchain
 * @property {string} root
 * @property {string} node The path of a Node that the SDK supports.
 * @property {import("./pulumi/find.mjs").Cli} [cli] Where the task asked for it.
 * @property {NodeJS.ProcessEnv} env For child processes: our tools first on PATH.
 */

/**
 * Gets everything that a task needs. What is there already costs a look and no word.
 * @param {{ cli?: boolean, build?: boolean }} needs
 * @returns {Promise<Toolchain>}
 */
export async function setUp({ cli: needsCli = false, build = false }) {
  refuseUnsuitable();
  // For what we ask ourselves too, where NODE_USE_ENV_PROXY is set.
  Object.assign(process.env, directLoopback(process.env));
  await ensureDependencies();
  const node = await ensureNode(process.env);
  const cli = needsCli ? await ensurePulumiCli(node, process.env) : undefined;
  const env = childEnv(process.env, node, cli?.dir);
  if (build) await ensureBuild(node, env);
  say(`-- ready${cli ? `: Pulumi CLI ${cli.version} in ${cli.dir}` : ""}`);
  return { root: ROOT, node, env, ...(cli ? { cli } : {}) };
}

function refuseUnsuitable() {
  if (process.platform === "win32") {
    throw new SetupError("these scripts run on Linux and macOS", "On Windows use WSL.");
  }
  const own = parseVersion(process.version);
  if (!own || !isAtLeast(own, [20, 0, 0])) {
    throw new SetupError(`this is Node ${process.version}, too old to set anything up`, "Install Node 20 or newer.");
  }
}
