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
  const cwd = join(stack.folder, folder);
  const start = (given: NodeJS.ProcessEnv): Promise<Ended> =>
    new Promise((resolve) => {
      const child = execFile(process.execPath, command, { cwd, env: given }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });
  const all = { ...stack.env, ...env };
  const given = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  // In another folder another package may be found.
  const isOwn = folder !== "program";
  const { ended, written } = isOwn
    ? { ended: await start(given), written: "" }
    : await stack.withProvider(given, start);
  stack.said += written;
  stack.said += ended.stdout + ended.stderr;
  return ended;
}

/** The report of `pulumi-svc drift --format json`. */
export async function drift(stack: Stack, ...args: string[]): Promise<{ code: number; report: Report }> {
  const { code, stdout } = await svc(stack, ["drift", "--format", "json", ...args]);
  // The command's JSON output.
  return { code, report: JSON.parse(stdout) as Report };
}
