import { join } from "node:path";
import type { Report } from "../../src/cli/drift/report";
import { type Ended, runCommand, runProcess } from "./command";
import type { Stack } from "./Stack";

export type { Ended };

/** `pulumi-svc` as it is built, in a folder of the stack: that of its program, unless another one is named. */
export async function svc(
  stack: Stack,
  args: readonly string[],
  { env = {}, folder = "program" }: { env?: NodeJS.ProcessEnv; folder?: string } = {},
): Promise<Ended> {
  const cwd = join(stack.folder, folder);
  const all = { ...stack.env, ...env };
  const given = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const run = stack.ownProcess ? runProcess : runCommand;
  const start = (served: NodeJS.ProcessEnv): Promise<Ended> => run({ args, cwd, env: served });
  // In another folder another package may be found.
  const isOwn = folder !== "program";
  const { ended, written } = isOwn ? { ended: await start(given), written: "" } : await stack.served(given, start);
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
