import { run } from "../lib/exec.mjs";
import { NODE } from "../lib/paths.mjs";

/** @param {string[]} args */
export async function bench(args) {
  const program = ["-r", "ts-node/register/transpile-only", "bench/main.ts"];
  return (await run(NODE, [...program, ...args], { inherit: true })).code;
}
