import { spawn } from "node:child_process";
import { once } from "node:events";
import { EXIT } from "../lib/console.mjs";
import { NODE, ROOT } from "../lib/paths.mjs";

/**
 * Runs the suite in test/live. A signal reaches it through the process group, and it removes what it has made then: so
 * nothing here ends it, but a second signal ends everything.
 */
export async function live(args: string[]): Promise<number> {
  const program = ["-r", "ts-node/register/transpile-only", "test/live/main.ts"];
  const child = spawn(NODE, [...program, ...args], { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : EXIT.failed;
}
