import { execFile } from "node:child_process";
import { join } from "node:path";
import type { Report } from "../../src/cli/drift/report";
import { ROOT } from "./cli";
import type { Stack } from "./Stack";

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `pulumi-svc` as it is built, in a folder of the stack: that of its program, unless another one is named. */
export async function svc(
  stack: Stack,
  args: readonly string[],
  { env = {}, folder = "program" }: { env?: NodeJS.ProcessEnv; folder?: string } = {},
): Promise<Ended> {
  const command = [join(ROOT, "dist", "cli", "main.js"), ...args];
  const options = { cwd: join(stack.folder, folder), env: { ...stack.env, ...env } };
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, command, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
  stack.said += ended.stdout + ended.stderr;
  return ended;
}

/** The report of `pulumi-svc drift --format json`. */
export async function drift(stack: Stack, ...args: string[]): Promise<{ code: number; report: Report }> {
  const { code, stdout } = await svc(stack, ["drift", "--format", "json", ...args]);
  // The command's JSON output.
  return { code, report: JSON.parse(stdout) as Report };
}
