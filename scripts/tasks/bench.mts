import { run } from "../lib/exec.mts";
import { NODE } from "../lib/paths.mjs";

export async function bench(args: string[]): Promise<number> {
  const program = ["-r", "ts-node/register/transpile-only", "bench/main.ts"];
  return (await run(NODE, [...program, ...args], { inherit: true })).code;
}
