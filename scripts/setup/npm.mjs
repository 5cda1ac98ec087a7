import { existsSync } from "node:fs";
import { basename } from "node:path";

/** A Node to run npm with. Ours may be the one in node_modules, which `npm ci` deletes; npm tells which Node runs it. */
export function ownNode() {
  const candidates = [process.env.npm_node_execpath, process.execPath];
  return candidates.find((node) => node !== undefined && existsSync(node)) ?? "node";
}

/**
 * The command line of npm: the npm that runs us (`npm test`), else the one on PATH.
 * @param {string[]} args
 * @returns {[command: string, args: string[]]}
 */
export function npm(...args) {
  const cli = process.env.npm_execpath;
  return cli && basename(cli) === "npm-cli.js" ? [ownNode(), [cli, ...args]] : ["npm", args];
}
