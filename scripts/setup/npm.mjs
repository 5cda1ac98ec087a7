import { existsSync } from "node:fs";
import { basename } from "node:path";
import { run } from "../lib/exec.mjs";

/**
 * A Node to run npm with. Ours may be the one in node_modules, which `npm ci` deletes; npm tells which Node runs it.
 * @returns {string}
 */
export function ownNode() {
  const candidates = [process.env.npm_node_execpath, process.execPath];
  return candidates.find((node) => node !== undefined && existsSync(node)) ?? "node";
}

/**
 * Runs npm: the one that runs us where that is so (`npm test`), else the one on PATH.
 * @param {string[]} args
 * @param {import("../lib/exec.mjs").RunOptions} options
 */
export function npm(args, options) {
  const cli = process.env.npm_execpath;
  if (cli && basename(cli) === "npm-cli.js") return run(ownNode(), [cli, ...args], options);
  return run("npm", args, options);
}
